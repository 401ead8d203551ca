# u9: builds everything into build/, writes nowhere else (but where `make install` is told to).
#
# `make help` lists the targets. Sources are found by wildcard: a new file needs no edit here.
# One tree, several builds: build/release, build/asan, build/tsan, build/fuzz. A test build is this
# same Makefile, run again with another BUILD, CC and SANITIZE.
#
# Nothing here may need a package while the file is being read, so that `make setup` works on a
# machine that has only make: what asks pkg-config or the compiler is expanded in recipes only.

ifeq ($(origin CC),default)
CC = gcc
endif
CXX ?= g++
AR ?= ar
NM ?= nm
PKG_CONFIG ?= pkg-config
INSTALL ?= install

# The compiler of test-asan and test-tsan; gcc works too.
SAN_CC ?= clang

BUILD ?= build/release
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/u9
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 30

# libu9-zk and its tests are built where ZooKeeper's C client is installed (Debian: libzookeeper-mt-dev, which has no
# pkg-config file). ZOOKEEPER=0: not even there. `u9 id new uid8 --zookeeper` loads the library.
ZOOKEEPER ?= 1
zk := $(if $(filter 1,$(ZOOKEEPER)),$(wildcard /usr/include/zookeeper/zookeeper.h))
zk_client := -lzookeeper_mt

# libu9-rados and its tests are built where librados is installed (Debian: librados-dev, which has no pkg-config file).
# RADOS=0: not even there. The tools load the library when they meet an address of it.
RADOS ?= 1
rados := $(if $(filter 1,$(RADOS)),$(wildcard /usr/include/rados/librados.h))

# libu9-s3 is built where libcurl's headers are (Debian: libcurl4-openssl-dev). S3=0: not even there. The tools load the
# library when they meet an address of it, or a log that names one.
S3 ?= 1
s3 := $(if $(filter 1,$(S3)),$(firstword $(wildcard /usr/include/curl/curl.h /usr/include/*-linux-gnu*/curl/curl.h)))

# The example of MPI is built where mpicc is (Debian: libopenmpi-dev). MPI=0: not even there. With sanitizers it is not:
# MPI's library is not made for that.
MPI ?= 1
plain_examples := event_store wal_map word_count work_queue
examples = $(plain_examples:%=$(BUILD)/examples/%) $(if $(SANITIZE),,$(if $(filter 1,$(MPI)),$(if $(shell command -v mpicc),$(BUILD)/examples/scan_mpi)))

# The Python package, built and tested where Python's headers are installed (Debian: python3-dev, python3-pytest).
# PYTHON=0: not even there. The extension is of the stable ABI: one file for Python 3.11 and all later ones.
PYTHON ?= /usr/bin/python3
python_headers = $(call once,python_headers,$(if $(filter 0,$(PYTHON)),,$(shell $(PYTHON) -c 'import sysconfig as s, os; \
    p = s.get_path("include"); print(p if os.path.exists(p + "/Python.h") else "")' 2>/dev/null)))
python_src := $(wildcard python/*.c)
python_plain := $(wildcard python/u9/*.py python/u9/*.pyi python/u9/py.typed)

# SHARED=1: the tools are linked with libu9.so, as a distribution wants it; else they need nothing of it.
SHARED ?= 0

number = $(shell sed -n 's/^.define U9_VERSION_$(1) //p' include/u9/version.h)
VERSION := $(call number,MAJOR).$(call number,MINOR).$(call number,PATCH)
SONAME := libu9.so.0
ZK_SONAME := libu9-zk.so.0
RADOS_SONAME := libu9-rados.so.0
S3_SONAME := libu9-s3.so.0

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# The sources of each product, and its objects.
headers := include/u9.h $(wildcard include/u9/*.h)
find = $(sort $(shell find $(1) -name '$(2)'))
lib_src := $(call find,format engine,*.c)
u9_src := $(filter-out tools/fsck%.c,$(wildcard tools/*.c))
# u9fsck has nothing of a verb, but what it says is said as they do.
fsck_src := $(wildcard tools/fsck*.c) $(addprefix tools/,buffer.c damage.c fold.c json.c key.c mark.c nearest.c place.c progress.c shared.c store.c text.c tool.c)
bench_src := $(call find,bench,*.c)
test_src := $(filter-out tests/probe_% tests/%_main.c tests/golden/% tests/zk/% tests/rados/% tests/s3/%,$(call find,tests,*.c))
# What of the tools the test program looks at from within.
tested_tools := $(wildcard tools/value_json*.c) $(addprefix tools/,fold.c json_tree.c nearest.c progress.c text.c tool.c when.c)
zk_src := $(if $(zk),$(wildcard zk/*.c))
zktest_src := $(if $(zk),$(wildcard tests/zk/*.c))
rados_src := $(if $(rados),$(wildcard rados/*.c))
radostest_src := $(if $(rados),$(filter-out tests/rados/model.c,$(wildcard tests/rados/*.c)))
s3_src := $(if $(s3),$(wildcard s3/*.c))
s3test_src := $(if $(s3),$(wildcard tests/s3/*.c))
fuzz_src := $(filter-out $(if $(s3),,fuzz/fuzz_s3_%),$(wildcard fuzz/fuzz_*.c))
fuzz_names := $(fuzz_src:fuzz/%.c=%)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

libs := $(BUILD)/libu9.a $(BUILD)/$(SONAME) $(BUILD)/libu9.so
zk_libs := $(if $(zk),$(BUILD)/libu9-zk.a $(BUILD)/$(ZK_SONAME) $(BUILD)/libu9-zk.so)
rados_libs := $(if $(rados),$(BUILD)/libu9-rados.a $(BUILD)/$(RADOS_SONAME) $(BUILD)/libu9-rados.so)
s3_libs := $(if $(s3),$(BUILD)/libu9-s3.a $(BUILD)/$(S3_SONAME) $(BUILD)/libu9-s3.so)
tools := $(if $(wildcard tools/u9.c),$(BUILD)/u9) $(if $(wildcard tools/fsck.c),$(BUILD)/u9fsck)

warnings = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wcast-qual -Wvla -Wswitch-enum $(if $(filter 1,$(WERROR)),-Werror)

# By room: format/ is strictly portable, the others may use what Linux has.
room_format = -std=c11 -pedantic
room_engine = -std=gnu11 -D_GNU_SOURCE
room_tools = -std=gnu11 -D_GNU_SOURCE $(if $(findstring tools/convert,$<),$(convert_cflags))
room_zk = -std=gnu11 -D_GNU_SOURCE -DTHREADED
room_rados = -std=gnu11 -D_GNU_SOURCE
room_s3 = -std=gnu11 -D_GNU_SOURCE
room_python = -std=gnu11 -D_GNU_SOURCE $(python_headers:%=-isystem %)
room_bench = -std=gnu11 -D_GNU_SOURCE $(peer_cflags)
room_tests = -std=gnu11 -D_GNU_SOURCE $(check_cflags) -include tests/check.h
room_fuzz = -std=gnu11 -D_GNU_SOURCE -Wno-missing-prototypes $(if $(findstring fuzz_script,$<),$(check_cflags))

# Where `long` has 32 bits, files are larger than 2 GiB and times go beyond 2038 all the same. Elsewhere they are anyhow,
# and the calls keep the names that tests/engine/os/test_short.c stands in front of.
large_files = $(call once,large_files,$(if $(shell $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E -x c /dev/null | grep -w __LP64__),,\
              -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64))

# Tests are many, and compile in half the time so; what they test is as it always is.
optimized = $(if $(filter tests/%,$<),$(CFLAGS:-O2=-O1),$(CFLAGS))
compile = $(CC) $(warnings) $(room_$(firstword $(subst /, ,$<))) $(large_files) -I. -Iinclude $(CPPFLAGS) $(optimized) $(SANITIZE) \
          -pthread -fPIC -fno-semantic-interposition -fvisibility=hidden -MMD -MP
link = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -pthread

# What installs first, and then has the rest made, has it made by all processors, unless it was said by how many.
parallel = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# One short line for each command; V=1 shows the command instead.
say = $(if $(filter 1,$(V)),,@echo "  $(1) $@";)

lib_packages := liburing libcrypto liblz4
# Used through its header alone: nothing is linked.
header_packages := libxxhash
tool_packages := jansson yajl
test_packages := check
# Other stores and formats that u9bench runs beside us: each one that is installed is used, and told to
# the sources as -DPEER_SQLITE3=1 and so on. msgpack-c is msgpack in Debian 12, msgpack-c later; LevelDB has no
# pkg-config file. PEERS=0: none of them.
PEERS ?= 1
peer_packages := $(if $(filter 1,$(PEERS)),sqlite3 lmdb rocksdb msgpack msgpack-c)
leveldb := $(if $(filter 1,$(PEERS)),$(wildcard /usr/include/leveldb/c.h))

# pkg-config is asked once, at first use.
once = $(eval $(1) := $(2))$($(1))
lib_libs = $(call once,lib_libs,$(shell $(PKG_CONFIG) --libs $(lib_packages)))
tool_libs = $(call once,tool_libs,$(shell $(PKG_CONFIG) --libs $(tool_packages)))
check_cflags = $(call once,check_cflags,$(shell $(PKG_CONFIG) --cflags $(test_packages)))
check_libs = $(call once,check_libs,$(shell $(PKG_CONFIG) --libs $(test_packages)))
peers = $(call once,peers,$(shell for p in $(peer_packages); do \
          $(PKG_CONFIG) --exists $$p && echo $$p; done))
pool := $(if $(filter 1,$(PEERS)),$(rados))
bucket := $(if $(filter 1,$(PEERS)),$(s3))
peer_cflags = $(call once,peer_cflags,$(if $(leveldb),-DPEER_LEVELDB=1) $(if $(pool),-DPEER_RADOS=1) $(if $(bucket),-DPEER_CURL=1) \
          $(if $(peers),$(shell $(PKG_CONFIG) --cflags $(peers); \
          for p in $(peers); do name=$$(echo $$p | tr a-z- A-Z_); \
          echo "-DPEER_$$name=1 -DPEER_$${name}_VERSION='\"$$($(PKG_CONFIG) --modversion $$p)\"'"; done)))
peer_libs = $(call once,peer_libs,$(if $(leveldb),-lleveldb) $(if $(pool),-lrados) $(if $(bucket),-lcurl) $(if $(peers),$(shell $(PKG_CONFIG) --libs $(peers))))
# Formats that `u9 import` and `u9 export` know with a library: each one that is installed is used, and told to the
# sources as -DCONVERT_SQLITE3=1 and so on. SQLite is loaded when it is asked for. CONVERTERS=0: none of them.
CONVERTERS ?= 1
convert_packages := $(if $(filter 1,$(CONVERTERS)),sqlite3 libzstd zlib)
converters = $(call once,converters,$(shell for p in $(convert_packages); do $(PKG_CONFIG) --exists $$p && echo $$p; done))
convert_cflags = $(if $(converters),$(patsubst %,-DCONVERT_%=1,$(shell echo '$(converters:lib%=%)' | tr a-z A-Z)))
convert_libs = $(call once,convert_libs,$(shell $(PKG_CONFIG) --libs liblz4 $(filter-out sqlite3,$(converters))))

.PHONY: all
all: $(libs) $(zk_libs) $(rados_libs) $(s3_libs) $(tools) $(examples) ## libu9.a, libu9.so, libu9-zk, libu9-rados, libu9-s3, the tools and examples (the default)

# Says at once, in one line, what is missing.
define need
@missing=; \
for c in $(CC) $(PKG_CONFIG) $(AR); do command -v $$c >/dev/null 2>&1 || missing="$$missing $$c"; done; \
if [ -z "$$missing" ]; then \
    for p in $(1); do $(PKG_CONFIG) --exists $$p || missing="$$missing $$p"; done; \
    echo '#include <stdio.h>' | $(CC) -E - >/dev/null 2>&1 || missing="$$missing libc-headers"; \
fi; \
if [ -n "$$missing" ]; then \
    echo "u9: cannot build, missing:$$missing" >&2; \
    echo "u9: run \`make setup\` to install what is needed, then try again" >&2; \
    exit 1; \
fi
endef

.PHONY: need-build need-test
need-build:
	$(call need,$(lib_packages) $(header_packages) $(tool_packages))
need-test:
	$(call need,$(lib_packages) $(header_packages) $(tool_packages) $(test_packages))

# Objects depend on this file, which changes only when the compiler or its flags do.
.PHONY: force
$(BUILD)/flags: force | need-build
	@mkdir -p $(@D)
	@echo '$(CC) $(warnings) $(large_files) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)' | cmp -s - $@ || \
	    echo '$(CC) $(warnings) $(large_files) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)' >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | need-build
	@mkdir -p $(@D)
	$(call say,CC  ) $(compile) -c -o $@ $<

# Those that change when a peer of u9bench does.
$(BUILD)/peers: force
	@mkdir -p $(@D)
	@echo "$(peer_libs)" | cmp -s - $@ || echo "$(peer_libs)" >$@

$(call obj,$(bench_src)): $(BUILD)/peers

# And those that change when a format of import and export does.
$(BUILD)/converters: force
	@mkdir -p $(@D)
	@echo "$(converters)" | cmp -s - $@ || echo "$(converters)" >$@

$(call obj,$(wildcard tools/convert*.c)): $(BUILD)/converters

-include $(patsubst %.o,%.d,$(call obj,$(lib_src) $(u9_src) $(fsck_src) $(bench_src) $(test_src) \
    $(fuzz_src) $(zk_src) $(zktest_src) $(rados_src) $(radostest_src) $(s3_src) $(s3test_src) $(python_src) tests/probe_uring.c))

$(call obj,$(test_src) $(zktest_src) $(radostest_src) $(s3test_src)): tests/check.h | need-test

# `q`: members are never replaced, though two rooms may have a file of the same name.
$(BUILD)/libu9.a: $(call obj,$(lib_src))
	@rm -f $@
	$(call say,AR  ) $(AR) qcsD $@ $^

$(BUILD)/$(SONAME): $(call obj,$(lib_src)) engine/libu9.map
	$(call say,LINK) $(link) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=engine/libu9.map $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter-out %.map,$^) $(lib_libs)

$(BUILD)/libu9.so: $(BUILD)/$(SONAME)
	$(call say,LN  ) ln -sf $(SONAME) $@

$(BUILD)/libu9-zk.a: $(call obj,$(zk_src))
	@rm -f $@
	$(call say,AR  ) $(AR) qcsD $@ $^

$(BUILD)/$(ZK_SONAME): $(call obj,$(zk_src)) $(BUILD)/$(SONAME) zk/libu9-zk.map
	$(call say,LINK) $(link) -shared -Wl,-soname,$(ZK_SONAME) -Wl,--version-script=zk/libu9-zk.map $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter-out %.map,$^) $(zk_client)

$(BUILD)/libu9-zk.so: $(BUILD)/$(ZK_SONAME)
	$(call say,LN  ) ln -sf $(ZK_SONAME) $@

$(BUILD)/libu9-rados.a: $(call obj,$(rados_src))
	@rm -f $@
	$(call say,AR  ) $(AR) qcsD $@ $^

# It takes all that it needs of libu9 from who adds it (u9/store.h), so a program that has libu9.a in it can load it.
$(BUILD)/$(RADOS_SONAME): $(call obj,$(rados_src)) rados/libu9-rados.map
	$(call say,LINK) $(link) -shared -Wl,-soname,$(RADOS_SONAME) -Wl,--version-script=rados/libu9-rados.map $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter-out %.map,$^) -lrados

$(BUILD)/libu9-rados.so: $(BUILD)/$(RADOS_SONAME)
	$(call say,LN  ) ln -sf $(RADOS_SONAME) $@

$(BUILD)/libu9-s3.a: $(call obj,$(s3_src))
	@rm -f $@
	$(call say,AR  ) $(AR) qcsD $@ $^

# As libu9-rados.
$(BUILD)/$(S3_SONAME): $(call obj,$(s3_src)) s3/libu9-s3.map
	$(call say,LINK) $(link) -shared -Wl,-soname,$(S3_SONAME) -Wl,--version-script=s3/libu9-s3.map $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter-out %.map,$^) -lcurl -lcrypto

$(BUILD)/libu9-s3.so: $(BUILD)/$(S3_SONAME)
	$(call say,LN  ) ln -sf $(S3_SONAME) $@

tools_lib = $(BUILD)/$(if $(filter 1,$(SHARED)),$(SONAME),libu9.a)
tools_libs = $(if $(filter 1,$(SHARED)),,$(lib_libs)) $(tool_libs) -ldl

$(BUILD)/u9: $(call obj,$(u9_src)) $(tools_lib)
	$(call say,LINK) $(link) -o $@ $^ $(tools_libs) $(convert_libs)

$(BUILD)/u9fsck: $(call obj,$(fsck_src)) $(tools_lib)
	$(call say,LINK) $(link) -o $@ $^ $(tools_libs)

$(BUILD)/u9bench: $(call obj,$(bench_src) tools/nearest.c tools/shared.c) $(BUILD)/libu9.a
	$(call say,LINK) $(link) -o $@ $^ $(lib_libs) $(peer_libs) -lm -ldl

$(plain_examples:%=$(BUILD)/examples/%): $(BUILD)/examples/%: examples/%.c $(headers) $(BUILD)/libu9.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) -std=c11 $(warnings) -Iinclude $(CFLAGS) $(SANITIZE) -D_POSIX_C_SOURCE=200809L -pthread -o $@ $< $(BUILD)/libu9.a $(lib_libs)

# With the places for logs that are built here.
mpi_with = $(if $(s3),-DWITH_S3) $(if $(rados),-DWITH_RADOS)
mpi_libs = $(if $(s3),$(BUILD)/libu9-s3.a) $(if $(rados),$(BUILD)/libu9-rados.a)
$(BUILD)/examples/%_mpi: examples/%_mpi.c $(headers) $(BUILD)/libu9.a $(mpi_libs) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK) OMPI_CC=$(CC) mpicc -std=c11 -Wall -Wextra -Wshadow -Wconversion -Iinclude $(CFLAGS) $(mpi_with) -pthread -o $@ $< \
	    $(mpi_libs) $(BUILD)/libu9.a $(lib_libs) $(if $(s3),-lcurl -lcrypto) $(if $(rados),-lrados)

# Sanitizers want to see each page come and go: tests/engine/os/pages.c.
keep_pages = $(if $(SANITIZE),,-Wl,--wrap=u9i_pages,--wrap=u9i_pages_free)
# Calls that the system may cut short: tests/engine/os/test_short.c.
cut_calls = -Wl,--wrap=pread,--wrap=pwrite,--wrap=pwritev2,--wrap=fdatasync,--wrap=io_uring_submit,--wrap=__io_uring_get_cqe
# Memory, calls and looks that are refused: tests/engine/scarce.c.
comma = ,
scarce = $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc strdup free mmap stat fstat fstatat flock fsync ftruncate fallocate \
    mkdir renameat linkat unlinkat fchmodat fchownat fdopendir readdir inotify_init1 inotify_add_watch open openat statx \
    posix_fadvise eventfd timerfd_create poll ppoll read writev sendmsg getrandom fcntl lseek ioctl sigaction \
    u9i_windows_lend u9i_window_bytes u9i_window_at u9i_window_find u9i_window_boundary u9i_window_zeros u9i_segment_open u9i_lz4_wrap)

# Check's file for what a test tells: tests/main.c.
checks_file = -Wl,--wrap=mkstemp
# In a build that counts, children that tests fork are counted, which end by _exit: tests/main.c.
counted = $(if $(findstring --coverage,$(SANITIZE)),$(patsubst %,-Wl$(comma)--wrap=%,_exit raise) -Wl$(comma)-u$(comma)__gcov_dump)

$(BUILD)/u9tests: $(call obj,$(test_src) $(tested_tools)) $(BUILD)/libu9.a | need-test
	$(call say,LINK) $(link) $(keep_pages) $(cut_calls) $(scarce) $(checks_file) $(counted) -o $@ $^ $(lib_libs) $(tool_libs) $(check_libs)

$(BUILD)/u9zktests: $(call obj,$(zktest_src)) $(BUILD)/libu9-zk.a $(BUILD)/libu9.a | need-test
	$(call say,LINK) $(link) -o $@ $^ $(lib_libs) $(check_libs) $(zk_client)

$(BUILD)/u9s3reads: $(call obj,$(s3test_src)) $(BUILD)/libu9-s3.a $(BUILD)/libu9.a | need-test
	$(call say,LINK) $(link) -o $@ $^ -lcurl -lcrypto $(lib_libs)

$(BUILD)/u9radostests: $(call obj,$(radostest_src)) $(BUILD)/libu9-rados.a $(BUILD)/libu9.a | need-test
	$(call say,LINK) $(link) -o $@ $^ $(lib_libs) $(check_libs) -lrados

# The protocol of one writer as a model, and every order of its steps: needs nothing of Ceph.
$(BUILD)/rados_model: $(call obj,tests/rados/model.c)
	$(call say,LINK) $(link) -o $@ $^

# The second reader by itself: prints what it makes of a log.
$(BUILD)/second_reader: $(call obj,tests/second_reader.c tests/second_reader_main.c)
	$(call say,LINK) $(link) -o $@ $^ $(lib_libs)

$(BUILD)/probe_uring: $(call obj,tests/probe_uring.c)
	$(call say,LINK) $(link) -o $@ $^ $(lib_libs)

$(BUILD)/fuzz_directory: override LDFLAGS += -Wl,--wrap=u9i_sha_blocks,--wrap=u9i_hash_blocks # it counts what is hashed
$(BUILD)/fuzz_s3_answer: $(call obj,s3/answer.c)
# The simulated disk and the oracle, with Check's assertions, but without its runner.
sim_src := $(filter-out tests/sim/test_%,$(wildcard tests/sim/*.c)) $(addprefix tests/,engine/files.c engine/fixture.c index_reader.c plain_file.c second_reader.c)
$(BUILD)/fuzz_script: $(call obj,$(sim_src))
$(fuzz_names:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/obj/fuzz/%.o $(BUILD)/libu9.a
	$(call say,LINK) $(link) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(BUILD)/libu9.a $(lib_libs)

.PHONY: setup
setup: ## installs the packages needed to build and test (Debian, Ubuntu)
	@scripts/setup test

.PHONY: demo run-demo
demo: ## builds, then shows it all on real data of this machine: append, get, damage, salvage
	@scripts/setup build
	@$(MAKE) $(parallel) all
	@$(MAKE) $(parallel) run-demo

run-demo: $(tools)
	@scripts/demo $(BUILD) $(BUILD)/demo

.PHONY: test check-quick
test: ## sets up, builds, runs all tests and the checks of the tree
	@scripts/setup test
	@$(MAKE) $(parallel) run-tests

check-quick: ## the inner loop, seconds: builds, then all tests but the long ones, on posix alone
	@$(MAKE) $(parallel) TEST_IO=posix leave_out='$(long)' side_programs= run-tests

# -g1: names and lines, which is what a sanitizer tells; -g takes the compiler 7% longer.
asan_flags = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
tsan_flags = -fsanitize=thread -fno-omit-frame-pointer
asan = BUILD=build/asan CC=$(SAN_CC) CXX=$(SAN_CC)++ SANITIZE='$(asan_flags)' CFLAGS='-O1 -g1' slower=5
tsan = BUILD=build/tsan CC=$(SAN_CC) SANITIZE='$(tsan_flags)' CFLAGS='-O1 -g1' slower=10
# A branch counts once, where it stands, and not once more in each function that is always to have it inline. A child goes on
# counting where its parent was: gcc's own fork begins anew, behind what pthread_atfork has run in it.
coverage = BUILD=build/coverage CC=gcc CXX=g++ SANITIZE='--coverage -fprofile-update=atomic' \
    CFLAGS='-O0 -g -Dalways_inline=unused -fno-builtin-fork' slower=5
thread_suites = idgen_race env queue executor sim segment settled reference log commits large calls link keys lock_file \
    trim_readers guard mapped lookup cache_threads follow split_apart pieces refused tabling seats

.PHONY: test-asan
test-asan: ## runs the tests under the address and undefined-behaviour sanitizers
	@scripts/setup test
	@$(MAKE) $(parallel) $(asan) leave_out='$(checks_of_text)' run-tests

.PHONY: test-tsan
test-tsan: ## runs the tests that have threads in them under the thread sanitizer
	@scripts/setup test
	@$(MAKE) $(parallel) $(tsan) TEST_SUITE='$(thread_suites)' side_programs= run-tests

.PHONY: coverage
coverage: ## runs the tests in a build that counts: the share of format/ and engine/ that has run, by room, against the bounds in tests/UNCOVERED
	@scripts/setup test
	@$(MAKE) $(parallel) $(coverage) begin-coverage
	@failed=0; $(MAKE) $(parallel) $(coverage) leave_out='zk $(checks_of_text)' run-tests || failed=1; \
	scripts/coverage build/coverage || failed=1; exit $$failed

# All counters exist, are zero, and may be written by tests that run as another user.
.PHONY: begin-coverage
begin-coverage: $(BUILD)/u9tests $(tools)
	@find $(BUILD)/obj -name '*.gcda' -delete
	@for p in $(tools); do $$p --version; done >/dev/null; $(BUILD)/u9tests --list >/dev/null
	@find $(BUILD)/obj -name '*.gcda' -exec chmod a+rw {} +

# Outside CI: it takes a while. MUTANT=id (some ids) for some of them, MUTANT=--check looks whether the list fits the sources.
.PHONY: mutants run-mutants
mutants: ## minutes: puts each bug of tests/mutants.list into a copy of the sources, or MUTANT=ids; the tests must find it
	@scripts/setup test
	@$(MAKE) $(parallel) run-mutants

run-mutants: $(BUILD)/u9tests $(tools)
	@scripts/mutants $(if $(filter --check,$(MUTANT)),,$(BUILD)) $(MUTANT)

.PHONY: test-long
test-long: ## what takes minutes, and 12 GiB of disk: all that suites draw; a record of 5 GiB through all tools; the index of 100 million
	@scripts/setup test
	@$(MAKE) $(parallel) all
	@U9_LONG=1 $(MAKE) $(parallel) slower=10 TEST_IO=posix TEST_SUITE='$(drawing)' run-tests
	@mkdir -p $(BUILD)/tmp/long
	@tests/tools/long_large.sh $(BUILD) $(BUILD)/tmp/long
	@tests/tools/long_index.sh $(BUILD) $(BUILD)/tmp/long

# The engine above the simulated disk. One seed is one script; a script that fails says how it is repeated, and which is
# the shortest that still fails. A case has three sessions, about: 340,000 of them a million.
SEED ?= 1
CASES ?= 5000
sim_long_cases ?= 340000
sim_jobs = $(shell seq 0 $$(($$(nproc) - 1)))
.PHONY: sim sim-long run-sim run-sim-long
sim: ## plays CASES (5000) scripts from SEED (1) on above the simulated disk, or SCRIPT='steps', with the oracle
	@scripts/setup test
	@$(MAKE) $(parallel) run-sim

run-sim: $(BUILD)/u9tests
	@mkdir -p $(BUILD)/tmp
	@env $(test_env) U9_SIM_SEED='$(SEED)' U9_SIM_CASES='$(CASES)' U9_SIM_SCRIPT='$(SCRIPT)' $(plain_space) $(BUILD)/u9tests script

sim-long: ## minutes: a million sessions above the simulated disk, from SEED on; every torn state of the short scripts
	@scripts/setup test
	@$(MAKE) $(parallel) run-sim-long

run-sim-long: $(BUILD)/u9tests
	@mkdir -p $(BUILD)/tmp
	@env $(test_env) U9_SIM_LONG=1 $(plain_space) $(BUILD)/u9tests states
	@pids=; for i in $(sim_jobs); do \
	    env $(test_env) U9_SIM_SEED=$$(($(SEED) + i * $(sim_long_cases))) U9_SIM_CASES=$$(($(sim_long_cases) / $$(nproc))) \
	        $(plain_space) $(BUILD)/u9tests script & pids="$$pids $$!"; \
	done; failed=0; for p in $$pids; do wait $$p || failed=1; done; exit $$failed

# On each io table: verbs until KILLS / 2 were killed at one of their calls, power cuts in POWER sessions of a writer, and at a tenth as
# many calls as are killed. Needs strace; power cuts need root and a file system that may be mounted.
KILLS ?= 2000
POWER ?= 200
.PHONY: kill-long run-kill-long
kill-long: ## an hour: KILLS (2000) kills of every verb that writes, POWER (200) power cuts
	@scripts/setup test
	@$(MAKE) $(parallel) run-kill-long

run-kill-long: $(tools)
	@mkdir -p $(BUILD)/tmp; failed=0; for io in posix uring; do \
	    echo "io table $$io:"; \
	    env $(test_env) U9_IO=$$io KILLS=$$(($(KILLS) / 2)) tests/tools/test_kill.sh $(BUILD) $(BUILD)/tmp || failed=1; \
	    env $(test_env) U9_IO=$$io KILL_VICTIMS= KILLS=$$(($(KILLS) / 10)) POWER=$$(($(POWER) / 2)) \
	        tests/tools/test_power.sh $(BUILD) $(BUILD)/tmp || failed=1; \
	done; exit $$failed

.PHONY: test-zk
test-zk: ## runs the tests of libu9-zk against a ZooKeeper server of their own, on loopback
	@scripts/setup test
	@$(MAKE) $(parallel) TEST_SUITE=zk run-tests

# Suites of the engine that are run above RADOS, too: what is about logs as they are written and read, without a file
# system's own names and attributes; tests that ask for the simulated disk end where they do. Those that take longer: with
# U9_LONG in the environment.
rados_suites = follow link writer live commits locks cursor seek trim trim_kept salvage merge large calls seals tails segment \
    reference keys succession hostile trim_readers salvage_reading lock_file misuse fences budget key_tables \
    cache_threads
rados_suites_long = damage split pieces mark snapshot recovery range witness parts told cache ship ship_large repair plain reasons mend \
    lookup index_file index_forged tabling index_parts carve in_place directory
rados_env = env $(test_env) U9_TEST_DIR=$(abspath $(BUILD))/tmp/rados
rados_tests = mkdir -p $(BUILD)/tmp/rados && $(rados_env) $(BUILD)/u9radostests && \
    $(rados_env) tests/rados/test_engine.sh $(BUILD) $(BUILD)/tmp/rados $(rados_suites) $(if $(U9_LONG),$(rados_suites_long)) && \
    $(rados_env) tests/rados/test_failures.sh $(BUILD) $(BUILD)/tmp/rados
.PHONY: test-rados run-test-rados
test-rados: ## runs the tests of libu9-rados against a Ceph cluster of their own, on loopback; U9_LONG=1: all, an hour; U9_RADOS_ROUNDS=n
	@[ '$(RADOS)' = 0 ] || scripts/setup rados || true
	@scripts/setup test
	@$(MAKE) $(parallel) run-test-rados

run-test-rados: $(BUILD)/rados_model $(if $(rados),$(BUILD)/u9radostests $(BUILD)/u9tests $(tools) $(rados_libs))
	@$(BUILD)/rados_model
	$(if $(rados),,@echo 'rados: SKIPPED: librados-dev is not installed (or RADOS=0)')
	$(if $(rados),@if why=$$(scripts/rados here 2>&1); then $(rados_tests); else echo "rados: SKIPPED: $${why#rados: }"; fi)

# What is in S3 is tried on a small server of the tests' own (tests/s3/server.py), and then on a radosgw, where that is.
.PHONY: test-s3 run-test-s3
test-s3: ## runs the tests of libu9-s3 on a server of their own, and on a Ceph object gateway on loopback; U9_S3_RADOSGW=0: without that
	@[ '$(S3)' = 0 ] || scripts/setup s3 || true
	@scripts/setup test
	@$(MAKE) $(parallel) run-test-s3

run-test-s3: $(if $(s3),$(BUILD)/u9s3reads $(tools) $(s3_libs) $(examples))
	$(if $(s3),,@echo 's3: SKIPPED: libcurl4-openssl-dev is not installed (or S3=0)')
	$(if $(s3),@mkdir -p $(BUILD)/tmp/s3)
	$(if $(s3),@env $(test_env) tests/s3/test_tier.sh $(BUILD) $(BUILD)/tmp/s3)
	$(if $(s3),$(if $(filter 0,$(U9_S3_RADOSGW)),,@env $(test_env) U9_S3_SERVER=radosgw tests/s3/test_tier.sh $(BUILD) $(BUILD)/tmp/s3))

.PHONY: test-mpi run-test-mpi
test-mpi: ## runs the example of MPI on logs that are here, in S3 and in a Ceph pool, on one host and on two network namespaces
	@[ '$(MPI)' = 0 ] || scripts/setup mpi || true
	@[ '$(S3)' = 0 ] || scripts/setup s3 || true
	@[ '$(RADOS)' = 0 ] || scripts/setup rados || true
	@scripts/setup test
	@$(MAKE) $(parallel) run-test-mpi

run-test-mpi: $(tools) $(s3_libs) $(rados_libs) $(examples)
	@mkdir -p $(BUILD)/tmp/mpi
	@env $(test_env) tests/mpi/test_mpi.sh $(BUILD) $(BUILD)/tmp/mpi

# The jobs of scripts/run_tests: suites of u9tests, tests/tools/test_*.sh, zk, and the checks of the tree.
# The io tables differ in how a writer opens a file and in its queue, in nothing else: on both tables runs
# what is about these two, about a log while it is written, and about tools that write, ship and are killed.
# All else runs on posix alone. TEST_IO=... runs everything on the tables that it names.
both_io = env queue log commits reference heap test_ship test_follow test_kill test_power
# What tries more with U9_LONG in the environment: tests/thorough.h.
drawing = $(patsubst test_%.c,%,$(filter test_%.c,$(notdir $(shell grep -l tests/thorough.h $(test_src))))) test_trouble
# What takes seconds, the longest first; `make check-quick` leaves it out.
long = zk hardship test_cli test_manual test_next mend test_contrib test_trouble test_kill test_bench test_power test_examples test_follow \
    index_file test_ship recovery cache index_forged writer golden_logs ship_large large snapshot test_split states commits damage test_id \
    test_completion hash trim repair script idgen_race check-cxx test_value space range ship link lock_file locks \
    test_kinds test_mark test_mark_line test_narrow settled unreadable trim_kept test_snapshot test_index lookup follow test_trim split \
    split_apart parts power faults
checks_of_text = check-embed check-install check-names check-layers check-symbols check-spec check-faults check-mutants check-headers

test_names = $(call once,test_names,zk check-cxx $(checks_of_text) $(patsubst tests/tools/%.sh,%,$(wildcard tests/tools/test_*.sh)) \
    $(shell $(BUILD)/u9tests --list))
misnamed = $(filter-out $(test_names),$(both_io) $(long) $(TEST_SUITE))
chosen = $(filter-out $(leave_out) $(if $(zk),,zk) $(if $(SANITIZE),test_bench test_completion test_contrib test_kill test_manual test_power),$(or $(TEST_SUITE),$(test_names)))
job_kind = $(if $(filter test_%,$(1)),shell,suite)
job_io = $(or $(TEST_IO),posix $(if $(filter $(1),$(both_io)),uring))
jobs = $(foreach t,$(filter $(chosen),$(long)) $(filter-out $(long),$(chosen)),$(if $(filter zk,$(t)),zk:zk, \
    $(if $(filter check-%,$(t)),make:$(t),$(foreach io,$(call job_io,$(t)),$(call job_kind,$(t)):$(t)@$(io)))))

# Tests find their scratch folder in U9_TEST_DIR and the tools in U9_BIN_DIR. They run in the root
# of the tree. A test that takes a minute hangs; `slower` stretches that. Sanitizers want a plain address
# space.
slower ?= 1
plain_space = $(if $(SANITIZE),$(shell setarch -R true 2>/dev/null && echo setarch -R))
test_env = TMPDIR=$(abspath $(BUILD))/tmp U9_TEST_DIR=$(abspath $(BUILD))/tmp \
    U9_BIN_DIR=$(abspath $(BUILD)) CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=$(slower) \
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=16 \
    UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0

# What of the jobs is not in u9tests. With sanitizers there is no u9bench, and no test_bench.
side_programs = $(examples) $(if $(zk),$(BUILD)/u9zktests) $(BUILD)/u9hpp $(if $(SANITIZE),,$(BUILD)/u9bench)

.PHONY: run-tests
run-tests: $(BUILD)/u9tests $(BUILD)/probe_uring $(side_programs) $(tools) $(libs) $(zk_libs) $(if $(SANITIZE),,$(rados_libs) $(s3_libs))
	$(if $(misnamed),@echo 'u9: there are no such tests: $(misnamed)' >&2; exit 1)
	$(if $(zk),,@echo 'zk: SKIPPED: libzookeeper-mt-dev is not installed (or ZOOKEEPER=0)')
	@env $(test_env) TEST_WRAP='$(plain_space)' scripts/run_tests $(BUILD) $(jobs)

# u9.hpp, from a program of its own.
.PHONY: check-cxx
check-cxx: $(BUILD)/u9hpp
	@rm -rf $(BUILD)/tmp/cxx; mkdir -p $(BUILD)/tmp/cxx
	@env $(test_env) $(plain_space) $(BUILD)/u9hpp $(BUILD)/tmp/cxx

$(BUILD)/u9hpp: tests/cxx/test_hpp.cc include/u9.hpp $(headers) $(BUILD)/libu9.a
	$(call say,LINK) $(CXX) -std=c++17 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -Iinclude \
	    $(CFLAGS) $(SANITIZE) -pthread -o $@ $< $(BUILD)/libu9.a $(lib_libs)

.PHONY: check-embed
check-embed: $(libs) # the examples of README and docs/embed.md compile and run, as C and as C++
	@mkdir -p $(BUILD)/tmp/embed
	@tests/embed/test_embed.sh $(BUILD) $(BUILD)/tmp/embed

.PHONY: check-install
check-install: all # what is installed is found, compiles and links, wherever it goes
	@mkdir -p $(BUILD)/tmp/install
	@tests/embed/test_install.sh $(BUILD) $(BUILD)/tmp/install

.PHONY: check-scripts check-layers check-names check-symbols check-spec check-vectors check-faults check-mutants check-headers
check-scripts: check-layers check-names check-symbols check-spec check-vectors check-faults check-mutants check-headers ## layers, names, rules of the specification and its examples, cases of tests/FAULTS.md, lines of the mutants, headers

check-layers:
	@scripts/check_layers

check-names:
	@scripts/check_names

check-symbols: $(libs) $(zk_libs) $(rados_libs) $(s3_libs)
	@NM='$(NM)' scripts/check_symbols $(BUILD) $(if $(zk),zk) $(if $(rados),rados) $(if $(s3),s3)

check-spec:
	@scripts/check_spec

check-vectors:
	@scripts/vectors --check

check-faults:
	@scripts/check_faults

check-mutants:
	@scripts/mutants --check

# Each public header stands alone, in C11 and in C++17. What is there for other processors compiles, too.
check-headers: | need-build
	@set -eu; for h in $(headers:include/%=%); do \
	    echo "#include <$$h>" | $(CC) -std=c11 -pedantic $(warnings) -Werror -Iinclude -fsyntax-only -x c -; \
	    echo "#include <$$h>" | $(CXX) -std=c++17 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
	        -Iinclude -fsyntax-only -x c++ -; \
	done; \
	for f in $$(grep -rl --include='*.c' '^#if U9I_X86' format); do \
	    $(CC) $(room_format) $(warnings) -Werror -I. -Iinclude -DU9I_PORTABLE -fsyntax-only $$f; \
	done; echo "check-headers: ok ($(words $(headers)) headers)"

# ---- Python: build/.../python is a folder for PYTHONPATH ----
python_built = $(BUILD)/python/u9/_u9.abi3.so $(python_plain:python/%=$(BUILD)/python/%)
python_tested = $(if $(python_headers),$(shell $(PYTHON) -c 'import pytest' 2>/dev/null && echo 1))
python_is_here = $(if $(python_headers),,@echo 'python: SKIPPED: python3-dev is not installed (or PYTHON=0)')

.PHONY: python run-python test-python run-test-python install-python
python: ## builds the Python package u9 into build/release/python
	@[ '$(PYTHON)' = 0 ] || scripts/setup python || true
	@$(MAKE) $(parallel) run-python

run-python: $(if $(filter run-python run-test-python install-python,$(MAKECMDGOALS)),$(if $(python_headers),$(python_built)))
	$(python_is_here)

$(BUILD)/python/u9/_u9.abi3.so: $(call obj,$(python_src)) $(BUILD)/libu9.so
	@mkdir -p $(@D)
	$(call say,LINK) $(link) -shared -o $@ $(call obj,$(python_src)) -L$(BUILD) -lu9

$(BUILD)/python/u9/%: python/u9/%
	@mkdir -p $(@D)
	$(call say,CP  ) cp $< $@

# The tests run on the package as it is installed, below the build folder.
python_env = env $(test_env) PYTHONPATH=$(abspath $(BUILD))/python-root/lib/python \
    LD_LIBRARY_PATH=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 U9_ROOT=$(CURDIR)
test-python: ## installs the Python package below build/release and runs its tests; PYTEST_ARGS='-k damage'
	@[ '$(PYTHON)' = 0 ] || scripts/setup python || true
	@scripts/setup build
	@$(MAKE) $(parallel) run-test-python

run-test-python: run-python $(tools)
ifneq ($(filter run-test-python,$(MAKECMDGOALS)),)
	$(if $(python_headers),$(if $(python_tested),,@echo 'python: tests SKIPPED: python3-pytest is not installed'))
	$(if $(python_tested),@rm -rf $(BUILD)/python-root $(BUILD)/tmp/python; mkdir -p $(BUILD)/tmp/python)
	$(if $(python_tested),@$(MAKE) DESTDIR= PYTHONDIR=$(abspath $(BUILD))/python-root/lib/python install-python >/dev/null)
	$(if $(python_tested),@$(python_env) $(PYTHON) -X dev -W error -m pytest -q -p no:cacheprovider \
	    --basetemp=$(BUILD)/tmp/python/t $(PYTEST_ARGS) python/tests)
endif

# PYTHONDIR: where Debian's Python looks for what was not installed by a package; packages give /usr/lib/python3/dist-packages.
PYTHONDIR ?= $(PREFIX)/lib/python$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')/dist-packages
python_info = $(DESTDIR)$(PYTHONDIR)/u9-$(VERSION).dist-info
install-python: run-python ## installs the Python package below DESTDIR into PYTHONDIR; it needs libu9.so, which install puts there
	$(if $(python_headers),$(INSTALL) -d $(DESTDIR)$(PYTHONDIR)/u9 $(python_info))
	$(if $(python_headers),$(INSTALL) -m 644 $(python_built) $(DESTDIR)$(PYTHONDIR)/u9)
	$(if $(python_headers),@printf 'Metadata-Version: 2.1\nName: u9\nVersion: %s\nSummary: append-only record log\n' \
	    '$(VERSION)' >$(python_info)/METADATA)

.PHONY: fuzz run-fuzz
fuzz: ## runs each fuzz target for FUZZ_SECONDS (30), as many at once as there are processors
	@scripts/setup test
	@$(MAKE) $(parallel) BUILD=build/fuzz CC=clang CFLAGS='-O1 -g1' \
	    SANITIZE='-fsanitize=fuzzer-no-link $(asan_flags)' run-fuzz

# Most of what a fuzzer of files does is hashing, and trying what may have stood in a damaged frame, a million times a
# file: there is nothing to be learnt from the comparisons there, and the hashes have no bugs to be found in this way.
fuzz_hashes = $(patsubst %.c,build/fuzz/obj/%.o,$(wildcard format/base/hash*.c))
fuzz_tries = $(patsubst %,build/fuzz/obj/%.o,engine/segment/mend engine/segment/rejoin format/frame/frame format/frame/disk)
$(fuzz_hashes): override SANITIZE :=
$(fuzz_hashes): override CFLAGS := -O2 -g1
$(fuzz_tries): override SANITIZE += -fno-sanitize-coverage=trace-cmp

run-fuzz: $(fuzz_names:%=run-%)
	@echo "fuzz: ok ($(words $(fuzz_names)) targets, $(FUZZ_SECONDS) s each)"

# One line, or an identifier, is soon gone through: they run for a third of the time.
fuzz_short = cursor_line id mark_line s3_answer tier_list

# They start from fuzz/corpus/NAME, which is copied: what the fuzzer finds stays in the build folder.
# For fuzz/fuzz_frame.c: fuzz/corpus/frame/ and, if there is one, fuzz/frame.dict: what the specification names.
.PHONY: $(fuzz_names:%=run-%)
$(fuzz_names:%=run-%): run-fuzz_%: $(BUILD)/fuzz_%
	@set -eu; c=$(BUILD)/corpus/$*; found=$(BUILD)/found/$*; log=$(BUILD)/$*.log; \
	mkdir -p $$c $$found $(BUILD)/tmp; \
	if [ -d fuzz/corpus/$* ]; then cp -R fuzz/corpus/$*/. $$c; fi; \
	if env $(test_env) $(plain_space) $< -max_total_time=$(if $(filter $*,$(fuzz_short)),$$((($(FUZZ_SECONDS) + 2) / 3)),$(FUZZ_SECONDS)) -timeout=60 -rss_limit_mb=2048 \
	    -artifact_prefix=$$found/ -print_final_stats=1 \
	    $(if $(wildcard fuzz/$*.dict),-dict=fuzz/$*.dict) $(FUZZ_ARGS) $$c >$$log 2>&1; then \
	    echo "fuzz $*: ok, $$(sed -n 's/^stat::number_of_executed_units: *//p' $$log) runs," \
	        "$$(ls $$c | wc -l) files in the corpus"; \
	else \
	    tail -n 60 $$log >&2; \
	    for f in $$found/*; do echo "$$f, compressed:"; gzip -9 <$$f | base64; done >&2; \
	    grep -aE 'does not hold|Assertion|runtime error|ERROR: ' $$log >&2 || true; \
	    echo "fuzz $*: FAILED, the whole story is in $$log, the input in $$found" >&2; exit 1; \
	fi

.PHONY: bench
bench: $(BUILD)/u9bench ## builds u9bench and runs it with BENCH_ARGS (append commit) in build/release/bench
	@mkdir -p $(BUILD)/bench
	cd $(BUILD)/bench && $(abspath $(BUILD))/u9bench $(or $(BENCH_ARGS),append commit)

.PHONY: bench-python
bench-python: ## records in Python, beside rows of its sqlite3 module, in one run; BENCH_ARGS='-n 300000 -r 9'
	@scripts/setup python
	@$(MAKE) $(parallel) run-python
	@mkdir -p $(BUILD)/bench
	@LD_LIBRARY_PATH=$(BUILD) PYTHONPATH=$(BUILD)/python $(PYTHON) bench/python_scan.py $(BENCH_ARGS) $(BUILD)/bench

# The page in 40 minutes at most: a round is only begun if it is likely to end within 38.
.PHONY: bench-all
bench-all: ## measures all, beside peers and floors, in 40 minutes at most: a page, JSON, Markdown, a plot
	@[ '$(PEERS)' = 0 ] || scripts/setup bench || echo 'bench-all: goes on without the peers that are not here' >&2
	@$(MAKE) $(parallel) $(BUILD)/u9bench
	@mkdir -p $(BUILD)/bench
	U9BENCH_COMMIT=$$(git describe --always --dirty 2>/dev/null) $(BUILD)/u9bench --minutes 38 -d $(BUILD)/bench \
	    --html $(BUILD)/bench/u9bench.html --json $(BUILD)/bench/u9bench.json \
	    --markdown $(BUILD)/bench/RESULTS.md --plot $(BUILD)/bench/results.svg $(BENCH_ARGS)
	@echo "bench-all: see $(BUILD)/bench/u9bench.html; to keep it: cp $(BUILD)/bench/RESULTS.md $(BUILD)/bench/results.svg bench/"

.PHONY: format-check
format-check: ## compares the sources with .clang-format (optional; needs clang-format)
	@if command -v clang-format >/dev/null; then \
	    clang-format --dry-run -Werror $(headers) $(call find,format engine tools bench tests zk rados s3 fuzz python,*.h) $(lib_src) $(u9_src) $(wildcard tools/fsck*.c) $(bench_src) $(test_src) \
	        $(fuzz_src) $(zk_src) $(zktest_src) $(rados_src) $(radostest_src) $(s3_src) $(s3test_src) $(python_src); \
	else echo "format-check: clang-format is not installed: skipped"; fi

bindir = $(DESTDIR)$(BINDIR)
libdir = $(DESTDIR)$(LIBDIR)
incdir = $(DESTDIR)$(INCLUDEDIR)
docdir = $(DESTDIR)$(DOCDIR)
mandir = $(DESTDIR)$(MANDIR)
# All of man/, in sections; a face of a library that is not built has no page. Each function leads to the page that names it.
man := $(filter-out $(if $(zk),,man/libu9_zk.3) $(if $(rados),,man/libu9_rados.3) $(if $(s3),,man/libu9_s3.3),$(wildcard man/*.[1-8]))
man_sections = $(sort $(patsubst .%,%,$(suffix $(man))))
man_links = sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \(u9_[a-z0-9_]*\).*/\1/p'
# Where the shells of Debian and others look for completions, FILE:PLACE; that of bash is looked for by the command's name.
completions = u9.bash:bash-completion/completions/u9 u9.bash:bash-completion/completions/u9fsck \
    u9.bash:bash-completion/completions/u9bench _u9:zsh/site-functions/_u9 u9.fish:fish/vendor_completions.d/u9.fish \
    u9.fish:fish/vendor_completions.d/u9fsck.fish u9.fish:fish/vendor_completions.d/u9bench.fish
sharedir = $(DESTDIR)$(DATADIR)
documents := README.md CHANGELOG.md SPEC.md SPEC-values.md $(if $(rados),SPEC-rados.md) SPEC-s3.md
pages := $(wildcard docs/*)
so_version := $(if $(filter 0.%,$(VERSION)),$(VERSION),0.$(VERSION))
installed_libs := libu9 $(if $(zk),libu9-zk) $(if $(rados),libu9-rados) $(if $(s3),libu9-s3)
installed_pc := $(installed_libs:lib%=$(libdir)/pkgconfig/%.pc)
installed_headers := $(filter-out $(if $(zk),,include/u9/zk.h) $(if $(rados),,include/u9/rados.h) $(if $(s3),,include/u9/s3.h),$(filter include/u9/%,$(headers)))

# A folder as a pkg-config file names it: below its prefix where it is there, so that both can be moved.
below_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
define pc_folders
prefix=$(PREFIX)
libdir=$(call below_prefix,$(LIBDIR))
includedir=$(call below_prefix,$(INCLUDEDIR))
endef

define u9_pc
$(pc_folders)

Name: u9
Description: append-only record log
Version: $(VERSION)
Requires.private: $(lib_packages)
Libs: -L$${libdir} -lu9
Libs.private: -pthread
Cflags: -I$${includedir}
endef
export u9_pc

define u9_zk_pc
$(pc_folders)

Name: u9-zk
Description: generator numbers for eight-byte identifiers, claimed through ZooKeeper
Version: $(VERSION)
Requires: u9
Libs: -L$${libdir} -lu9-zk
Libs.private: $(zk_client) -pthread
Cflags: -I$${includedir}
endef
export u9_zk_pc

define u9_rados_pc
$(pc_folders)

Name: u9-rados
Description: record logs on the objects of a Ceph pool
Version: $(VERSION)
Requires: u9
Libs: -L$${libdir} -lu9-rados
Libs.private: -lrados -pthread
Cflags: -I$${includedir}
endef
export u9_rados_pc

define u9_s3_pc
$(pc_folders)

Name: u9-s3
Description: record logs whose sealed segments are in S3
Version: $(VERSION)
Requires: u9
Requires.private: libcurl libcrypto
Libs: -L$${libdir} -lu9-s3
Libs.private: -pthread
Cflags: -I$${includedir}
endef
export u9_s3_pc

.PHONY: install
install: all $(installed_libs:%=install-%) ## installs below DESTDIR and PREFIX (/usr/local), or BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR
	$(INSTALL) -d $(bindir) $(incdir)/u9 $(docdir)/docs
	$(INSTALL) -m 644 include/u9.h include/u9.hpp $(incdir)
	$(INSTALL) -m 644 $(installed_headers) $(incdir)/u9
	$(INSTALL) -m 644 $(documents) $(docdir)
	$(INSTALL) -m 644 $(pages) $(docdir)/docs
	$(if $(tools),$(INSTALL) -m 755 $(tools) $(bindir))
	@$(MAKE) install-manual
	@[ -n "$(DESTDIR)" ] || echo "u9: to link the shared library, run \`ldconfig\` (as root) once"

# Each library: the archive, the file, its two names, and what pkg-config is told of it.
.PHONY: $(installed_libs:%=install-%)
$(installed_libs:%=install-%): install-%: all
	$(INSTALL) -d $(libdir)/pkgconfig
	$(INSTALL) -m 644 $(BUILD)/$*.a $(libdir)
	$(INSTALL) -m 755 $(BUILD)/$*.so.0 $(libdir)/$*.so.$(so_version)
	ln -sf $*.so.$(so_version) $(libdir)/$*.so.0
	ln -sf $*.so.0 $(libdir)/$*.so
	@echo "writing $(libdir)/pkgconfig/$(*:lib%=%).pc"
	@printenv $(subst -,_,$(*:lib%=%))_pc >$(libdir)/pkgconfig/$(*:lib%=%).pc
	@chmod 644 $(libdir)/pkgconfig/$(*:lib%=%).pc

.PHONY: install-manual
install-manual: # and the completions
	$(INSTALL) -d $(addprefix $(mandir)/man,$(man_sections))
	@set -eu; $(foreach s,$(man_sections),$(INSTALL) -m 644 $(filter %.$(s),$(man)) $(mandir)/man$(s);) \
	for page in $(filter %.3,$(man)); do \
	    for name in $$($(man_links) $$page); do ln -sf $${page#man/} $(mandir)/man3/$$name.3; done; \
	done; \
	for at in $(completions); do \
	    $(INSTALL) -D -m 644 tools/completion/$${at%%:*} $(sharedir)/$${at#*:}; \
	done; echo "manual: $(words $(man)) pages in $(mandir)"

.PHONY: manual docs
manual: $(tools) $(BUILD)/u9bench ## puts into man/ and tools/completion/ anew what is made from the tools, the headers and examples
	@scripts/manual write $(BUILD)

docs: ## the manual as HTML in build/release/docs (needs mandoc)
	@scripts/docs $(BUILD)/docs

.PHONY: uninstall
uninstall: ## removes what install put there (same DESTDIR, PREFIX and so on)
	rm -f $(headers:include/%=$(incdir)/%) $(incdir)/u9.hpp $(documents:%=$(docdir)/%) $(pages:%=$(docdir)/%) $(bindir)/u9 $(bindir)/u9fsck \
	    $(foreach l,$(installed_libs),$(libdir)/$l.a $(libdir)/$l.so.$(so_version) \
	    $(libdir)/$l.so.0 $(libdir)/$l.so $(libdir)/pkgconfig/$(l:lib%=%).pc)
	rm -f $(foreach page,$(man),$(mandir)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))) \
	    $$($(man_links) $(man) | sed 's|.*|$(mandir)/man3/&.3|') \
	    $(foreach at,$(completions),$(sharedir)/$(lastword $(subst :, ,$(at))))
	@for d in $(incdir)/u9 $(docdir)/docs $(docdir); do [ ! -d $$d ] || rmdir $$d; done

# From the newest commit alone; times and order are the commit's and git's, so it is the same bytes wherever it is made.
.PHONY: dist
dist: ## build/u9-VERSION.tar.gz: what is committed; it builds, and passes check-quick, without git
	@scripts/dist $(VERSION)

.PHONY: packages multiarch other-machines abi check-abi
packages: ## Debian packages in build/packages/here, built twice and compared, with lintian, their tests, and a clean Debian 12 to install on
	@scripts/setup packages
	@scripts/packages
	@scripts/first_use

multiarch: ## those of amd64 that `make packages` made, and those of i386, made here, installed side by side: four minutes
	@scripts/setup packages
	@scripts/multiarch

other-machines: $(tools) ## a big-endian build under an emulator, and one with 32 bits: the same bytes, and they read ours; U9_LONG=1: a record of 4 GiB
	@scripts/setup cross
	@scripts/other_machines

check-abi: $(libs) ## libu9.so against the dump of its interface in engine/libu9.abi.gz
	@scripts/check_abi $(BUILD)

abi: $(libs) # makes that dump anew, once what changed is meant and CHANGELOG.md says it
	@scripts/check_abi $(BUILD) --write

.PHONY: clean
clean: ## removes build/
	rm -rf build

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'variables: BUILD CC SAN_CC CPPFLAGS CFLAGS LDFLAGS WERROR=1 V=1 SHARED=1 ZOOKEEPER=0 RADOS=0 S3=0 PEERS=0 CONVERTERS=0'
	@echo '           PYTHON=0'
	@echo '           DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR'
	@echo '           FUZZ_SECONDS FUZZ_ARGS BENCH_ARGS TEST_SUITE=names TEST_IO="posix uring" TEST_JOBS=n'
	@echo '           SEED=n CASES=n SCRIPT=steps MUTANT=ids'
