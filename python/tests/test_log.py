import datetime
import pickle

import pytest
import u9

UTC = datetime.timezone.utc


def ordinals(records):
    return [r.ordinal for r in records]


def test_a_record_comes_back_with_its_key_and_its_values(log):
    place = log.append("GET", 200, {"a": 1})
    assert log.commit(place) is True
    record = log[place.key]
    assert record.values == ("GET", 200, {"a": 1}) and record.key == place.key and record.ordinal == int(place) == 0
    assert isinstance(record.key, u9.Muid) and record.time.tzinfo is UTC and record.time_us > 0 and not record.large


def test_the_only_value_is_value(log):
    log.commit(log.append([1, 2]))
    assert log[0].value == [1, 2]
    log.commit(log.append(1, 2))
    with pytest.raises(ValueError):
        log[1].value


def test_a_record_without_values_is_one(log):
    log.commit(log.append())
    assert log[0].values == ()


def test_modes_are_these_three(path):
    with pytest.raises(u9.SystemFault) as caught:
        u9.open(path)
    assert caught.value.errno == 2 and isinstance(caught.value, OSError) and caught.value.filename == str(path)
    for mode in "", "a", "rw":
        with pytest.raises(ValueError):
            u9.open(path, mode)
    u9.open(path, "c").close()
    with u9.open(str(path), "w") as log:
        log.append(1)
    with u9.open(bytes(path)) as log:
        assert len(list(log)) == 1
        with pytest.raises(u9.StateError):
            log.append(2)


def test_one_writer_at_a_time(log, path):
    with pytest.raises(u9.LockedError) as caught:
        u9.open(path, "w")
    assert caught.value.code == -8 and caught.value.name == "LOCKED" and caught.value.path


def test_what_an_options_word_is_not_is_refused(path):
    for wrong in {"policy": "often"}, {"verify": "perhaps"}, {"kind": "nothing"}, {"io": "tape"}, {"nothing": 1}:
        with pytest.raises((ValueError, TypeError)):
            u9.open(path, "c", **wrong)


def test_keys_of_each_kind_are_of_its_type(tmp_path):
    given = {"tid": u9.Tid.of(5, 6), "uid8": u9.Uid8.of(1000, 1, 2, 3), "rkey": "a-key", "gid:log": u9.Gid.of("log", 7, b"\xa0" * 9)}
    for kind, key in given.items():
        with u9.open(tmp_path / kind.replace(":", ""), "c", kind=kind) as log:
            assert log.kind == kind
            place = log.append("value", key=key)
            log.commit()
            assert place.key == key and type(place.key) is type(key)
            assert log[key].value == "value" and log[str(key)].key == key and key in log
            with pytest.raises(ValueError):
                log.append(1, key=b"\xff")


def test_a_key_that_is_not_there(log):
    missing = u9.Muid.of(1, 2, 3)
    assert log.get(missing) is None and log.get(missing, 5) == 5 and missing not in log
    with pytest.raises(KeyError) as caught:
        log[missing]
    assert isinstance(caught.value, u9.AbsentError) and str(missing) in str(caught.value)
    with pytest.raises(u9.ArgumentError):
        log["no muid"]
    for none in None, 1.5, [1]:
        with pytest.raises(TypeError):
            log.get(none)


def test_the_newest_of_a_key_all_of_them_and_many(tmp_path):
    with u9.open(tmp_path / "log", "c", kind="rkey") as log:
        for i in range(5):
            log.append(i, key="same")
        log.append("x" * 5000, key="long")
        assert log["same"].value == 4
        assert [r.value for r in log.versions("same")] == [0, 1, 2, 3, 4] and log.versions("none") == []
        found = log.get_many(["long", "none", "same"])
        assert found[1] is None and len(found[0].value) == 5000 and found[2].value == 4
        assert log.get_many([]) == []


def test_a_batch_is_there_as_a_whole_or_not_at_all(log):
    with log.batch() as batch:
        batch.append("a")
        batch.append("b", key=u9.Muid.of(9, 9, 9))
    assert [int(p) for p in batch.places] == [0, 1] and batch.places[1].key == u9.Muid.of(9, 9, 9)
    with pytest.raises(ZeroDivisionError):
        with log.batch() as batch:
            batch.append("c")
            1 / 0
    log.commit()
    assert [r.value for r in log] == ["a", "b"]
    with log.batch() as batch:
        pass
    assert batch.places == []


def test_encoded_values_are_appended_as_they_are(log, tmp_path):
    log.append("x", [1], key=u9.Muid.of(5, 5, 5))
    log.commit()
    record = log[0]
    with u9.open(tmp_path / "copy", "c") as copy:
        copy.append_encoded(record.encoded, key=record.key)
        copy.commit()
        assert bytes(copy[0]) == bytes(record)
        with pytest.raises(u9.ArgumentError) as caught:
            copy.append_encoded(b"\x0c")
        assert caught.value.rule and caught.value.offset == 0 and caught.value.path is None


def test_commits_say_whether_it_is_durable(tmp_path):
    with u9.open(tmp_path / "log", "c", policy="none") as log:
        place = log.append(1)
        assert log.commit(place) in (True, False)
        assert log.commit() is True and log.durable == log.next_ordinal == 1
        log.commit_async(place)
        with pytest.raises(u9.ArgumentError):
            log.commit(5)
        with pytest.raises(OverflowError):
            log.commit(-1)


def test_slices_are_of_ordinals(ten):
    with u9.open(ten) as log:
        assert ordinals(log[2:5]) == [2, 3, 4] and ordinals(log[:]) == list(range(10))
        assert ordinals(log[-3:]) == [7, 8, 9] and ordinals(log[:-8]) == [0, 1] and ordinals(log[5:2]) == []
        assert ordinals(log[8:100]) == [8, 9] and ordinals(log[-100:2]) == [0, 1] and ordinals(log[2**70:]) == []
        assert ordinals(reversed(log)) == list(range(9, -1, -1)) and ordinals(reversed(log[2:5])) == [4, 3, 2]
        with pytest.raises(ValueError):
            log[::2]


def test_single_ordinals(ten):
    with u9.open(ten) as log:
        assert log[0].ordinal == 0 and log[9].ordinal == log[-1].ordinal == 9 and log[-10].ordinal == 0
        for out in 10, -11, 2**70, -2**70:
            with pytest.raises(IndexError):
                log[out]


def test_slices_are_of_times(ten):
    with u9.open(ten) as log:
        first, second = log[0].time, datetime.timedelta(seconds=1)
        assert ordinals(log[first:]) == ordinals(log[first - second:]) == list(range(10))
        assert ordinals(log[:first]) == [] and ordinals(log[log[-1].time + second:]) == []
        assert ordinals(log[first:5]) == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError):
            log[datetime.datetime(2024, 1, 1):]
        with pytest.raises(TypeError):
            log["a":]


def test_a_cursor_goes_both_ways_and_anywhere(ten):
    with u9.open(ten) as log:
        c = iter(log)
        assert ordinals([next(c) for _ in range(7)]) == list(range(7))
        assert c.prev().ordinal == 6 and c.prev().ordinal == 5 and c.next().ordinal == 5
        assert next(c).ordinal == 6 and c.seek(ordinal=2).next().ordinal == 2 and c.seek(end=True).next() is None
        assert c.seek(start=True).prev() is None and c.seek(key=log[4].key).next().ordinal == 4
        assert c.seek(time=log[0].time).next().ordinal == 0
        assert c.bisect(lambda r: r.value >= 7).next().ordinal == 7
        for wrong in {}, {"ordinal": 1, "end": True}:
            with pytest.raises(TypeError):
                c.seek(**wrong)
        assert ordinals(reversed(c)) == list(range(9, -1, -1))
        back = reversed(log)
        assert [next(back).ordinal for _ in range(3)] == [9, 8, 7]
        assert back.next().ordinal == 7 and back.prev().ordinal == 7 and back.prev().ordinal == 6
        with log.seek(ordinal=3) as c:
            assert c.log is log and c.values().next() == (3,)
        with pytest.raises(u9.StateError):
            c.next()


def test_a_saved_cursor_goes_on_where_the_host_was_not_where_it_read_ahead(path):
    with u9.open(path, "c") as log:
        for i in range(3000):
            log.append(i)
    for stop in 0, 1, 3, 4, 5, 700, 2999:
        with u9.open(path) as log:
            c = iter(log)
            for record in c:
                if record.ordinal == stop:
                    break
            line = c.save()
            assert next(c, None) is None if stop == 2999 else next(c).ordinal == stop + 1
            assert ordinals(log.seek(saved=line)) == list(range(stop + 1, 3000))


def test_an_exception_in_bisect_comes_through_and_the_cursor_lives(ten):
    with u9.open(ten) as log:
        c = iter(log)
        with pytest.raises(ZeroDivisionError):
            c.bisect(lambda r: 1 / 0)
        with pytest.raises(u9.StateError):
            c.bisect(lambda r: c.next())
        assert c.seek(start=True).next().ordinal == 0


def test_raw_records_are_views_and_values_tuples(ten):
    with u9.open(ten) as log:
        views = list(log.raw())
        assert [v for v, in log.values()] == list(range(10)) and [v for v, in log[3:5].values()] == [3, 4]
        assert [bytes(v) for v in views] == [bytes(r) for r in log] and views[0].readonly
        assert u9.decode(views[7])[0] == [log[7].key.packed, 7]


def test_splits_are_together_the_log(path):
    with u9.open(path, "c", segment_size=1 << 16) as log:
        for i in range(5000):
            log.append(i, "x" * 50)
    with u9.open(path) as log:
        splits = log.splits(4)
        assert len(splits) == 4 and [s.number for s in splits] == [1, 2, 3, 4] and splits[0].count == 4
        sent = pickle.loads(pickle.dumps(splits))
        assert sent == splits and sent[1].number == 2
        assert [i for s in sent for i, _ in log.range(s).values()] == list(range(5000))
        assert ordinals(log.range(str(splits[0])))[0] == 0
        for wrong, error in ("nothing", u9.ArgumentError), (5, TypeError):
            with pytest.raises(error):
                log.range(wrong)


def test_a_followed_log_shows_what_comes(log, path):
    log.commit(log.append(0))
    with u9.open(path) as reader:
        c = reader.follow(timeout=0)
        assert [r.value for r in c] == [0]
        log.commit(log.append(1))
        assert c.wait(10) and [r.value for r in c] == [1]
        assert c.wait(0) is False and c.event_fd() >= 0
        with pytest.raises(ValueError):
            reader.follow(shows="all")


def test_a_large_record_is_written_and_read_in_pieces(log):
    size = u9.parse('"x"') and (1 << 24) + 100
    with log.begin(1, size + 5, key=u9.Muid.of(1, 1, 1)) as writing:
        writing.head("bytes", size)
        for _ in range(size // 4):
            pass
        writing.write(b"y" * size)
        assert writing.taken == size + 5
        assert writing.end() == 0
    log.append("small")
    log.commit()
    records = list(log)
    assert [r.large for r in records] == [True, False] and records[0].key == u9.Muid.of(1, 1, 1)
    for bad in lambda: records[0].values, lambda: records[0].encoded, lambda: log[0].values:
        with pytest.raises(u9.LimitError):
            bad()
    with pytest.raises(BufferError):
        memoryview(records[0])
    assert "bytes" in repr(records[0])
    with log.read(records[0]) as reading:
        assert reading.size == records[0].size
        assert reading.read(reading.values_at + 5, 10) == b"y" * 10 and reading.read(reading.size - 1, 10) == b"y"
        assert reading.read(reading.size + 5, 10) == b""
    with pytest.raises(u9.StateError):
        reading.read(0, 1)
    given_up = log.begin(1, 1 << 25)
    given_up.close()
    with pytest.raises(u9.StateError):
        given_up.write(b"x")


def test_a_block_of_pieces_appends_or_says_why_not(log):
    begun = log.next_ordinal
    with log.begin(1, 1) as writing:
        writing.write(u9.encode(5))
    assert log.next_ordinal == begun + 1
    with log.begin(1, 1) as writing:
        writing.write(u9.encode(6))
        assert writing.end() == begun + 1
    with log.begin(1, 1) as writing:
        writing.close()
    with pytest.raises(u9.StateError):
        with log.begin(1, 100) as writing:
            writing.write(u9.encode(7))
    with pytest.raises(KeyError):
        with log.begin(1, 1) as writing:
            writing.write(u9.encode(8))
            raise KeyError
    assert log.next_ordinal == begun + 2
    log.commit()
    assert [r.value for r in log] == [5, 6]
    with log.begin(1, 1) as writing:  # none of them is still under way
        writing.write(u9.encode(9))
    assert log.next_ordinal == begun + 3


def test_a_snapshot_a_trim_and_figures(log, path, tmp_path):
    log.append(1)
    assert log.snapshot(tmp_path / "snap")["next_ordinal"] == 1
    with u9.open(tmp_path / "snap") as snap:
        assert [r.value for r in snap] == [1]
    assert log.trim(before=100, dry_run=True)["segments"] == 0
    assert log.stats()["records"] == 1 and log.event_fd() >= 0 and log.damages() == []
    with u9.open(path) as reader, pytest.raises(u9.StateError):
        reader.stats()


def test_reprs_tell_what_it_is(log):
    place = log.append("v")
    log.commit()
    assert "mode 'c'" in repr(log) and repr(place).startswith("Place(0, Muid(") and "('v',)" in repr(log[0])
    log.close()
    assert "closed" in repr(log) and log.closed


@pytest.mark.parametrize("number", [-1, 1 << 64])
def test_a_number_that_is_none_is_refused_and_trims_nothing(log, path, tmp_path, number):
    log.commit(log.append(1))
    for call in (
        lambda: log.trim(before=number),
        lambda: log.trim(keep_bytes=number),
        lambda: log.splits(number),
        lambda: log.begin(1, number),
        lambda: u9.open(path, keep_bytes=number),
        lambda: u9.open(path, cluster=number),
        lambda: u9.open(path, "w", kind="uid8", generator=number),
        lambda: u9.check(path, threads=number),
        lambda: u9.merge(tmp_path / "out", [path], memory=number),
        lambda: u9.Generator("muid", medallion=number),
        lambda: u9.Generator("tid", clock_id=number),
    ):
        with pytest.raises(OverflowError, match=f"{number} is not from 0 to "):
            call()
    assert not (tmp_path / "out").exists() and ordinals(log) == [0]


@pytest.mark.parametrize("age", [-1, float("nan"), float("inf")])
def test_an_age_that_is_none_is_refused(path, age):
    with pytest.raises(ValueError, match="keep_age"):
        u9.open(path, "c", keep_age=age)
