/*
 * bench/workload.c: see workload.h. Records are those of full scale: 1.16 GB of keys and texts where it is the
 * disk's and the processor's speed that is measured, a second or two where it is waiting.
 */
#include "bench/workload.h"

#include "bench/hostile.h"
#include "bench/pool.h"
#include "bench/segments.h"

#include <string.h>

#define MILLION UINT64_C(1000000)

/*
 * Who takes part, and how. LMDB and SQLite get the larger transactions that they are fastest with. Ended by an
 * empty row.
 */
static const contender append_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-one", .label = "u9, record by record", .engine = &engine_u9, .batch = 1},
    {.id = "u9-4", .label = "u9, record by record, 4 threads", .engine = &engine_u9, .batch = 1, .threads = 4},
    {.id = "uring", .engine = &floor_uring},
    {.id = "uring-registered", .engine = &floor_uring_registered},
    {.id = "fio", .engine = &floor_fio},
    {.id = "sha256", .engine = &floor_sha256},
    {.id = "rocksdb", .engine = &engine_rocksdb},
    {.id = "rocksdb-usual", .label = "RocksDB, usual", .engine = &engine_rocksdb, .usual = true, .share = 0.3},
    {.id = "leveldb", .engine = &engine_leveldb},
    {.id = "leveldb-usual", .label = "LevelDB, usual", .engine = &engine_leveldb, .usual = true, .share = 0.3},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {.id = "lmdb-100", .label = "LMDB, batches of 100", .engine = &engine_lmdb, .share = 0.3},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 10000, .share = 0.2},
    {.id = "sqlite-usual", .label = "SQLite, usual, batches of 100", .engine = &engine_sqlite, .usual = true, .share = 0.1},
    {.id = "journal", .engine = &engine_journal, .share = 0.02},
    {0}};

static const contender small_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "uring", .engine = &floor_uring},
    {.id = "rocksdb", .engine = &engine_rocksdb, .share = 0.3},
    {.id = "leveldb", .engine = &engine_leveldb, .share = 0.3},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 10000, .share = 0.2},
    {0}};

static const contender bulk_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "uring", .engine = &floor_uring},
    {.id = "uring-registered", .engine = &floor_uring_registered},
    {.id = "rocksdb", .engine = &engine_rocksdb, .share = 0.5},
    {.id = "leveldb", .engine = &engine_leveldb, .share = 0.5},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 1000, .share = 0.5},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 1000, .share = 0.2},
    {0}};

static const contender large_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "uring", .engine = &floor_uring},
    {.id = "rocksdb", .engine = &engine_rocksdb},
    {.id = "leveldb", .engine = &engine_leveldb},
    {.id = "lmdb", .engine = &engine_lmdb},
    {.id = "sqlite", .engine = &engine_sqlite},
    {0}};

static const contender lz4_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "lz4-loop", .engine = &floor_lz4_loop},
    {.id = "lz4", .engine = &floor_lz4},
    {.id = "rocksdb", .label = "RocksDB, LZ4", .engine = &engine_rocksdb, .share = 0.5},
    {.id = "leveldb", .label = "LevelDB, Snappy", .engine = &engine_leveldb, .share = 0.5},
    {0}};

static const contender commit_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "dsync", .engine = &floor_dsync},
    {.id = "dsync-ahead", .engine = &floor_dsync_ahead},
    {.id = "fio", .engine = &floor_fio_dsync},
    {.id = "rocksdb", .engine = &engine_rocksdb},
    {.id = "rocksdb-usual", .label = "RocksDB, usual", .engine = &engine_rocksdb, .usual = true},
    {.id = "leveldb", .engine = &engine_leveldb},
    {.id = "lmdb", .engine = &engine_lmdb},
    {.id = "sqlite", .engine = &engine_sqlite},
    {0}};

static const contender group_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "rocksdb", .engine = &engine_rocksdb},
    {.id = "rocksdb-usual", .label = "RocksDB, usual", .engine = &engine_rocksdb, .usual = true},
    {.id = "leveldb", .engine = &engine_leveldb},
    {.id = "lmdb", .engine = &engine_lmdb},
    {.id = "sqlite", .engine = &engine_sqlite},
    {0}};

static const contender lone_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-none", .label = "u9, policy none", .engine = &engine_u9, .plain = true},
    {.id = "rocksdb", .engine = &engine_rocksdb},
    {.id = "leveldb", .engine = &engine_leveldb},
    {.id = "lmdb", .engine = &engine_lmdb},
    {.id = "sqlite", .engine = &engine_sqlite},
    {0}};

static const contender follow_rows[] = {
    {.id = "u9", .engine = &follow_between},
    {.id = "u9-within", .engine = &follow_within},
    {0}};

static const contender roll_rows[] = {
    {.id = "uring-registered", .engine = &floor_uring_registered, .share = 0.2},
    {.id = "u9", .engine = &engine_u9},
    {0}};

static const contender scan_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-calls", .label = "u9, by read calls", .engine = &engine_u9, .usual = true},
    {.id = "u9-cold", .label = "u9, from the disk", .engine = &engine_u9, .cold = true},
    {.id = "sha256", .engine = &floor_sha256},
    {.id = "rocksdb", .engine = &engine_rocksdb, .batch = 1000, .share = 0.3},
    {.id = "leveldb", .engine = &engine_leveldb, .batch = 1000},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 10000, .share = 0.3},
    {0}};

static const contender again_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-calls", .label = "u9, by read calls", .engine = &engine_u9, .usual = true},
    {.id = "rocksdb", .engine = &engine_rocksdb, .batch = 1000, .share = 0.3},
    {.id = "leveldb", .engine = &engine_leveldb, .batch = 1000},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 10000, .share = 0.3},
    {0}};

static const contender split_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-2", .label = "u9, 2 threads", .engine = &engine_u9, .threads = 2},
    {.id = "mapped", .engine = &floor_file_mapped},
    {.id = "mapped-2", .label = "map and hash, 2 threads", .engine = &floor_file_mapped, .threads = 2},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {0}};

static const contender fsck_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-2", .label = "u9, 2 threads", .engine = &engine_u9, .threads = 2},
    {.id = "u9-calls", .label = "u9, by read calls", .engine = &engine_u9, .usual = true},
    {.id = "u9-cold", .label = "u9, from the disk", .engine = &engine_u9, .cold = true},
    {.id = "kernel", .engine = &floor_file_kernel},
    {.id = "openssl", .engine = &floor_file_openssl},
    {0}};

/* The first segment is sealed, but for what stands in it. */
static const contender hostile_rows[] = {
    {.id = "u9", .label = "as it was", .engine = &engine_u9, .segments = 1},
    {.id = "garbage", .label = "garbage", .engine = &engine_u9, .segments = 1, .spoil = spoil_garbage},
    {.id = "boundaries", .label = "boundaries alone", .engine = &engine_u9, .segments = 1, .spoil = spoil_boundaries},
    {.id = "copies", .label = "copies of its first frames", .engine = &engine_u9, .segments = 1, .spoil = spoil_copies},
    {.id = "claims", .label = "headers that claim all", .engine = &engine_u9, .segments = 1, .spoil = spoil_claims},
    {.id = "flips", .label = "a bit of each payload flipped", .engine = &engine_u9, .segments = 1, .spoil = spoil_flips},
    {.id = "search", .engine = &floor_file_search},
    {0}};

static const contender files_rows[] = {
    {.id = "u9", .label = "there", .engine = &engine_u9, .spoil = files_there},
    {.id = "u9-tenth", .label = "there, a tenth", .engine = &engine_u9, .spoil = files_there, .share = 0.1},
    {.id = "missing", .label = "every second one missing", .engine = &engine_u9, .spoil = files_missing},
    {.id = "missing-tenth", .label = "every second one missing, a tenth", .engine = &engine_u9, .spoil = files_missing, .share = 0.1},
    {.id = "blank", .label = "blank", .engine = &engine_u9, .spoil = files_blank},
    {.id = "blank-tenth", .label = "blank, a tenth", .engine = &engine_u9, .spoil = files_blank, .share = 0.1},
    {.id = "void", .label = "void", .engine = &engine_u9, .spoil = files_void},
    {.id = "void-tenth", .label = "void, a tenth", .engine = &engine_u9, .spoil = files_void, .share = 0.1},
    {.id = "stray", .label = "no segments", .engine = &engine_u9, .spoil = files_stray},
    {.id = "stray-tenth", .label = "no segments, a tenth", .engine = &engine_u9, .spoil = files_stray, .share = 0.1},
    {0}};

static const contender carve_rows[] = {
    {.id = "u9", .label = "garbage", .engine = &engine_u9},
    {.id = "u9-log", .label = "a log in garbage", .engine = &engine_u9, .spoil = spoil_image},
    {0}};

/* As LevelDB and RocksDB have all that was not flushed yet in a log, their rows differ by how much that may be. */
static const contender recover_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-1", .label = "u9, 1 segment", .engine = &engine_u9, .segments = ONE_OPEN},
    {.id = "mapped-2", .label = "map and hash, 2 threads", .engine = &floor_file_mapped, .threads = 2},
    {.id = "rocksdb", .label = "RocksDB, all in memory", .engine = &engine_rocksdb, .batch = 1000, .holds = true, .share = 0.3},
    {.id = "rocksdb-usual", .label = "RocksDB, usual", .engine = &engine_rocksdb, .batch = 1000, .usual = true, .share = 0.3},
    {.id = "leveldb", .label = "LevelDB, all in memory", .engine = &engine_leveldb, .batch = 1000, .holds = true, .share = 0.3},
    {.id = "leveldb-usual", .label = "LevelDB, usual", .engine = &engine_leveldb, .batch = 1000, .usual = true, .share = 0.3},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {0}};

static const contender read_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "rocksdb", .engine = &engine_rocksdb, .batch = 1000},
    {.id = "leveldb", .engine = &engine_leveldb, .batch = 1000},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {.id = "sqlite", .engine = &engine_sqlite, .batch = 10000},
    {0}};

static const contender get_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-calls", .label = "u9, by read calls", .engine = &engine_u9, .usual = true},
    {.id = "u9-1", .label = "u9, 1 segment", .engine = &engine_u9, .segments = 1},
    {.id = "u9-100", .label = "u9, 100 segments", .engine = &engine_u9, .segments = 100},
    {.id = "rocksdb", .engine = &engine_rocksdb, .batch = 1000},
    {.id = "leveldb", .engine = &engine_leveldb, .batch = 1000},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000},
    {0}};

static const contender cold_rows[] = {
    {.id = "u9", .engine = &engine_u9, .cold = true},
    {.id = "rocksdb", .engine = &engine_rocksdb, .batch = 1000, .cold = true},
    {.id = "leveldb", .engine = &engine_leveldb, .batch = 1000, .cold = true},
    {.id = "lmdb", .engine = &engine_lmdb, .batch = 10000, .cold = true},
    {0}};

static const contender hash_rows[] = {
    {.id = "sha256", .engine = &floor_sha256},
    {.id = "lz4", .engine = &floor_lz4},
    {0}};

/* Of logs in a Ceph pool. */
static const contender pool_append_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "rados-aio", .engine = &floor_rados_append},
    {0}};

static const contender pool_commit_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-64", .label = "u9, 64 threads", .engine = &engine_u9, .threads = 64},
    {.id = "rados-write", .engine = &floor_rados_commit},
    {0}};

static const contender pool_scan_rows[] = {
    {.id = "u9", .label = "u9, 2 threads", .engine = &engine_u9, .threads = 2},
    {.id = "u9-1", .engine = &engine_u9},
    {.id = "rados-read", .label = "librados, 1 MiB reads, 2 threads", .engine = &floor_rados_read, .threads = 2},
    {0}};

static const contender pool_get_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "rados-range", .engine = &floor_rados_range},
    {0}};

/* Of logs in S3. */
static const contender bucket_scan_rows[] = {
    {.id = "u9", .engine = &engine_u9},
    {.id = "u9-2", .label = "u9, 2 threads", .engine = &engine_u9, .threads = 2},
    {.id = "curl-read", .engine = &floor_s3_read},
    {0}};

static const contender bucket_get_rows[] = {
    {.id = "u9", .engine = &engine_u9, .cold = true},
    {.id = "curl-range", .engine = &floor_s3_range},
    {0}};

const workload workloads[] = {
    {.name = "append", .title = "Append, 100-byte values",
     .what = "One thread appends in batches of 100 and waits for the disk once, at the end.",
     .records = 10 * MILLION, .value_size = 100, .batch = 100, .contenders = append_rows},
    {.name = "small", .title = "Append, 16-byte values",
     .what = "As append, with values as small as the keys.",
     .records = 10 * MILLION, .value_size = 16, .batch = 100, .contenders = small_rows},
    {.name = "append-1k", .title = "Append, 1 KiB values",
     .what = "As append, with values of 1 KiB.",
     .records = 1100000, .value_size = 1024, .batch = 100, .contenders = bulk_rows},
    {.name = "append-16k", .title = "Append, 16 KiB values",
     .what = "As append, with values of 16 KiB.",
     .records = 70000, .value_size = 16384, .batch = 100, .contenders = bulk_rows},
    {.name = "large", .title = "Append, 1 MiB values",
     .what = "One thread appends record by record.",
     .records = 1100, .value_size = 1 << 20, .batch = 1, .contenders = large_rows},
    {.name = "mixed", .title = "Append, mixed values",
     .what = "As append, with values of 20 bytes to 20 KiB, each octave as often as the next.",
     .records = 350000, .value_size = MIXED, .batch = 100, .contenders = bulk_rows},
    {.name = "lz4", .title = "Append, compressed",
     .what = "As append; who can compress does.",
     .records = 10 * MILLION, .value_size = 100, .batch = 100, .compressed = true,
     .contenders = lz4_rows},
    {.name = "commit", .title = "Commit each record, 1 thread",
     .what = "100-byte values; one thread waits for each record until it is durable.",
     .records = 15000, .value_size = 100, .batch = 1, .durable = true, .seconds_max = 1,
     .shown = M_RECORDS, .has_latency = true, .contenders = commit_rows},
    {.name = "commit-8", .title = "Commit each record, 8 threads",
     .what = "The same, 8 threads at once.",
     .records = 60000, .value_size = 100, .threads = 8, .batch = 1, .durable = true,
     .seconds_max = 1, .shown = M_RECORDS, .has_latency = true, .contenders = group_rows},
    {.name = "commit-64", .title = "Commit each record, 64 threads",
     .what = "The same, 64 threads at once.",
     .records = 250000, .value_size = 100, .threads = 64, .batch = 1, .durable = true,
     .seconds_max = 1, .shown = M_RECORDS, .has_latency = true, .contenders = group_rows},
    {.name = "batch", .title = "Commit batches of 100, 1 thread",
     .what = "100-byte values; one thread waits for each batch of 100 until it is durable.",
     .records = MILLION, .value_size = 100, .batch = 100, .durable = true, .seconds_max = 1,
     .shown = M_RECORDS, .has_latency = true, .contenders = group_rows},
    {.name = "lone", .title = "What a lone commit costs on disk",
     .what = "1,000 records of 100 bytes, each committed alone: bytes on disk for each, after close.",
     .records = 1000, .value_size = 100, .batch = 1, .durable = true, .seconds_max = 2,
     .shown = M_DISK_RECORD, .contenders = lone_rows},
    {.name = "follow", .title = "From a commit to who follows",
     .what = "3,000 records of 100 bytes, each committed alone; from the return of the commit until a cursor that waits "
             "for it has handed it out.",
     .records = 3000, .value_size = 100, .batch = 1, .durable = true, .shown = M_P50, .has_latency = true,
     .contenders = follow_rows},
    {.name = "rolls", .title = "Appends near 100 rolls",
     .what = "100-byte values in batches of 100, each due at its time, at half the rate of raw io_uring; "
             "segments of a hundredth of it all. Latencies are those of calls due within 100 ms of a "
             "roll, from when they were due.",
     .deed = DO_ROLL, .records = 58 * MILLION, .value_size = 100, .batch = 100, .seconds_max = 60,
     .pace = "uring-registered", .shown = M_P999, .has_latency = true, .contenders = roll_rows},
    {.name = "scan", .title = "Scan every record",
     .what = "100-byte values, out of the page cache, in order of keys.",
     .deed = DO_SCAN, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true,
     .contenders = scan_rows},
    {.name = "scan-again", .title = "Scan every record once more",
     .what = "The same, when the handle has done it before: what was verified then is not hashed again.",
     .deed = DO_SCAN_AGAIN, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true,
     .contenders = again_rows},
    {.name = "split", .title = "Scan every record, shared out",
     .what = "As scan; a log of ours also by 2 threads, with a range of it each.",
     .deed = DO_SCAN, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true,
     .contenders = split_rows},
    {.name = "fsck", .title = "Check a whole log",
     .what = "What u9fsck does, with 100-byte values.",
     .deed = DO_VERIFY, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true,
     .contenders = fsck_rows},
    {.name = "hostile", .title = "Check a file that was made to cost",
     .what = "What u9fsck does with a log whose one segment was written over; 100-byte values.",
     .deed = DO_VERIFY, .records = 2 * MILLION, .value_size = 100, .batch = 100, .shown = M_SECONDS, .also = {M_BYTES},
     .contenders = hostile_rows},
    {.name = "files", .title = "Open and check a directory of 2,000 files",
     .what = "Of each kind: a log's own segments, with every second one missing, empty ones above one that is there, "
             "empty ones below, and such as are none. Linear: a tenth of them takes a tenth of the time.",
     .deed = DO_FILES, .records = 2000, .value_size = 100, .shown = M_RECORDS, .contenders = files_rows},
    {.name = "carve", .title = "Look for logs in an image",
     .what = "What u9fsck --carve does, out of the page cache, with as many bytes as records of 100 bytes have.",
     .deed = DO_CARVE, .records = 5 * MILLION, .value_size = 100, .batch = 100, .contenders = carve_rows},
    {.name = "get", .title = "Look up single records, keys in order",
     .what = "100-byte values, out of the page cache, all over the store, once a million were looked up; the same of keys "
             "that are not there, and of 64 at a time. Before: what one of the first 10,000 takes.",
     .deed = DO_GET, .records = 10 * MILLION, .value_size = 100, .batch = 100, .seconds_max = 1, .keyed = true,
     .shown = M_RECORDS, .has_latency = true, .also = {M_ABSENT, M_MANY, M_FIRST, M_INDEX, M_INDEX_SHARE, M_MEMORY},
     .contenders = get_rows},
    {.name = "get-random", .title = "Look up single records, random keys",
     .what = "As get, with keys that were appended in no order.",
     .deed = DO_GET, .records = 10 * MILLION, .value_size = 100, .batch = 100, .seconds_max = 2, .keyed = true, .random = true,
     .shown = M_RECORDS, .has_latency = true, .also = {M_ABSENT, M_MANY, M_FIRST, M_INDEX, M_INDEX_SHARE, M_MEMORY},
     .contenders = get_rows},
    {.name = "get-cold", .title = "Look up single records, from the disk",
     .what = "The first hundred after opening, with nothing in the page cache.",
     .deed = DO_GET_COLD, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true,
     .shown = M_P50, .has_latency = true, .contenders = cold_rows},
    {.name = "recover", .title = "Open after a kill, and the first lookup",
     .what = "Opening for writing what a process left that was killed behind its last sync, out of the page cache, and "
             "looking one record up; 100-byte values. First: the lookup.",
     .deed = DO_RECOVER, .records = 10 * MILLION, .value_size = 100, .batch = 100, .keyed = true, .shown = M_SECONDS,
     .also = {M_OPEN, M_FIRST}, .contenders = recover_rows},
    {.name = "open", .title = "Open a closed log of 1,000 segments",
     .what = "Records of 100 bytes, in a thousand segments, the smallest, out of the page cache; opened for writing.",
     .deed = DO_OPEN, .records = 560000, .value_size = 100, .batch = 100, .shown = M_SECONDS,
     .contenders = read_rows},
    {.name = "hash", .title = "Hashing and packing alone",
     .what = "As many bytes as append has, on one thread.",
     .records = 10 * MILLION, .value_size = 100, .batch = 100, .contenders = hash_rows},
    {.name = "pool-append", .title = "Append to a log in a pool",
     .what = "100-byte values in batches of 100; one thread, which waits once, at the end.", .place = POOL,
     .records = 4 * MILLION, .value_size = 100, .batch = 100, .contenders = pool_append_rows},
    {.name = "pool-commit", .title = "Commit each record to a log in a pool",
     .what = "100-byte values; each thread waits for each record until all copies of the pool have it.", .place = POOL,
     .records = MILLION, .value_size = 100, .batch = 1, .durable = true, .seconds_max = 2,
     .shown = M_RECORDS, .has_latency = true, .contenders = pool_commit_rows},
    {.name = "pool-scan", .title = "Scan every record of a log in a pool",
     .what = "100-byte values, shared out.", .place = POOL, .deed = DO_SCAN, .records = 4 * MILLION, .value_size = 100,
     .batch = 100, .keyed = true, .contenders = pool_scan_rows},
    {.name = "pool-get", .title = "Look up single records of a log in a pool, random keys",
     .what = "100-byte values, appended in no order of their keys.", .place = POOL, .deed = DO_GET,
     .records = MILLION, .value_size = 100, .batch = 100, .keyed = true, .random = true, .seconds_max = 2, .shown = M_P50,
     .has_latency = true, .also = {M_ABSENT, M_MANY, M_FIRST}, .contenders = pool_get_rows},
    {.name = "s3-scan", .title = "Scan every record of a log in S3",
     .what = "100-byte values; nothing of it is cached.", .place = BUCKET, .deed = DO_SCAN, .records = 4 * MILLION,
     .value_size = 100, .batch = 100, .keyed = true, .contenders = bucket_scan_rows},
    {.name = "s3-get", .title = "Look up single records of a log in S3, random keys",
     .what = "The first hundred after opening; 100-byte values, appended in no order of their keys.", .place = BUCKET,
     .deed = DO_GET_COLD, .records = 4 * MILLION, .value_size = 100, .batch = 100, .keyed = true, .random = true,
     .shown = M_P50, .has_latency = true, .also = {M_OPEN}, .contenders = bucket_get_rows},
};

const unsigned workload_count = sizeof workloads / sizeof workloads[0];

const target targets[] = {
    {"append", "u9", "uring", M_BYTES, false, 0.88, 0},
    {"append", "u9", "uring-registered", M_BYTES, false, 0.88, 0},
    {"append", "u9", "lmdb", M_BYTES, false, 3.2, 2.5},
    {"append", "u9", "rocksdb", M_BYTES, false, 7.5, 0},
    {"append", "u9", "leveldb", M_BYTES, false, 6, 0},
    {"append", "u9-one", "u9", M_BYTES, false, 0.9, 0},
    {"append", "u9-4", "u9-one", M_BYTES, false, 1, 0},
    {"append", "u9", NULL, M_ANON, true, 48, 0},
    {"lz4", "u9", "lz4-loop", M_BYTES, false, 1.9, 0},
    {"lz4", "u9", NULL, M_DISK, true, 0.36, 0},
    {"append-1k", "u9", "uring", M_BYTES, false, 0.9, 0},
    {"append-16k", "u9", "uring", M_BYTES, false, 0.9, 0},
    {"commit", "u9", "dsync-ahead", M_RECORDS, false, 0.92, 0},
    {"commit", "u9", "leveldb", M_RECORDS, false, 1, 0},
    {"commit", "u9", "rocksdb", M_RECORDS, false, 1.3, 0},
    {"commit-8", "u9", "rocksdb", M_RECORDS, false, 2.2, 0},
    {"commit-8", "u9", "leveldb", M_RECORDS, false, 1.5, 0},
    {"commit-8", "u9", "rocksdb", M_P99, true, 1, 0},
    {"commit-8", "u9", "leveldb", M_P99, true, 1, 0},
    {"commit-64", "u9", "rocksdb", M_RECORDS, false, 3.6, 0},
    {"commit-64", "u9", "leveldb", M_RECORDS, false, 2.2, 0},
    {"commit-64", "u9", "rocksdb", M_P99, true, 1, 0},
    {"commit-64", "u9", "leveldb", M_P99, true, 1, 0},
    {"batch", "u9", "rocksdb", M_RECORDS, false, 1.9, 0},
    {"scan", "u9", NULL, M_RSS, true, 64, 0},
    {"split", "u9", "mapped", M_BYTES, false, 0.8, 0},
    {"split", "u9-2", "mapped-2", M_BYTES, false, 0.75, 0},
    {"split", "u9-2", "lmdb", M_BYTES, false, 1.2, 0},
    {"split", "u9-2", NULL, M_RSS, true, 64, 0},
    {"rolls", "u9", NULL, M_P999, true, 5000, 0},
    {"scan-again", "u9", "lmdb", M_BYTES, false, 2.5, 0},
    {"open", "u9", NULL, M_SECONDS, true, 0.015, 0},
    {"get", "u9", "lmdb", M_RECORDS, false, 3, 0},
    {"get", "u9", "leveldb", M_RECORDS, false, 8, 0},
    {"get", "u9", "rocksdb", M_RECORDS, false, 10, 0},
    {"get", "u9", "lmdb", M_MANY, false, 4, 0},
    {"get", "u9", "lmdb", M_ABSENT, false, 4, 0},
    {"get", "u9", "rocksdb", M_ABSENT, false, 2, 0},
    {"get", "u9-100", "u9-1", M_P50, true, 1.3, 0},
    {"get", "u9", NULL, M_INDEX_SHARE, true, 0.06, 0},
    {"get", "u9", NULL, M_MEMORY, true, 7, 0},
    {"get-random", "u9", "lmdb", M_RECORDS, false, 4, 0},
    {"get-random", "u9", "leveldb", M_RECORDS, false, 8, 0},
    {"get-random", "u9", "rocksdb", M_RECORDS, false, 10, 0},
    {"get-random", "u9", "lmdb", M_MANY, false, 4, 0},
    {"get-random", "u9", "lmdb", M_ABSENT, false, 4, 0},
    {"get-random", "u9", "rocksdb", M_ABSENT, false, 2, 0},
    {"get-random", "u9-100", "u9-1", M_P50, true, 2.5, 0},
    {"get-random", "u9", NULL, M_INDEX, true, 27, 0},
    {"get-random", "u9", NULL, M_MEMORY, true, 7, 0},
    {"get-cold", "u9", NULL, M_P50, true, 150, 0},
    {"get-cold", "u9", "lmdb", M_P50, true, 1, 0},
    {"get-cold", "u9", "leveldb", M_P50, true, 1, 0},
    {"fsck", "u9-2", "u9", M_BYTES, false, 1.85, 0},
    {"fsck", "u9", "kernel", M_BYTES, false, 0.9, 0},
    {"fsck", "u9", "openssl", M_BYTES, false, 1.6, 0},
    {"fsck", "u9", NULL, M_RSS, true, 64, 0},
    {"fsck", "u9-2", NULL, M_RSS, true, 64, 0},
    {"hostile", "garbage", NULL, M_BYTES, false, 15000, 0},
    {"hostile", "boundaries", "garbage", M_SECONDS, true, 2, 0},
    {"hostile", "copies", "garbage", M_SECONDS, true, 2, 0},
    {"hostile", "claims", "u9", M_SECONDS, true, 2, 0},
    {"hostile", "flips", "u9", M_SECONDS, true, 2, 0},
    {"hostile", "boundaries", NULL, M_RSS, true, 64, 0},
    {"hostile", "claims", NULL, M_RSS, true, 64, 0},
    {"hostile", "flips", NULL, M_RSS, true, 64, 0},
    {"files", "u9", "u9-tenth", M_RECORDS, false, 0.75, 0},
    {"files", "missing", "missing-tenth", M_RECORDS, false, 0.75, 0},
    {"files", "blank", "blank-tenth", M_RECORDS, false, 0.75, 0},
    {"files", "void", "void-tenth", M_RECORDS, false, 0.75, 0},
    {"files", "stray", "stray-tenth", M_RECORDS, false, 0.75, 0},
    {"carve", "u9", NULL, M_BYTES, false, 3000, 0},
    {"carve", "u9", NULL, M_RSS, true, 64, 0},
    {"recover", "u9", NULL, M_SECONDS, true, 0.08, 0},
    {"recover", "u9-1", NULL, M_SECONDS, true, 0.25, 0},
    {"follow", "u9", NULL, M_P50, true, 200, 0},
    {"follow", "u9-within", NULL, M_P50, true, 200, 0},
    {"pool-append", "u9", "rados-aio", M_BYTES, false, 0.7, 0},
    {"pool-commit", "u9", "rados-write", M_P50, true, 1.3, 0},
    {"pool-commit", "u9-64", "u9", M_RECORDS, false, 12, 0},
    {"pool-scan", "u9", "rados-read", M_BYTES, false, 0.7, 0},
    {"pool-get", "u9", "rados-range", M_P50, true, 2, 0},
};

const unsigned target_count = sizeof targets / sizeof targets[0];

int workload_named(const char *name)
{
    for (unsigned i = 0; i < workload_count; i++)
        if (strcmp(workloads[i].name, name) == 0) return (int)i;
    return -1;
}

int contender_named(const workload *w, const char *id)
{
    for (unsigned i = 0; i < contender_count(w); i++)
        if (strcmp(w->contenders[i].id, id) == 0) return (int)i;
    return -1;
}

unsigned contender_count(const workload *w)
{
    unsigned n = 0;
    while (n < CONTENDERS_MAX && w->contenders[n].id != NULL) n++;
    return n;
}

unsigned also_count(const workload *w)
{
    unsigned n = 0;
    while (n < sizeof w->also / sizeof w->also[0] && w->also[n] != 0) n++;
    return n;
}

const char *contender_label(const contender *c)
{
    return c->label ? c->label : c->engine->label;
}

const char *contender_config(const contender *c)
{
    return c->usual && c->engine->usual_config ? c->engine->usual_config : c->engine->config;
}
