"""Fixtures. The package is the one that is installed, not that of the source tree."""
import pathlib

import pytest
import u9


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def log(path):
    with u9.open(path, "c") as log:
        yield log


@pytest.fixture
def ten(path):
    """A closed log of the records (0) to (9)."""
    with u9.open(path, "c") as log:
        for i in range(10):
            log.append(i)
    return path


@pytest.fixture
def harm():
    """harm(path, text): flips a bit of these bytes, where they stand in a segment."""

    def flip(path, text):
        for file in sorted(pathlib.Path(path).glob("*.u9")):
            raw = bytearray(file.read_bytes())
            at = raw.find(text)
            if at >= 0:
                raw[at] ^= 1
                file.write_bytes(raw)
                return file
        raise AssertionError("the bytes are not there")

    return flip


@pytest.fixture
def harmed(path, harm):
    """Ten records in frames of their own, the fourth of which is damaged: what follows promises it."""
    with u9.open(path, "c") as log:
        for i in range(10):
            log.commit(log.append(i, "needle-%d" % i))
    harm(path, b"needle-3")
    return path
