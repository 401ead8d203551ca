"""The GIL is let go of around what reads and writes: while one thread is within a call of the system, another runs."""
import os
import shutil
import subprocess
import sys
import threading

import pytest
import u9

# For LD_PRELOAD: the next call of the system that the thread which called gate_arm makes for a log waits at a gate, until another
# thread opens it.
GATE = r"""
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

static sem_t within, opened;
static _Thread_local int armed;

__attribute__((constructor)) static void begin(void)
{
    sem_init(&within, 0, 0);
    sem_init(&opened, 0, 0);
}

void gate_arm(void)
{
    armed = 1;
}

/* True if it is armed still, and not any more. */
int gate_disarm(void)
{
    int was = armed;
    armed = 0;
    if (was) sem_post(&within);
    return was;
}

/* Waits until a thread is at the gate, or was disarmed. */
void gate_wait(void)
{
    while (sem_wait(&within) != 0 && errno == EINTR) continue;
}

void gate_open(void)
{
    sem_post(&opened);
}

static void pass(void)
{
    if (!armed) return;
    armed = 0;
    sem_post(&within);
    while (sem_wait(&opened) != 0 && errno == EINTR) continue;
}

#define GATED(type, name, declared, given)                                  \
    type name declared;                                                     \
    type name declared                                                      \
    {                                                                       \
        type(*real) declared = (type(*) declared)dlsym(RTLD_NEXT, #name);   \
        pass();                                                             \
        return real given;                                                  \
    }
GATED(ssize_t, pread, (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
GATED(ssize_t, pread64, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
GATED(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
GATED(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
GATED(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t o, int f), (fd, v, n, o, f))
GATED(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t o, int f), (fd, v, n, o, f))
GATED(int, fdatasync, (int fd), (fd))
GATED(int, fsync, (int fd), (fd))
GATED(int, openat, (int fd, const char *p, int f, mode_t m), (fd, p, f, m))
GATED(int, openat64, (int fd, const char *p, int f, mode_t m), (fd, p, f, m))
GATED(int, fallocate, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
GATED(int, fallocate64, (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
"""

# Runs under that. Each deed is done by a thread that waits in its first call of the system until this one, which needs the
# GIL for that, opens the gate. Held all the time it would be for good: then a minute ends it.
SCRIPT = """
import ctypes, faulthandler, sys, threading
import u9

gate = ctypes.CDLL(None)
place = sys.argv[1]

def waits(deed, meanwhile=lambda: None):
    def run():
        gate.gate_arm()
        try:
            deed()
        except BaseException as error:
            failed.append(error)
        if gate.gate_disarm() and not failed:
            failed.append("it calls nobody")
    failed = []
    thread = threading.Thread(target=run)
    thread.start()
    gate.gate_wait()
    meanwhile()
    gate.gate_open()
    thread.join()
    if failed:
        raise SystemExit(failed)

faulthandler.dump_traceback_later(60, exit=True)
%s
"""

MADE = """
with u9.open(place, "c", io="posix") as log:
    first = log.append("one")
    for i in range(1000):
        log.append(i, "a" * 100)
"""
READ = MADE + "log = u9.open(place, io='posix')\n"
WRITE = "log = u9.open(place, 'c', io='posix')\nat = log.append(1)\n"

DEEDS = {
    "open": MADE + "waits(lambda: u9.open(place, io='posix').close())",
    "open to write": MADE + "waits(lambda: u9.open(place, 'w', io='posix').close())",
    "open anew": "waits(lambda: u9.open(place, 'c', io='posix').close())",
    "close": WRITE + "waits(log.close)",
    "append that needs space": WRITE + "waits(lambda: [log.append(bytes(1 << 20)) for _ in range(40)])",
    "a batch": WRITE + "def batches():\n  for _ in range(5):\n    with u9.Batch(log) as b: b.append(bytes(5 << 20))\nwaits(batches)",
    "a record in pieces": WRITE + "writing = log.begin(1, 1 << 25)\nwriting.head('bytes', (1 << 25) - 5)\n"
                                  "waits(lambda: [writing.write(bytes(1 << 20)) for _ in range(31)])\nwriting.close()",
    "commit": WRITE + "waits(lambda: log.commit(at))",
    "sync": WRITE + "waits(log.commit)",
    "iterate": READ + "waits(lambda: list(log))",
    "iterate backwards": READ + "waits(lambda: list(reversed(log)))",
    "values": READ + "waits(lambda: list(log.values()))",
    "raw": READ + "waits(lambda: list(log.raw()))",
    "an ordinal": READ + "waits(lambda: log[500])",
    "a slice": READ + "waits(lambda: list(log[10:20]))",
    "get": READ + "waits(lambda: log.get(first.key))",
    "in": READ + "waits(lambda: first.key in log)",
    "get_many": READ + "waits(lambda: log.get_many([first.key]))",
    "versions": READ + "waits(lambda: log.versions(first.key))",
    "splits": READ + "waits(lambda: log.splits(2))",
    "range": READ + "split = log.splits(1)[0]\nwaits(lambda: list(log.range(split)))",
    "read": READ + "record = log[0]\nwaits(lambda: log.read(record).read(0, 1))",
    "snapshot": READ + "waits(lambda: log.snapshot(place + '.copy'))",
    "trim": WRITE + "waits(lambda: log.trim(keep_bytes=1))",
    "check": MADE + "waits(lambda: u9.check(place, threads=1, io='posix'))",
    "salvage": MADE + "waits(lambda: u9.salvage(place, place + '.out', io='posix'))",
    "merge": MADE + "waits(lambda: u9.merge(place + '.out', [place], io='posix'))",
    "repair": MADE + "waits(lambda: u9.repair(place, io='posix'))",
    "carve": MADE + "waits(lambda: u9.carve(place + '/0000000000000001.u9', place + '.out', io='posix'))",
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("gate")
    (folder / "gate.c").write_text(GATE)
    subprocess.run([compiler, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", folder / "gate.so", folder / "gate.c", "-ldl"], check=True)
    return folder / "gate.so"


def run(deed, gate, path):
    env = dict(os.environ, LD_PRELOAD=str(gate))
    done = subprocess.run([sys.executable, "-c", SCRIPT % deed, path], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("deed", DEEDS)
def test_another_thread_runs_during(deed, gate, path):
    run(DEEDS[deed], gate, path)


CHANGED = """
data = bytearray(u9.encode(bytes(1 << 20)))
log = u9.open(place, "c", io="posix")
waits(lambda: [log.append_encoded(data) for _ in range(40)], lambda: data.__setitem__(0, 0xff))
log.close()
assert u9.check(place).verdict == "clean"
"""

CHANGED_PIECES = """
data = bytearray(u9.encode(*[bytes(1000)] * 32000))
log = u9.open(place, "c", io="posix")
writing = log.begin(32000, len(data))
def meanwhile():
    data[:] = b"\\xff" * len(data)
    try:
        writing.taken
    except u9.StateError:
        return
    raise SystemExit("it is in use by another thread")
waits(lambda: writing.write(data), meanwhile)
writing.end()
log.close()
assert u9.check(place).verdict == "clean"
"""


@pytest.mark.parametrize("deed", [CHANGED, CHANGED_PIECES])
def test_bytes_that_another_thread_changes_meanwhile_do_no_harm(deed, gate, path):
    run(deed, gate, path)


@pytest.mark.parametrize("closed", ["at the end", "meanwhile"])
def test_handles_that_threads_share_serve_or_refuse_them_and_never_crash(closed, path):
    with u9.open(path, "c") as log:
        keys = [log.append(i, "x" * 1000).key for i in range(500)]
        log.commit()
        large = log.append(b"y" * 100000)
        log.commit()
        walk, reading, batch = iter(log), log.read(log[large.ordinal]), u9.Batch(log)
        calls = [lambda: next(walk), lambda: walk.prev(), lambda: walk.seek(ordinal=250), lambda: walk.save(),
                 lambda: walk.values(), lambda: walk.raw(), lambda: reading.read(0, 9), lambda: list(log[:10]), lambda: log[3],
                 lambda: log.get(keys[7]), lambda: log.get_many(keys[:20]), lambda: log.versions(keys[9]), lambda: log.append(1),
                 lambda: log.commit(), lambda: log.stats(), lambda: log.splits(3), lambda: log.damages(), lambda: batch.append(2),
                 lambda: batch.end()]
        served, wrong = [0] * 4, []

        def work(n):
            for i in range(200):
                try:
                    calls[(i * (2 * n + 1) + n) % len(calls)]()
                    served[n] += 1
                except (u9.StateError, u9.EndError, StopIteration):
                    pass
                except BaseException as error:
                    wrong.append(error)
            if closed == "meanwhile" and n == 0:
                log.close()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong and min(served) > 0
    assert u9.check(path).verdict == "clean"
