"""Types that need no speed: what the extension makes of facts, and values that Python has no like for."""

import datetime as _datetime
import enum
from collections.abc import Mapping  # noqa: F401 (for the extension)
from typing import NamedTuple, Optional

datetime = _datetime.datetime
_epoch = datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)
_microsecond = _datetime.timedelta(microseconds=1)


def microseconds(time):
    """Microseconds since 1970 of a datetime that has a time zone."""
    if not isinstance(time, datetime):
        raise TypeError(f"a datetime is needed, not a {type(time).__name__}")
    if time.utcoffset() is None:
        raise ValueError("a datetime without a time zone is no point in time: give it one")
    return (time - _epoch) // _microsecond


def time_of(us):
    """The datetime, in UTC, of microseconds since 1970."""
    return _epoch + us * _microsecond


class Symbol(str):
    """A symbol: 1 to 8 ASCII characters. Those called true, false and null are Python's True, False and None."""

    __slots__ = ()

    def __repr__(self):
        return f"Symbol({str.__repr__(self)})"


class Tau(int):
    """A position in the time-cycle, tau(x)."""

    __slots__ = ()

    def __repr__(self):
        return f"Tau({int.__repr__(self)})"


class Greek(enum.Enum):
    """The values that are alone of their type."""

    ALPHA = 7
    OMEGA = 8
    IOTA = 9
    KAPPA = 10
    TAU0 = 11


class Pidfd(NamedTuple):
    """A descriptor of a process."""

    pid: int
    fd: int


class Split(str):
    """One range of a plan (Log.splits): a line of text, to be sent to whoever reads it with Log.range.

    It is the number-th, from 1, of `count` ranges; about `bytes` bytes are in it, 0 if that is not known.
    """

    __slots__ = ("number", "count", "bytes")

    def __new__(cls, line, number=0, count=0, bytes=0):
        self = str.__new__(cls, line)
        self.number, self.count, self.bytes = number, count, bytes
        return self

    def __reduce__(self):
        return type(self), (str(self), self.number, self.count, self.bytes)


class Damage(NamedTuple):
    """One damaged place: bytes [begin, end) of a segment's file."""

    verdict: str  # "torn", "unknown", "corrupt"; "clean" where nothing is damaged
    reason: str  # one word, stable
    text: str  # a sentence
    rule: str  # the rule of SPEC.md that refused the bytes
    segment: int
    path: Optional[str]
    begin: int
    end: int
    ordinal: Optional[int]  # of the first record that may be lost
    lost: Optional[int]  # how many are
    at_most: bool  # `lost` is an upper bound
    mended: bool  # it was put together again, proven, and is served: nothing is lost
    part: int  # of a record in parts (reason "part"): the part that is missing,
    part_at: int  # where it must begin,
    part_lacks: int  # bytes that are missing
    part_total: int  # of so many


class Report(NamedTuple):
    """What a check or a salvage found."""

    verdict: str  # the worst: "clean", "torn", "unknown", "corrupt"
    segments: int
    frames: int
    records: int
    bytes: int
    body_bytes: int
    stored_bytes: int
    damages: int
    lost: int
    beyond: int  # records in valid frames behind an unconfirmed end: not in the log
    first_ordinal: Optional[int]
    next_ordinal: Optional[int]  # None: the end of the log is missing
    first_time: Optional[_datetime.datetime]
    last_time: Optional[_datetime.datetime]
    closed: bool
    confirmed: bool
    kind: str
    first_key: object
    last_key: object
    keyless: int
    plain: bool
    begins_late: bool
    unsigned_records: int
    outputs: int  # of a salvage: logs that were written
    salvaged: Optional[int]  # of a salvage: records in them


class Output(NamedTuple):
    """A log that a salvage wrote."""

    path: str
    number: int
    records: int
    unsigned_records: int
    source: Optional[str]  # where the first record stood: the file,
    segment: int
    begin: int
    ordinal: int


class MergeReport(NamedTuple):
    """What a merge did."""

    verdict: str  # the worst found in a log
    read: int  # records of all logs
    records: int  # of the new one
    repeats: int  # left out: an earlier log has the same record
    conflicts: int  # keys that several logs have different records of: all are kept
    sorted: int  # logs whose keys were not in order, and that were sorted first
    damages: int
    lost: int


class Carved(NamedTuple):
    """A log that was carved out. What a check says of it is None where it took it for none: a salvage may help then."""

    path: str
    proven: bool  # its secrets are known, and each frame bears their signature
    segments: int
    frames: int
    rejoined: int  # of these, those that stood in two pieces
    records: Optional[int]
    damages: Optional[int]
    lost: Optional[int]
    verdict: Optional[str]


class CarveReport(NamedTuple):
    """What a carving looked through, and found."""

    files: int
    bytes: int
    unread: int  # of these, those that could not be read
    logs: int
    segments: int
    frames: int
    rejoined: int
    broken: int  # places where a header of one of these logs stands, and no frame could be put together
    gave_up: bool  # there may be more frames
    held: int  # whole frames of one of these logs that are left out, as they may be a record's bytes


class RepairStep(NamedTuple):
    """One thing to be mended: bytes [begin, end) of a file; both 0 of an index."""

    kind: str  # "header", "zeros", "name", "frame", "bit", "index"
    safe: bool  # no record that is not read now is read then
    path: str
    to: Optional[str]  # of a name: what the file is called then
    segment: int
    begin: int
    end: int


class RepairReport(NamedTuple):
    """What a repair did, or, dry, would do."""

    steps: int
    left: int  # what could be done with all=True
    records: int  # that are read before
    regained: int  # that are read then, and were not
    before: str  # the worst that is told of the log
    then: str
    damages_before: int
    damages_then: int
    indexes: int
    tries: int  # bits that were flipped in a search,
    tries_us: int  # and the microseconds that took
    gave_up: bool
    finished: bool  # an earlier repair was broken off, and was brought to its end first
    saved: Optional[str]  # the file in the log's directory with the bytes before
