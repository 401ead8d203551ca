"""u9: an append-only record log.

    with u9.open("events", "c") as log:
        place = log.append({"path": "/", "status": 200})
        log.commit(place)

    with u9.open("events") as log:
        for record in log:
            print(record.key, record.values)

docs/python.md walks through it all.
"""

import atexit as _atexit

from . import _errors, _ids, _plain, _u9
from ._errors import (AbsentError, AbsentKeyError, AgainError, ArgumentError, CorruptError, EndError, Error, LimitError,
                      LockedError, NoMemoryError, PoisonedError, StateError, SystemFault, TornError, VersionError)
from ._ids import Gid, Id, Muid, Tid, Uid8
from ._plain import (Carved, CarveReport, Damage, Greek, MergeReport, Output, Pidfd, RepairReport, RepairStep, Report, Split,
                     Symbol, Tau)
from ._u9 import (Array, Cursor, Generator, Log, Place, Reading, Record, Writing, carve, check, decode, encode, merge, open,
                  parse, repair, salvage, text, undo)

__version__ = _u9.version

_u9._learn({**vars(_plain), **vars(_ids), **vars(_errors)})
_atexit.register(_u9._close_all)


class Batch:
    """Records that are appended together: after a crash all of them are there, or none.

        with log.batch() as batch:
            batch.append("GET", 200)
            batch.append("PUT", 201)
        log.commit(batch.places[-1])

    They are appended at the end of the block, unless it raised; without a block, by end().
    """

    def __init__(self, log):
        self.log = log
        self.places = None
        self._rows = []

    def append(self, *values, key=None):
        """Adds a record; errors of values and keys come here."""
        self._rows.append((self.log._raw_key(key), encode(*values)))

    def end(self):
        """Appends them all, or none of them, and returns their places."""
        rows, self._rows = self._rows, []
        self.places = self.log._append_batch(rows)
        return self.places

    def __len__(self):
        return len(self._rows)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.end()


def _batch(self):
    """batch() -> Batch: records to be appended together."""
    return Batch(self)


Log.batch = _batch

__all__ = [name for name in dir() if not name.startswith("_")]
