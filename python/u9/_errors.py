"""What libu9 refuses, as exceptions: a class for each kind of error, with the whole fault."""


class Error(Exception):
    """Something that libu9 refused.

    name     the kind of error ("CORRUPT"), and its number: code
    errno    of the failed system call, 0 if none
    segment  the number of the segment, offset the byte in its file, or in what was given; None if there is none
    rule     the rule of SPEC.md or SPEC-values.md that was broken ("F-7"), or ""
    path     the file or directory; None if there is none
    text     one sentence: what is wrong
    damage   what a cursor met (a Damage), or None
    """

    code = 0
    name = ""
    errno = 0
    segment = None
    offset = None
    rule = ""
    path = None
    text = ""
    damage = None

    def __str__(self):
        return self.args[0] if self.args else ""


class EndError(Error):
    """There is no more."""


class AgainError(Error):
    """Not now: it may be tried again."""


class AbsentError(Error, LookupError):
    """No log is there; or records that come next were trimmed (damage says which)."""


class AbsentKeyError(AbsentError, KeyError):
    """No record has this key."""

    __str__ = Error.__str__


class ArgumentError(Error, ValueError):
    """An argument is outside its documented range."""


class NoMemoryError(Error, MemoryError):
    """Memory could not be had."""


class SystemFault(Error, OSError):
    """The system refused: errno says why."""

    __str__ = Error.__str__


class CorruptError(Error):
    """Bytes that were promised durable are damaged, or bytes break the format."""


class TornError(Error):
    """Bytes end early."""


class VersionError(Error):
    """Well-formed, but from a later version of the format."""


class LimitError(Error):
    """A documented limit is exceeded."""


class LockedError(Error):
    """Another writer has the log."""


class StateError(Error):
    """This call is not allowed now: the log is closed, open for reading, in use, of a process before a fork."""


class PoisonedError(Error):
    """An earlier write or sync failed: this writer is dead, reads go on."""


_classes = {
    1: EndError, 2: AgainError, 3: AbsentError, -1: ArgumentError, -2: NoMemoryError, -3: SystemFault, -4: CorruptError,
    -5: TornError, -6: VersionError, -7: LimitError, -8: LockedError, -9: StateError, -10: PoisonedError,
}


def make_error(code, name, errno, segment, offset, rule, path, text, line, damage):
    """For the extension."""
    if not line and damage is not None:
        line = f"{damage.path}: offset {damage.begin}: {damage.text} [{damage.rule}]"
    error = _classes.get(code, Error)(f"{name}: {line}" if line else name)
    error.code, error.name, error.errno = code, name, errno
    error.segment, error.offset, error.rule = segment, offset, rule
    error.path, error.text, error.damage = path, text, damage
    if isinstance(error, OSError):
        error.filename = path
        error.strerror = text
    return error


def absent_key(key):
    """For the extension."""
    error = AbsentKeyError(f"ABSENT: no record has the key {key!s}")
    error.code, error.name, error.text = 3, "ABSENT", "no record has this key"
    return error
