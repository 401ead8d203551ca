import copy
import datetime
import pickle

import pytest
import u9

NOW = datetime.datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=datetime.timezone.utc)
US = 1714979289123000
IDS = [u9.Muid.of(US, 456, 1), u9.Gid.of("volume", US // 1000, b"\x80" * 9), u9.Gid.of("log", US // 1000, b"\xa0" * 9),
       u9.Gid.of("segment", US // 1000, b"\xc0" * 9), u9.Tid.of(US, 5), u9.Uid8.of(US // 1000, 1, 2, 3, 1)]


@pytest.mark.parametrize("id", IDS)
def test_an_identifier_prints_reads_back_and_takes_itself_apart(id):
    cls = type(id)
    assert cls(str(id)) == cls(id.packed) == cls.of(*id.fields) == id and type(cls(str(id))) is cls
    assert id.time == NOW and f"{id}" == str(id) and eval(repr(id), vars(u9)) == id
    for other in pickle.loads(pickle.dumps(id)), copy.copy(id):
        assert other == id and type(other) is cls
    assert type(id.packed) is bytes and len({id, cls(str(id))}) == 1


def test_the_fields_have_names():
    muid, gid, tid, uid8 = IDS[0], IDS[2], IDS[4], IDS[5]
    assert (muid.timestamp, muid.medallion, muid.offset) == (US, 456, 1)
    assert (gid.type, gid.timestamp_ms, gid.random) == ("log", US // 1000, b"\xa0" * 9)
    assert (tid.timestamp, tid.clock_id) == (US, 5)
    assert (uid8.timestamp_ms, uid8.sequence, uid8.generator, uid8.cluster, uid8.mode) == (US // 1000, 1, 2, 3, 1)


def test_identifiers_sort_by_time_as_their_texts_do():
    for kind in "muid", "tid":
        made = u9.Generator(kind)
        ids = [next(made) for _ in range(100)]
        assert sorted(ids) == ids == sorted(ids, key=str) and len(set(ids)) == 100


def test_floor_and_ceil_enclose_a_time():
    for low, id, high in [(u9.Muid.floor(NOW), IDS[0], u9.Muid.ceil(NOW)), (u9.Tid.floor(NOW), IDS[4], u9.Tid.ceil(NOW)),
                          (u9.Gid.floor("log", NOW), IDS[2], u9.Gid.ceil("log", NOW)),
                          (u9.Uid8.floor(NOW, 1), IDS[5], u9.Uid8.ceil(NOW, 1))]:
        assert low < id < high and low.time == high.time == NOW


@pytest.mark.parametrize("cls", [u9.Muid, u9.Gid, u9.Tid, u9.Uid8])
def test_what_is_no_identifier_is_refused_with_the_reason(cls):
    for wrong in "", "x", "\0", b"", b"short", 5:
        with pytest.raises(u9.ArgumentError) as caught:
            cls(wrong)
        assert caught.value.text
    with pytest.raises(TypeError):
        u9.Id("x")


def test_fields_out_of_range_are_refused():
    for make in (lambda: u9.Muid.of(2**52, 0, 0), lambda: u9.Tid.of(0, 1024), lambda: u9.Uid8.of(0, 64, 0, 0),
                 lambda: u9.Gid.of("log", 0, b"short"), lambda: u9.Gid.of("other", 0, b"\xa0" * 9)):
        with pytest.raises(ValueError):
            make()


def test_generators_make_what_they_are_asked_for():
    assert next(u9.Generator("muid", medallion=77)).medallion == 77
    assert next(u9.Generator("tid", clock_id=9)).clock_id == 9
    assert next(u9.Generator("gid:volume")).type == "volume"
    made = next(u9.Generator("uid8", generator=5, cluster=6, sequential=True))
    assert (made.generator, made.cluster, made.mode) == (5, 6, 1)
    for wrong in "rkey", "gid:other", "nothing":
        with pytest.raises(ValueError):
            u9.Generator(wrong)
    with pytest.raises(u9.ArgumentError):
        u9.Generator("uid8", cluster=16)
