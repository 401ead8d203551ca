import pytest
import u9


def test_damage_is_raised_with_all_that_is_known_and_the_walk_goes_on(harmed):
    with u9.open(harmed) as log:
        seen, told = [], []
        walk = iter(log)
        while True:
            try:
                for record in walk:
                    seen.append(record.values[0])
                break
            except u9.CorruptError as error:
                told.append(error)
    assert seen == [0, 1, 2, 4, 5, 6, 7, 8, 9] and len(told) == 1
    error, damage = told[0], told[0].damage
    assert (damage.verdict, damage.reason, damage.ordinal, damage.lost) == ("corrupt", "hash", 3, 1)
    assert damage.rule and damage.text and damage.begin < damage.end and damage.path.startswith(str(harmed))
    assert error.name == "CORRUPT" and error.code == -4 and str(error).startswith("CORRUPT: ")
    assert isinstance(error, u9.Error) and not damage.mended


def test_records_read_ahead_come_before_the_damage_behind_them(harmed):
    with u9.open(harmed) as log:
        walk = log.values()
        assert [next(walk)[0] for _ in range(3)] == [0, 1, 2]
        with pytest.raises(u9.CorruptError):
            next(walk)
        assert next(walk)[0] == 4


def test_a_cursor_saved_in_front_of_damage_tells_it_again(harmed):
    with u9.open(harmed) as log:
        for stop in 1, 2, 3:
            walk = iter(log)
            for _ in range(stop):
                next(walk)
            again = log.seek(saved=walk.save())
            values = []
            with pytest.raises(u9.CorruptError):
                for record in again:
                    values.append(record.values[0])
            assert values == list(range(stop, 3)) and again.next().values[0] == 4
            with pytest.raises(u9.CorruptError):
                for record in walk:
                    pass


def test_damage_is_met_backwards_as_well(harmed):
    with u9.open(harmed) as log:
        back, seen = reversed(log), []
        with pytest.raises(u9.CorruptError):
            for record in back:
                seen.append(record.values[0])
        assert seen == [9, 8, 7, 6, 5, 4] and [r.values[0] for r in back] == [2, 1, 0]


def test_a_lost_ordinal_raises_the_damage_and_not_that_it_is_out_of_range(harmed):
    with u9.open(harmed) as log:
        with pytest.raises(u9.CorruptError):
            log[3]
        assert log[2].values[0] == 2 and log[4].values[0] == 4 and log[-1].values[0] == 9
        with pytest.raises(IndexError):
            log[10]


def test_a_function_is_told_instead_and_the_walk_goes_on_by_itself(harmed):
    told = []
    with u9.open(harmed, on_damage=told.append) as log:
        assert [r.values[0] for r in log] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert [d.reason for d in told] == ["hash"]


def test_what_that_function_raises_comes_through_where_the_damage_is(harmed):
    def refuse(damage):
        raise ZeroDivisionError(damage.reason)

    with u9.open(harmed, on_damage=refuse) as log:
        walk, seen = iter(log), []
        with pytest.raises(ZeroDivisionError, match="hash"):
            for record in walk:
                seen.append(record.values[0])
        assert seen == [0, 1, 2]
        assert [r.values[0] for r in walk] == [4, 5, 6, 7, 8, 9]


def test_that_function_cannot_close_its_log_nor_use_its_cursor(harmed):
    said = []

    def meddle(damage):
        for act in log.close, lambda: next(walk), walk.close, walk.save:
            try:
                act()
            except u9.StateError as error:
                said.append(str(error))

    log = u9.open(harmed, on_damage=meddle)
    walk = iter(log)
    assert len(list(walk)) == 9 and len(said) == 4
    log.close()


def test_a_check_tells_each_damage_and_the_verdict(harmed, ten):
    told, progress = [], []
    report = u9.check(harmed, on_damage=told.append, on_progress=lambda done, all: progress.append((done, all)))
    assert report.verdict == "corrupt" and report.lost == 1 and [d.ordinal for d in told] == [3]
    assert all(done <= all for done, all in progress)


def test_a_check_of_a_whole_log_is_clean(ten):
    report = u9.check(ten, threads=2)
    assert (report.verdict, report.records, report.kind, report.closed) == ("clean", 10, "muid", True)
    assert isinstance(report.first_key, u9.Muid) and report.first_key < report.last_key
    assert report.first_time <= report.last_time and report.salvaged is None


def test_exceptions_pass_through_a_check_and_a_salvage(harmed, tmp_path):
    def refuse(damage):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        u9.check(harmed, on_damage=refuse)
    with pytest.raises(ZeroDivisionError):
        u9.salvage(harmed, tmp_path / "out", on_damage=refuse)
    with pytest.raises(TypeError):
        u9.check(harmed, on_damage=5)


def test_progress_may_stop_a_check(harmed):
    asked = []

    def stop(done, all):
        asked.append(done)
        return True

    try:
        u9.check(harmed, on_progress=stop)
    except u9.StateError:
        assert asked
    else:
        assert not asked  # a log this small may be over before it is asked


def test_a_salvage_saves_the_rest(harmed, tmp_path):
    outputs = []
    report = u9.salvage(harmed, tmp_path / "out", on_output=outputs.append)
    assert report.salvaged == 9 and report.outputs == 1 and outputs[0].path == str(tmp_path / "out")
    with u9.open(tmp_path / "out") as log:
        assert [r.values[0] for r in log] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    with pytest.raises(u9.ArgumentError):
        u9.salvage(harmed, tmp_path / "out")


def test_a_missing_segment_is_known_without_reading(path):
    with u9.open(path, "c", segment_size=1 << 16) as log:
        for i in range(4000):
            log.append(i, "x" * 50)
    sorted(path.glob("*.u9"))[1].unlink()
    with u9.open(path) as log:
        assert [d.reason for d in log.damages()] == ["missing"]


def test_no_log_is_told_by_a_class_of_its_own(tmp_path):
    with pytest.raises(u9.AbsentError):
        u9.open(tmp_path)
    (tmp_path / "file").write_text("no log")
    with pytest.raises(u9.CorruptError) as caught:
        u9.check(tmp_path / "file")
    assert caught.value.path


def test_each_kind_of_error_has_its_class():
    made = {code: type(u9._errors.make_error(code, "X", 5, 1, 2, "F-7", "p", "t", "line", None)) for code in range(-10, 4)}
    assert len(set(made.values())) == 14 and all(issubclass(c, u9.Error) for c in made.values())
    error = u9._errors.make_error(-3, "IO", 28, 1, 2, "F-7", "p", "t", "line", None)
    assert (error.errno, error.segment, error.offset, error.rule, error.path, error.text) == (28, 1, 2, "F-7", "p", "t")
    assert str(error) == "IO: line"
    for base in OSError, ValueError, MemoryError, LookupError:
        assert any(issubclass(c, base) for c in made.values())
