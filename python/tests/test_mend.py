import pytest
import u9


@pytest.fixture
def torn_name(ten):
    """A log whose segment has the name of another number."""
    (ten / "0000000000000001.u9").rename(ten / "0000000000000007.u9")
    return ten


def values(path):
    with u9.open(path) as log:
        return [record.value for record in log]


def test_a_merge_has_what_each_log_has_once(ten, tmp_path):
    with u9.open(tmp_path / "other", "c") as log:
        log.append("later")
    progress = []
    report = u9.merge(tmp_path / "out", [ten, ten, str(tmp_path / "other")], on_progress=lambda *at: progress.append(at))
    assert report == u9.MergeReport("clean", 21, 11, 10, 0, 0, 0, 0)
    assert values(tmp_path / "out") == [*range(10), "later"]
    assert all(all_of == 0 for _, all_of in progress)


def test_a_merge_tells_keys_with_different_records(tmp_path):
    for name, value in ("a", 1), ("b", 2):
        with u9.open(tmp_path / name, "c", kind="rkey") as log:
            log.append(value, key="k")
    told = []
    report = u9.merge(tmp_path / "out", [tmp_path / "a", tmp_path / "b"], on_conflict=told.append, lz4=True)
    assert (report.conflicts, told) == (1, ["k"]) and values(tmp_path / "out") == [1, 2]


def test_a_merge_of_keys_out_of_order_wants_memory(tmp_path):
    with u9.open(tmp_path / "a", "c", kind="rkey") as log:
        log.append(2, key="b")
        log.append(1, key="a")
    with pytest.raises(u9.ArgumentError) as caught:
        u9.merge(tmp_path / "out", [tmp_path / "a"])
    assert caught.value.rule == "A-5" and not (tmp_path / "out").exists()
    assert u9.merge(tmp_path / "out", [tmp_path / "a"], memory=1 << 20).sorted == 1
    assert values(tmp_path / "out") == [1, 2]


def test_a_merge_of_a_damaged_log_tells_that_or_is_refused(harmed, tmp_path):
    told = []
    assert u9.merge(tmp_path / "out", [harmed], on_damage=told.append).lost == 1 and [d.ordinal for d in told] == [3]
    with pytest.raises(u9.CorruptError):
        u9.merge(tmp_path / "strict", [harmed], strict=True)
    assert not (tmp_path / "strict").exists()


def test_what_a_callback_raises_ends_a_merge(harmed, tmp_path):
    def refuse(damage):
        raise ZeroDivisionError(damage.reason)

    with pytest.raises(ZeroDivisionError, match="hash"):
        u9.merge(tmp_path / "out", [harmed], on_damage=refuse)


def test_one_path_is_no_list_of_paths(ten, tmp_path):
    for wrong in str(ten), bytes(ten), 5, [5]:
        with pytest.raises(TypeError):
            u9.merge(tmp_path / "out", wrong)
    with pytest.raises(u9.ArgumentError):
        u9.merge(tmp_path / "out", [])


def test_logs_are_carved_out_of_an_image(ten, tmp_path):
    image, found, progress = tmp_path / "image", [], []
    image.write_bytes(b"garbage" * 1000 + (ten / "0000000000000001.u9").read_bytes() + b"more" * 1000)
    report = u9.carve(image, tmp_path / "out", on_carved=found.append, on_progress=lambda *at: progress.append(at))
    assert (report.files, report.bytes, report.logs, report.unread, report.gave_up, report.held) == (1, image.stat().st_size, 1, 0, False, 0)
    log = found[0]
    assert log.proven and (log.records, log.verdict, log.lost) == (10, "clean", 0) and log.frames == report.frames
    assert values(log.path) == list(range(10)) and all(done <= of for done, of in progress)
    with pytest.raises(u9.ArgumentError):
        u9.carve(image, tmp_path / "out")


def test_where_no_log_is_nothing_is_carved(tmp_path):
    (tmp_path / "image").write_bytes(b"nothing" * 1000)
    with pytest.raises(u9.AbsentError):
        u9.carve(tmp_path / "image", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_callback_raises_comes_through_a_carving(ten, tmp_path):
    def refuse(carved):
        raise ZeroDivisionError(carved.verdict)

    with pytest.raises(ZeroDivisionError, match="clean"):
        u9.carve(ten, tmp_path / "out", on_carved=refuse)


def test_a_repair_mends_in_place_and_is_undone(torn_name):
    steps = []
    report = u9.repair(torn_name, dry=True, on_step=steps.append)
    assert [(s.kind, s.safe) for s in steps] == [("name", True)] and report.steps == 1 and report.saved is None
    assert steps[0].path.endswith("7.u9") and steps[0].to.endswith("0000000000000001.u9")
    assert (torn_name / "0000000000000007.u9").exists()
    report = u9.repair(torn_name)
    assert (report.steps, report.left, report.records, report.then) == (1, 0, 10, "clean") and report.saved
    assert values(torn_name) == list(range(10)) and (torn_name / "0000000000000001.u9").exists()
    assert u9.undo(torn_name) == 1 and (torn_name / "0000000000000007.u9").exists()
    with pytest.raises(u9.AbsentError):
        u9.undo(torn_name)


def test_a_repair_without_a_fault_changes_nothing(ten):
    before = {file.name: file.read_bytes() for file in ten.iterdir()}
    assert u9.repair(ten, all=True).steps == 0
    assert {file.name: file.read_bytes() for file in ten.iterdir()} == before


def test_a_flipped_bit_is_healed_in_the_time_that_is_given(harmed):
    assert u9.repair(harmed, all=True).steps == 0
    report = u9.repair(harmed, all=True, heal=60)
    assert (report.steps, report.regained, report.then) == (1, 1, "clean") and report.tries > 0
    with u9.open(harmed) as log:
        assert [record.values for record in log] == [(i, f"needle-{i}") for i in range(10)]
    with pytest.raises(ValueError):
        u9.repair(harmed, heal=-1)


def test_what_a_callback_raises_stops_no_repair(torn_name):
    def refuse(step):
        raise ZeroDivisionError(step.kind)

    with pytest.raises(ZeroDivisionError, match="name"):
        u9.repair(torn_name, on_step=refuse)
    assert (torn_name / "0000000000000001.u9").exists()


def test_a_log_that_is_being_written_is_not_repaired(path):
    with u9.open(path, "c") as log:
        log.append(1)
        with pytest.raises(u9.LockedError):
            u9.repair(path)
