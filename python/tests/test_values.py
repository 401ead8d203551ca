import array
import datetime
import math
import os
import struct
import subprocess

import pytest
import u9

UTC = datetime.timezone.utc


def back(*values):
    return list(u9.decode(u9.encode(*values)))


@pytest.mark.parametrize("value", [
    0, 1, 127, 128, 2**63, 2**64 - 1, -1, -2**63, 0.0, -1.5, math.inf, "", "text", "\u20ac" * 300, b"", b"\0\xff" * 200,
    None, True, False, [], [1, [2, [3, []]]], {}, {"a": 1}, {"a": {"b": [1, {"c": None}]}, "": b"x"}, {1: 2, b"k": 3.5},
    u9.Symbol("GET"), u9.Tau(2**40), u9.Greek.IOTA, u9.Pidfd(1337, 3),
    datetime.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC), datetime.datetime(1, 1, 1, tzinfo=UTC),
    datetime.datetime.max.replace(tzinfo=UTC), {str(i): i for i in range(1000)}, list(range(1000)), list("many" * 20),
])
def test_a_value_comes_back_as_it_was(value):
    got, = back(value)
    assert got == value and type(got) is type(value)


def test_truth_and_numbers_stay_apart():
    assert [type(v) for v in back(True, 1, 1.0)] == [bool, int, float]


def test_a_tuple_comes_back_as_a_list_and_not_as_a_number():
    assert back((1, (2,))) == [[1, [2]]]


def test_values_beyond_a_few_come_back_in_order():
    assert back(*range(500)) == list(range(500))


def test_text_that_is_not_utf8_is_kept():
    raw = bytes([0x23, 0x61, 0xFF, 0x62])  # utf8 of three bytes
    text, = u9.decode(raw)
    assert text == "a\udcffb" and u9.encode(text) == raw


def test_a_lone_surrogate_that_stands_for_no_byte_is_refused():
    with pytest.raises(UnicodeEncodeError):
        u9.encode("\ud800")


@pytest.mark.parametrize("value", [2**64, -2**63 - 1])
def test_an_integer_of_more_than_64_bits_is_refused(value):
    with pytest.raises(OverflowError):
        u9.encode(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, [object()], {"a": object()}])
def test_what_is_no_value_is_refused_by_its_type(value):
    with pytest.raises(TypeError):
        u9.encode(value)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        u9.encode(datetime.datetime(2024, 1, 1))


def test_a_time_of_another_zone_is_the_same_point_in_time():
    time = datetime.datetime(2024, 1, 1, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
    assert back(time) == [datetime.datetime(2024, 1, 1, tzinfo=UTC)]


def test_a_list_that_only_looks_like_a_time_stays_a_list():
    assert back([u9.Symbol("datetime"), 2**63]) == [[u9.Symbol("datetime"), 2**63]]
    assert back([u9.Symbol("datetime"), 1, 2]) == [[u9.Symbol("datetime"), 1, 2]]


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_containers_nest_64_deep_with_the_record_and_no_deeper():
    assert back(nested(63)) == [nested(63)]
    with pytest.raises(u9.LimitError):
        u9.encode(nested(64))


def test_a_list_in_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(u9.LimitError):
        u9.encode(value)


@pytest.mark.parametrize("raw", ["48", "4a02", "4b0201", "4901", "2361", "0c", "4102000501", "5180", "4405018000",
                                 "43ffffffffffffffffffffffffffffffff", "47ffffffffffffffff0000000000000000"])
def test_bytes_that_are_no_value_raise_and_do_no_harm(raw):
    with pytest.raises(u9.Error) as caught:
        u9.decode(bytes.fromhex(raw))
    assert isinstance(caught.value, (u9.CorruptError, u9.LimitError))


def test_every_cut_and_every_flipped_byte_of_a_value_is_a_value_or_raises():
    raw = u9.encode({"a": [1, 2.5, {"b": b"xyz"}], "t": datetime.datetime.now(UTC)}, u9.Array("int16", [1, 2]), "text", None)
    for i in range(len(raw)):
        for bad in raw[:i], raw[:i] + bytes([raw[i] ^ 0x55]) + raw[i + 1:], raw[:i] + b"\xff" + raw[i + 1:]:
            try:
                repr(u9.decode(bad))
            except u9.Error:
                pass


def test_a_dict_is_what_the_tools_write_as_an_object():
    assert u9.text({"a": 1}).startswith("cidx('kh ")
    assert u9.parse('("a" 1)') == ["a", 1]


@pytest.mark.parametrize("text", ["", "(1 2", "1 2", ")", "'ninechars"])
def test_a_text_that_is_no_value_is_refused(text):
    with pytest.raises(u9.Error):
        u9.parse(text)


@pytest.mark.parametrize("type, numbers", [("uint8", [0, 255]), ("uint16", [0, 65535]), ("uint32", [2**32 - 1]),
                                           ("uint64", [2**64 - 1]), ("int8", [-128, 127]), ("int16", [-2**15]),
                                           ("int32", [-2**31, 5]), ("int64", [-2**63]), ("float32", [1.5, -0.25]),
                                           ("float64", [0.1]), ("float64", [])])
def test_an_array_is_a_sequence_and_comes_back(type, numbers):
    a = u9.Array(type, numbers)
    assert a == numbers and len(a) == len(numbers) and a.type == type and list(a) == a.tolist() == numbers
    got, = back(a)
    assert got == a and got.type == type


@pytest.mark.parametrize("type, number, error", [("uint8", 256, OverflowError), ("uint8", -1, OverflowError),
                                                 ("int8", "1", TypeError), ("int9", 1, ValueError)])
def test_numbers_that_do_not_fit_are_refused(type, number, error):
    with pytest.raises(error):
        u9.Array(type, [number])


def test_an_array_is_indexed_and_sliced_in_place():
    a = u9.Array("int32", range(10))
    assert a[-1] == 9 and a[2:5] == [2, 3, 4] and a[8:100] == [8, 9] and a != [1]
    with pytest.raises(IndexError):
        a[10]
    with pytest.raises(ValueError):
        a[::2]


def test_an_array_is_a_buffer_that_cannot_be_written():
    view = memoryview(u9.Array("int32", [1, 2]))
    assert (view.format, view.itemsize, view.shape, view.readonly, view.nbytes) == (">i", 4, (2,), True, 8)
    assert bytes(view) == bytes.fromhex("0000000100000002")
    with pytest.raises((BufferError, TypeError)):
        struct.pack_into(">i", u9.Array("int32", [1, 2]), 0, 5)


def test_a_view_keeps_what_it_shows_when_array_and_bytes_are_gone():
    view = memoryview(u9.decode(u9.encode(u9.Array("uint8", range(200))))[0])
    junk = [bytes(300) for _ in range(1000)]
    assert bytes(view) == bytes(range(200)) and junk


def test_arrays_of_python_are_arrays_of_the_same_type():
    for code, type in ("b", "int8"), ("H", "uint16"), ("i", "int32"), ("Q", "uint64"), ("f", "float32"), ("d", "float64"):
        got, = back(array.array(code, [1, 2, 3]))
        assert got.type == type and got == [1, 2, 3]


def test_bytes_in_other_clothes_are_bytes():
    assert back(bytearray(b"ab"), memoryview(b"cd")) == [b"ab", b"cd"]


def test_numpy_takes_an_array_without_a_copy_and_gives_it():
    numpy = pytest.importorskip("numpy")
    a, = back(numpy.arange(6, dtype="<i4"))
    seen = numpy.asarray(a)
    assert seen.tolist() == list(range(6)) and seen.dtype == ">i4" and not seen.flags.owndata
    assert numpy.asarray(a).ctypes.data == seen.ctypes.data
    assert back(seen, numpy.arange(10, dtype=">u2")[::3]) == [a, [0, 3, 6, 9]]
    del a
    assert seen.sum() == 15
    assert back(numpy.float32(1.5), numpy.int64(-7), numpy.bool_(True), numpy.float64(2.5)) == [1.5, -7, True, 2.5]
    for none in numpy.zeros((2, 2)), numpy.zeros(2, dtype="complex128"), numpy.zeros(2, dtype="float16"):
        with pytest.raises(TypeError):
            u9.encode(none)


def test_the_tools_read_what_python_writes(path):
    with u9.open(path, "c") as log:
        log.append({"a": [1, None, True], "b": "x"}, 2.5)
    tool = os.environ["U9_BIN_DIR"] + "/u9"
    said = subprocess.run([tool, "cat", "--format=json", str(path)], capture_output=True, text=True, check=True).stdout
    assert '{"a":[1,null,true],"b":"x"}' in said.replace(" ", "") and "2.5" in said
