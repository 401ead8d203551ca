"""u9rows.py: segments, marks, and which files are a log, after SPEC.md (S, L-2, M, H-5): a part of u9read.py."""
import os, re

from u9values import Malformed
from u9frames import FRAME_MAGIC, MAGIC, Frame, body_of, control, frame_at, h, integer, is_end, places, zero


class Mark:
    """What a u9mark says. [C-8]"""
    def __init__(self, c):
        self.log, self.first, self.number, self.boundary, self.secret = c[1], integer(c[2]), integer(c[3]), c[4], c[5]
        self.end, self.ordinal, self.chain = integer(c[6]), integer(c[7]), c[8]


def slot(data):
    """The mark in a slot, None if it is empty; else it is bad. [M-2]"""
    if zero(data):
        return None
    f = frame_at(data, 32, data[8:24], len(data))
    if data[:8] + data[24:32] != MAGIC + bytes(8) or isinstance(f, str) or f.chain != h(data[:32]) or f.count:
        raise Malformed('slot')
    c = control(f.payload[:-80])
    if not c or c[0] != b'u9mark':
        raise Malformed('slot')
    mark = Mark(c[1])
    if mark.end % 16 or not 176 <= mark.end <= 2 ** 43 or h(mark.secret) != mark.boundary:
        raise Malformed('slot')
    return mark


class Segment:
    """One file, and what its u9open says: `number`, the end that it names (`before`), its log and key kind."""
    def __init__(self, path):
        named = re.fullmatch('([0-9a-f]{16})[.]u9', os.path.basename(path))
        self.path, self.file = path, int(named[1], 16) if named else 0
        with open(path, 'rb') as file:
            self.data = file.read()
        self.look(self.data[8:24])
        self.number = self.open_number or self.file

    def look(self, secret):
        self.secret, self.boundary, self.valid, self.open, self.open_number = secret, h(secret), {}, None, 0
        for at in places(self.data, self.boundary, 32):
            f = frame_at(self.data, at, secret, len(self.data))
            if isinstance(f, Frame):
                self.valid[at] = f
        self.damaged_header = self.data[:8] + self.data[24:32] != MAGIC + bytes(8) or secret != self.data[8:24] or \
            not self.valid and self.data[80:88] == FRAME_MAGIC and self.data[32:48] != self.boundary  # H-4
        first = self.valid.get(32)
        try:
            c = control(body_of(first)) if first and first.count == 0 else None
        except (Malformed, IndexError):
            c = None
        if c and c[0] == b'u9open':
            c = c[1]
            ends = Mark([c[0], c[1], bytes(8), c[6], c[7], c[8], c[9], c[10], c[11]])
            if (first.ordinal, first.chain) == (ends.ordinal, ends.chain) and (not ends.number or ends.end >= 32):  # C-3
                self.open, self.open_number, self.before = c, integer(c[3]), ends

    def mend(self, pool):
        """Spare secrets. [H-5]"""
        at32 = self.data[32:48]
        last = self.data[-4096:] if len(self.data) % 4096 == 0 else b''
        called = [n.secret for n in pool if n.number == self.file]
        stands = lambda secret: any(isinstance(frame_at(self.data, at, secret, len(self.data)), Frame)
                                    for at in places(self.data, h(secret), 32))
        spares = [n.secret for n in pool if n.boundary == at32] + [s for s in called if stands(s)]
        spares += [m[1] for m in re.finditer(b'(?=\x1c\x10(.{16}))', last, re.S) if h(m[1]) == last[:16]]
        for i in range(128 if len(self.data) >= 96 else 0):
            secret = bytearray(self.data[8:24])
            secret[i // 8] ^= 1 << i % 8
            spares += [bytes(secret)] if h(bytes(secret)) == at32 else []
        spares += called
        for secret in spares[:1]:
            if secret != self.secret:
                self.look(secret)

    def begin(self, x):
        """Where the frame begins that stands at x, or behind zeros at the next block. [F-8]"""
        block = x + -x % 4096
        return block if zero(self.data[x:block]) else x

    def behind(self, x):
        """The first valid frame from x on."""
        return min((f for f in self.valid.values() if f.at >= x), key=lambda f: f.at, default=None)

    def last(self):
        return self.valid[max(self.valid)] if self.valid else None

    def sealed(self):
        """[S-6]"""
        f = self.last()
        return bool(f and is_end(f, 2) and f.at % 4096 == 0 and f.end - f.at <= 4096)

    def blank(self):
        """A creation cut short, if nothing names it. [L-4]"""
        d = self.data
        return not self.open and (len(d) < 96 or zero(d[:512])) and not any(whole(d, at - 48) for at in places(d, FRAME_MAGIC, 80))

    def nothing(self):
        """No segment, and never was one. [L-4]"""
        return self.data[:7] != MAGIC[:7] and not any(places(self.data, FRAME_MAGIC, 80))

    def trim(self):
        """(first segment kept, its ordinal) of the u9trim in its place, or (0, 0). [C-5]"""
        f = self.valid.get(self.valid[32].end) if self.open else None
        c = control(f.payload[:-80]) if f and f.count == 0 and f.at < 4096 else None
        return (integer(c[1][1]), integer(c[1][2])) if c and c[0] == b'u9trim' and integer(c[1][1]) <= self.number else (0, 0)


def whole(data, p):
    """A frame that is whole but for boundary and signature, and promises. [L-4]"""
    length = integer(data[p + 56:p + 64])
    payload = data[p + 64:p + 64 + length]
    return 80 <= length == len(payload) and h(payload) == data[p + 16:p + 32] and not zero(payload[-35:-27])


class Log:
    """Which files are the log, and in which order. [L-2]"""
    def __init__(self, files, mark, plain):
        self.mark, self.plain, self.copies, self.foreign, self.missing = mark, plain, [], [], {}
        self.spare(files)
        self.taken = self.identities(files)
        opens = [s for s in self.taken if s.open]
        ids = [s.open[1] for s in opens]
        if mark and ids and mark.log not in ids:
            self.mark = None  # M-4
        log = self.mark.log if self.mark else max(ids, key=ids.count, default=None)
        named = {s.before.boundary for s in opens if s.before.number} | ({self.mark.boundary} if self.mark else set())
        alien = lambda s: s.open[1] != log or s.before.number >= s.number or s.number >= 2 ** 63 if s.open else \
            s.boundary not in named and not s.blank() and (s.nothing() or s.number >= 2 ** 63)
        self.foreign = [s for s in self.taken if alien(s)]
        self.blanks = [s for s in self.taken if s.blank() and s.boundary not in named]
        self.belong = [s for s in self.taken if s not in self.foreign and s not in self.blanks]
        self.trimmed = max([s.trim() for s in self.belong], default=(0, 0))
        order = lambda s: (s.number, integer(s.open[4]) if s.open else 0, s.path)
        rows = [self.down(s) for s in sorted(self.belong, key=order, reverse=True)]  # L-2, 5
        self.row, self.missing = next((r for r in rows if self.keeps(r[0])), rows[0] if rows else ([], {}))
        self.after = {s: n for s, n in zip(self.row, self.row[1:]) if n.open and n.before.boundary == s.boundary}
        self.off = [s for s in self.belong if s not in self.row]
        self.accepted = max([integer(s.open[14]) for s in self.row if s.open and len(s.open) > 14 and len(s.open[14]) == 8], default=0)

    def spare(self, files):
        """[H-5]: a secret that is found may name others."""
        found = -1
        while found != sum(bool(s.open) for s in files):
            found = sum(bool(s.open) for s in files)
            pool = sorted((s.before for s in files if s.open and s.before.number), key=lambda n: -n.number)
            for s in files:
                if not s.open:
                    s.mend(pool + [self.mark] * bool(self.mark))

    def identities(self, files):
        """One file of each boundary, under its number. [L-2, 2]"""
        names = {n.boundary: n for n in sorted((s.before for s in files if s.open), key=lambda n: n.number)}
        if self.mark:
            names.setdefault(self.mark.boundary, self.mark)
        best = {}
        for s in files:
            n = names.get(s.boundary)
            s.number = s.open_number or (n.number if n else s.file)
            met = n and any((f.end, f.sha) == (n.end, n.chain) for f in s.valid.values())
            rank = (not met, -(s.last().end if s.valid else 0), -sum(f.count for f in s.valid.values()),
                    -len(s.valid), s.damaged_header, s.file != s.number, s.path)
            best.setdefault(s.boundary, []).append((rank, s))
        for group in best.values():
            group.sort(key=lambda pair: pair[0])
            self.copies += [s for _, s in group[1:]]
        return [group[0][1] for group in best.values()]

    def down(self, s):
        """The row that ends in s, and what is missing in it: number -> the segment behind it. [L-2, 6 and 7]"""
        row, missing = [s], {}
        while True:
            s = row[0]
            if s.open and not s.before.number:
                return row, missing
            lower = [t for t in self.belong if t.number < s.number]
            if s.open and s.before.boundary not in [t.boundary for t in lower]:
                if self.counts(s):
                    return row, missing
                missing[s.before.number] = s
                lower = [t for t in lower if t.number < s.before.number]
            elif s.open:
                lower = [t for t in lower if t.boundary == s.before.boundary]
            if not lower:
                return row, missing
            row.insert(0, max(lower, key=lambda t: t.number))

    def counts(self, s):
        """Whether what s names was trimmed. [C-5]"""
        m = self.mark
        return self.trimmed[0] > s.before.number or bool(m and m.first and m.first >= s.before.ordinal)

    def keeps(self, row):
        """Whether that row leaves out nothing that the mark promises. [L-2, 5]"""
        m = self.mark
        for s in row if m else ():
            if s.open and s.before.number and s.before.boundary == m.boundary:
                return s.before.end >= m.end
        return not m or not row or any(s.boundary == m.boundary for s in row) or row[-1].number < m.number

    def proven(self, s):
        """Whether the seal of s says that the next segment is there. [L-2, 8]"""
        return s.sealed() and not (self.mark and self.plain and self.mark.number <= s.number)

    def stray(self, s):
        """What was promised of a segment off the row: (records, end). [L-9]"""
        names = [t.before for t in self.taken if t.open and t.before.number] + ([self.mark] if self.mark else [])
        return self.promised(s, 32, s.open and s.before.ordinal, [n for n in names if n.boundary == s.boundary])

    def promised(self, s, end, ordinal, names):
        frames = [f for f in s.valid.values() if f.at >= end]
        p = max([n.end for n in names] + [f.durable for f in frames], default=0)
        lost = sum(f.count for f in frames if f.end <= p)
        lost = max([lost] + [n.ordinal - ordinal for n in names if n.end == p and ordinal is not None])
        return (lost, p) if p > end and lost > 0 else (0, 0)
