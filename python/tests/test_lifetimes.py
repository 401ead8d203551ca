"""What is handed out stays good, and what is closed says so: no order of deaths is a crash."""
import gc
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings
import weakref

import pytest
import u9


@pytest.fixture
def filled(path):
    with u9.open(path, "c") as log:
        for i in range(2000):
            log.append(i, "text %d" % i, u9.Array("int32", [i, -i]))
    return path


def test_records_views_and_arrays_outlive_cursor_and_log(filled):
    with u9.open(filled) as log:
        records, views = list(log), list(log.raw())
        arrays = [values[2] for values in log.values()]
        shown = [memoryview(a) for a in arrays]
    del log
    gc.collect()
    for i in 0, 1, 1000, 1999:
        assert records[i].values == (i, "text %d" % i, [i, -i]) and arrays[i] == [i, -i]
        assert bytes(views[i]) == bytes(records[i]) and shown[i].nbytes == 8
    assert len({r.key for r in records}) == 2000


def test_a_view_that_is_kept_is_not_overwritten_by_what_is_read_behind_it(filled):
    with u9.open(filled) as log:
        kept = []
        for i, view in enumerate(log.raw()):
            if i % 100 == 0:
                kept.append((i, view))
        assert all(u9.decode(view)[0][1] == i for i, view in kept)


def test_a_closed_log_refuses_everything(filled):
    log = u9.open(filled)
    walk, record = iter(log), log[0]
    next(walk)
    reading = log.read(record)
    log.close()
    log.close()
    for use in (log.append, log.commit, log.values, log.raw, log.follow, log.damages, log.stats, log.event_fd,
                lambda: log[0], lambda: log[record.key], lambda: log[1:2], lambda: iter(log), lambda: reversed(log),
                lambda: log.get_many([record.key]), lambda: log.versions(record.key), lambda: log.splits(2),
                lambda: log.snapshot("nowhere"), lambda: log.kind, lambda: log.durable, log.__enter__,
                lambda: log.begin(1, 1), lambda: log.read(record), lambda: next(walk), walk.next, walk.prev, walk.save,
                lambda: walk.seek(start=True), lambda: walk.wait(0), lambda: walk.follow(), lambda: reversed(walk),
                lambda: reading.read(0, 1)):
        with pytest.raises(u9.StateError, match="closed"):
            use()
    walk.close()
    assert log.closed and log.path == str(filled) and log.mode == "r"


def test_a_cursor_keeps_its_log(filled):
    walk = iter(u9.open(filled))
    gc.collect()
    assert sum(1 for _ in walk) == 2000
    walk.log.close()


def test_a_log_that_nobody_closed_is_closed_with_a_warning(path):
    log = u9.open(path, "c")
    log.append("kept")
    with pytest.warns(ResourceWarning, match="unclosed log"):
        del log
        gc.collect()
    with u9.open(path, "w") as log:
        assert log[0].value == "kept"


def test_a_log_in_a_cycle_with_its_function_is_collected(ten):
    def cycle():
        seen = []
        log = u9.open(ten, on_damage=lambda damage: seen.append(log))
        seen.append(iter(log))
        flag = lambda: None  # noqa: E731 (it can be watched, as the log cannot)
        seen.append(flag)
        log_function_holds = weakref.ref(flag)
        return log_function_holds

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        watched = cycle()
        gc.collect()
        assert watched() is None


def test_at_exit_a_session_is_closed_cleanly(path):
    run = "import u9, sys; log = u9.open(sys.argv[1], 'c'); log.append(1); sys.modules['keeper'] = log"
    subprocess.run([sys.executable, "-c", run, str(path)], check=True)
    assert u9.check(path).closed


def test_refused_opens_leave_nothing_behind(tmp_path):
    for _ in range(100):
        with pytest.raises(u9.Error):
            u9.open(tmp_path / "none")
    assert len(os.listdir("/proc/self/fd")) < 100


def test_references_are_given_back(filled):
    def use():
        with u9.open(filled) as log:
            for record in itertools.islice(log, 300):
                record.values, record.key, record.time, repr(record), memoryview(record)
            list(log.values()), list(log[5:9]), log.get(log[3].key), log.get_many([log[3].key]), log.versions(log[3].key)
            with pytest.raises(KeyError):
                log[u9.Muid.of(1, 1, 1)]
            u9.decode(u9.encode({"a": [1, u9.Symbol("s"), None]}, u9.Array("int8", [1])))

    use()
    counted = [None, True, u9.Symbol, u9.Muid, u9.Record, u9.Array, u9.Log, u9.Cursor, u9._ids.bytes_new]
    gc.collect()
    before = [sys.getrefcount(o) for o in counted]
    for _ in range(200):  # one a turn would be 200; what others do with None is less
        use()
    gc.collect()
    after = [sys.getrefcount(o) for o in counted]
    assert all(abs(a - b) < 150 for a, b in zip(after, before)), list(zip(counted, before, after))


def test_many_threads_append_to_one_log(log):
    def work(n):
        for i in range(200):
            log.append(n, i)
        log.commit()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    seen = {}
    for n, i in log.values():
        seen.setdefault(n, []).append(i)
    assert seen == {n: list(range(200)) for n in range(8)}


def test_one_cursor_among_threads_is_refused_or_read_and_never_a_crash(filled):
    with u9.open(filled) as log:
        walk, seen, refused = iter(log), [], []

        def work():
            while True:
                try:
                    seen.append(next(walk).values[0])
                except StopIteration:
                    return
                except u9.StateError as error:
                    refused.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(seen) == list(range(2000))


def test_a_close_waits_for_who_is_within_and_ends_a_follower(log, path):
    reader, ended = u9.open(path), []
    log.commit(log.append(1))
    walk = reader.follow()
    assert next(walk).value == 1

    def follow():
        try:
            next(walk)
        except u9.StateError as error:
            ended.append(error)

    t = threading.Thread(target=follow)
    t.start()
    reader.close()
    t.join()
    assert "closed" in str(ended[0])


def test_a_signal_ends_a_wait(log):
    def interrupt(number, frame):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(InterruptedError):
            for _ in log.follow():
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_forked_child_is_refused_and_does_the_parents_log_no_harm(log, path):
    place = log.append(1)
    log.commit()
    walk = iter(log)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            refused = 0
            for use in lambda: log.append(2), lambda: next(walk), lambda: log[0], lambda: log.get(place.key):
                try:
                    use()
                except u9.StateError:
                    refused += 1
            walk.close()
            log.close()
            with u9.open(path) as mine:
                status = 0 if refused == 4 and mine[0].value == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    log.append(3)
    log.commit()
    assert [r.value for r in walk] == [1, 3]


def sum_of(job):
    path, split = job
    with u9.open(path) as log:
        return sum(values[0] for values in log.range(split).values())


@pytest.mark.parametrize("how", ["spawn", "forkserver"])
def test_processes_share_the_ranges_of_a_plan(filled, how):
    with u9.open(filled) as log:
        jobs = [(filled, split) for split in log.splits(3)]
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert sum(pool.map(sum_of, jobs)) == sum(range(2000))
