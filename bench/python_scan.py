#!/usr/bin/python3
"""bench/python_scan.py: records of 100 bytes out of a log, beside rows of as many bytes out of sqlite3, in one run.

    make bench-python BENCH_ARGS='[-n RECORDS] [-r ROUNDS] [DIR]'

Both hold the same: a key of 16 bytes, and values of 82 bytes: an integer, a float, a text. A round iterates over each once, by
CPU time of the process, all its threads. Printed are nanoseconds a record, and how many times as fast as the rows of sqlite3
of the same round that is: medians of all rounds, and least and most. The targets: values 1.0, raw memoryviews 1.5.
"""
import argparse
import collections
import shutil
import sqlite3
import statistics
import tempfile
import time

import u9


def fill(folder, count):
    text = "GET /index.html?page=%08d HTTP/1.1 from 192.0.2.%03d by curl"
    rows = [(i * 7919, i / 7, (text % (i, i % 256)).ljust(68, ".")) for i in range(count)]
    with u9.open(f"{folder}/log", "c", policy="none") as log:
        keys = [log.append(*row).key for row in rows]
    base = sqlite3.connect(f"{folder}/base")
    base.execute("create table log(key blob primary key, number integer, share real, line text) without rowid")
    with base:
        base.executemany("insert into log values (?, ?, ?, ?)",
                         ((key.packed, *row) for key, row in zip(keys, rows)))
    base.close()


def walk(rows):
    collections.deque(rows, maxlen=0)


def each_record(log):
    for record in log:
        record.values


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("-n", type=int, default=300_000)
    ask.add_argument("-r", type=int, default=9)
    ask.add_argument("dir", nargs="?")
    args = ask.parse_args()
    folder = tempfile.mkdtemp(prefix="u9python", dir=args.dir)
    try:
        fill(folder, args.n)
        base = sqlite3.connect(f"{folder}/base")
        with u9.open(f"{folder}/log") as log:
            size = next(iter(log)).size
            runs = {
                "sqlite3, rows": lambda: walk(base.execute("select * from log")),
                "sqlite3, rows less the key": lambda: walk(base.execute("select number, share, line from log")),
                "u9, values": lambda: walk(log.values()),
                "u9, records": lambda: walk(log),
                "u9, values of records": lambda: each_record(log),
                "u9, raw memoryviews": lambda: walk(log.raw()),
            }
            took = {name: [] for name in runs}
            for _ in range(args.r):
                for name, run in runs.items():
                    began = time.process_time()
                    run()
                    took[name].append(time.process_time() - began)
        print(f"{args.n} records of {size} bytes, medians of {args.r}; sqlite {sqlite3.sqlite_version}, u9 {u9.__version__}")
        for name, mine in took.items():
            times = [peer / own for peer, own in zip(took["sqlite3, rows"], mine)]
            print(f"{name:28} {statistics.median(mine) / args.n * 1e9:7.0f} ns  {statistics.median(times):5.2f} x "
                  f"({min(times):.2f} to {max(times):.2f})")
        base.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
