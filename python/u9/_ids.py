"""Identifiers: bytes in their packed form, which sort, print and take themselves apart.

Each is made of its text, or of its packed bytes; `of` makes one of its fields. `floor` and `ceil` are the lowest and the
highest identifier of a time: what was made at that time lies between them, both included.
"""

from . import _u9
from ._plain import microseconds, time_of

bytes_new = bytes.__new__


class Id(bytes):
    """What the identifiers have in common. They order as their packed bytes do; str() is the canonical text."""

    __slots__ = ()
    _kind = ""

    def __new__(cls, what):
        if cls is Id:
            raise TypeError("use Muid, Gid, Tid or Uid8")
        if isinstance(what, str):
            return bytes_new(cls, cls._parse(what))
        raw = bytes_new(cls, what)
        raw.__str__()  # refuses what is none
        return raw

    @classmethod
    def _parse(cls, text):
        return _u9.id_parse(cls._kind, text)

    def __str__(self):
        return _u9.id_text(self._kind, self)

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __format__(self, spec):
        return format(str(self), spec)

    def __reduce__(self):
        return bytes_new, (type(self), bytes(self))

    @property
    def packed(self):
        """The packed bytes, as plain bytes."""
        return bytes_new(bytes, self)


class Muid(Id):
    """(timestamp, medallion, offset): 16 bytes, the default keys of a log."""

    __slots__ = ()
    _kind = "muid"

    @classmethod
    def of(cls, timestamp, medallion, offset):
        return bytes_new(cls, _u9.muid_pack(timestamp, medallion, offset))

    @classmethod
    def floor(cls, time):
        return bytes_new(cls, _u9.id_bound("muid", microseconds(time), False, 0))

    @classmethod
    def ceil(cls, time):
        return bytes_new(cls, _u9.id_bound("muid", microseconds(time), True, 0))

    @property
    def fields(self):
        """(timestamp in microseconds since 1970, medallion, offset)"""
        return _u9.muid_fields(self)

    timestamp = property(lambda self: self.fields[0])
    medallion = property(lambda self: self.fields[1])
    offset = property(lambda self: self.fields[2])
    time = property(lambda self: time_of(self.fields[0]))


class Gid(Id):
    """Prefix, milliseconds, randomness: 16 bytes. Its type is "volume", "log" or "segment"."""

    __slots__ = ()
    _types = {0x80: "gid:volume", 0xA0: "gid:log", 0xC0: "gid:segment"}

    @property
    def _kind(self):
        return self._types.get(self[0] if self else 0, "gid:log")

    @classmethod
    def _parse(cls, text):
        for kind in "gid:volume", "gid:log":
            try:
                return _u9.id_parse(kind, text)
            except ValueError:
                pass
        return _u9.id_parse("gid:segment", text)

    @classmethod
    def of(cls, type, timestamp_ms, random):
        return bytes_new(cls, _u9.gid_pack("gid:" + type, timestamp_ms, random))

    @classmethod
    def floor(cls, type, time):
        return bytes_new(cls, _u9.id_bound("gid:" + type, microseconds(time) // 1000, False, 0))

    @classmethod
    def ceil(cls, type, time):
        return bytes_new(cls, _u9.id_bound("gid:" + type, microseconds(time) // 1000, True, 0))

    @property
    def fields(self):
        """(type, milliseconds since 1970, nine bytes)"""
        return _u9.gid_fields(self)

    type = property(lambda self: self.fields[0])
    timestamp_ms = property(lambda self: self.fields[1])
    random = property(lambda self: self.fields[2])
    time = property(lambda self: time_of(self.fields[1] * 1000))


class Tid(Id):
    """Microseconds and a clock id: 8 bytes, 13 characters."""

    __slots__ = ()
    _kind = "tid"

    @classmethod
    def of(cls, timestamp, clock_id):
        return bytes_new(cls, _u9.tid_pack(timestamp, clock_id))

    @classmethod
    def floor(cls, time):
        return bytes_new(cls, _u9.id_bound("tid", microseconds(time), False, 0))

    @classmethod
    def ceil(cls, time):
        return bytes_new(cls, _u9.id_bound("tid", microseconds(time), True, 0))

    @property
    def fields(self):
        """(timestamp in microseconds since 1970, clock id)"""
        return _u9.tid_fields(self)

    timestamp = property(lambda self: self.fields[0])
    clock_id = property(lambda self: self.fields[1])
    time = property(lambda self: time_of(self.fields[0]))


class Uid8(Id):
    """Milliseconds, sequence, generator, cluster and mode: 8 bytes. Mode 1 orders by time, mode 0 scatters."""

    __slots__ = ()
    _kind = "uid8"

    @classmethod
    def of(cls, timestamp_ms, sequence, generator, cluster, mode=0):
        return bytes_new(cls, _u9.uid8_pack(timestamp_ms, sequence, generator, cluster, mode))

    @classmethod
    def floor(cls, time, mode=0):
        return bytes_new(cls, _u9.id_bound("uid8", microseconds(time) // 1000, False, mode))

    @classmethod
    def ceil(cls, time, mode=0):
        return bytes_new(cls, _u9.id_bound("uid8", microseconds(time) // 1000, True, mode))

    @property
    def fields(self):
        """(milliseconds since 1970, sequence, generator, cluster, mode)"""
        return _u9.uid8_fields(self)

    timestamp_ms = property(lambda self: self.fields[0])
    sequence = property(lambda self: self.fields[1])
    generator = property(lambda self: self.fields[2])
    cluster = property(lambda self: self.fields[3])
    mode = property(lambda self: self.fields[4])
    time = property(lambda self: time_of(self.fields[0] * 1000))
