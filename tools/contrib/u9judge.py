#!/usr/bin/env python3
"""u9judge.py: reads u9 logs as u9read.py does, and judges what is damaged by all that SPEC.md says of it.

Usage: u9judge.py LOG         LOG is a log's directory, or one segment file

Prints the records, and tells damage on standard error: file, range, verdict, reason (R-15), and how many records are lost
by it (? is not known). Exit status: 0, 1 damage was told (a torn tail, which a crash leaves, is a note), 2 wrong usage,
or what is there is no log.

Here is what u9read.py leaves out: which files are the log, by the mark and by what was promised (L-2, L-4, L-9, M), spare
secrets (H-5), and the verdicts (R). Left out here too: copies of a segment that hold more records than the one that is
read (L-9, third clause), other versions (H-4), unreadable bytes (R-11), a writer at work (R-10, R-14), mending (Y).
"""
import os, re, sys

sys.dont_write_bytecode = True
import u9read
from u9read import (End, FRAME_MAGIC, LONGEST, MAGIC, Malformed, control, files_of, frame_at, h, held, integer,
                    must, places, xor, zero)

class Mark(End):
    """The end that a u9mark names, the log's id and first ordinal. [C-8]"""
    def __new__(cls, c):
        mark = super().__new__(cls, integer(c[3]), c[4], c[5], integer(c[6]), integer(c[7]), c[8])
        mark.log, mark.first = c[1], integer(c[2])
        return mark

def slot(data):
    """The mark in a slot, None if it is empty; else it is bad. [M-2]"""
    if zero(data):
        return None
    f = frame_at(data, 32, data[8:24], len(data))
    must(data[:8] + data[24:32] == MAGIC + bytes(8) and f.chain == h(data[:32]) and not f.count, 'slot')
    name, c = control(f.payload[:-80])
    must(name == 'u9mark', 'slot')
    mark = Mark(c)
    must(mark.end % 16 == 0 and 176 <= mark.end <= 2 ** 43 and h(mark.secret) == mark.boundary, 'slot')
    return mark

def is_mark(data):
    """Whether that is a slot that is valid. [M-2]"""
    try:
        return len(data) == 4096 and slot(data) is not None
    except Malformed:
        return False

def is_end(f, kind=None):
    """Whether that frame is a u9end. [C-4]"""
    return f.payload[5:14] == b'\x0au9end\0\0\0' and f.count == 0 and kind in (None, f.payload[15])

class Segment(u9read.Segment):
    """One file, with what is needed to judge it."""
    def look(self, secret):
        super().look(secret)
        self.damaged_header = self.data[:8] + self.data[24:32] != MAGIC + bytes(8) or secret != self.data[8:24] or \
            not self.valid and self.data[80:88] == FRAME_MAGIC and self.data[32:48] != self.boundary  # H-4

    def stands(self, secret):
        """Whether there is a valid frame of that secret."""
        for at in places(self.data, h(secret), 32):
            try:
                return bool(frame_at(self.data, at, secret, len(self.data)))
            except Malformed:
                pass
        return False

    def mend(self, pool):
        """Spare secrets. [H-5]"""
        at32 = self.data[32:48]
        last = self.data[-4096:] if len(self.data) % 4096 == 0 else b''
        called = [n.secret for n in pool if n.number == self.file]
        spares = [n.secret for n in pool if n.boundary == at32] + [s for s in called if self.stands(s)]
        spares += [m[1] for m in re.finditer(b'(?=\x1c\x10(.{16}))', last, re.S) if h(m[1]) == last[:16]]
        for i in range(128 if len(self.data) >= 96 else 0):
            secret = bytearray(self.data[8:24])
            secret[i // 8] ^= 1 << i % 8
            spares += [bytes(secret)] if h(bytes(secret)) == at32 else []
        own = self.data[8:24]
        spares += [] if h(own) == at32 or self.stands(own) else called
        for secret in spares[:1]:
            if secret != self.secret:
                self.look(secret)

    def last(self):
        return self.valid[max(self.valid)] if self.valid else None

    def sealed(self):
        """[S-6]"""
        f = self.last()
        return bool(f and is_end(f, 2) and f.at % 4096 == 0 and f.end - f.at <= 4096)

    def blank(self):
        """A creation cut short, if nothing names it. [L-4]"""
        d = self.data
        promises = (whole(d, at - 48) for at in places(d, FRAME_MAGIC, 80))
        return not self.open and (len(d) < 96 or zero(d[:512])) and not any(promises)

    def nothing(self):
        """No segment, and never was one, or a mark. [L-4]"""
        if self.data[:7] == MAGIC[:7]:
            return is_mark(self.data[:4096])
        return not any(places(self.data, FRAME_MAGIC, 80))

    def trim(self):
        """(first segment kept, its ordinal) of the u9trim in its place, or (0, 0). [C-5]"""
        f = self.valid.get(self.valid[32].end) if self.open else None
        name, c, _ = held(f if f and f.at < 4096 else None)
        return (integer(c[1]), integer(c[2])) if name == 'u9trim' and integer(c[1]) <= self.number else (0, 0)

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
        accepted = [s.open[14] for s in self.row if s.open and len(s.open) > 14]
        self.accepted = max([integer(n) for n in accepted if len(n) == 8], default=0)

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
            s.number = s.number if s.open else n.number if n else s.file
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
        return self.trimmed[0] > s.before.number or bool(m and m.number >= s.number and m.first >= s.before.ordinal)

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

class Judge(u9read.Reader):
    """Prints the records, and judges what is damaged."""
    def __init__(self, log, alone):
        super().__init__(log.row, alone)
        self.log = log

    def tell(self, path, begin, end, verdict, reason, lost=0, most=False):
        """A damaged place; lost is None if it is not known. [R-15]"""
        self.damaged |= verdict != 'torn'
        note = 'note: ' if verdict == 'torn' else ''
        count = ('at most %d' if most else '%d') % lost if lost is not None and lost >= 0 else '?'
        print('u9judge: %s%s [%d,%d): %s: %s; lost: %s' % (note, path, begin, end, verdict, reason, count), file=sys.stderr)

    def whole_log(self, path):
        """All that is told, in its order, and all records. [R-15, precedence]"""
        log, told = self.log, {}
        names = log.row
        add = lambda number, rank, call: told.setdefault((number, rank, len(told)), call)
        for s in log.foreign:
            lost = None if not s.open and s.nothing() else 0
            add(s.file, 1, lambda s=s, n=lost: self.tell(s.path, 0, len(s.data), 'UNKNOWN', 'foreign', n))
        for s in log.copies:
            add(s.file, 1, lambda s=s: self.tell(s.path, 0, len(s.data), 'torn', 'name'))
        for s in log.off:
            if log.stray(s)[0]:
                add(s.number, 1, lambda s=s: self.tell(s.path, 0, len(s.data), 'CORRUPT', 'fork', log.stray(s)[0]))
        for s in log.blanks:
            if not names or s.number > names[-1].number:
                add(s.number, 1, lambda s=s: self.tell(s.path, 0, len(s.data), 'torn', 'blank'))
        missing = dict(log.missing)
        behind = next((s for s in names if log.mark and s.number > log.mark.number), None)  # L-2, 8
        if behind and log.trimmed[0] <= log.mark.number and not any(s.boundary == log.mark.boundary for s in log.taken):
            missing[log.mark.number] = behind
        for number, s in sorted(missing.items()):
            ordinal = s.before.ordinal if s.open else None
            add(s.number, 0, lambda n=number, to=ordinal: self.gone(path, n, to))
        for s in names:
            add(s.number, 2, lambda s=s: self.segment(s, log.after.get(s)))
        for key in sorted(told, key=lambda k: k[:2]):
            told[key]()
        self.last_missing(path)

    def gone(self, path, number, ordinal):
        """[L-4]"""
        self.ordinal = self.ordinal or 0
        self.tell('%s/%016x.u9' % (path, number), 0, 0, 'CORRUPT', 'missing', self.less(ordinal))
        self.ordinal = ordinal

    def last_missing(self, path):
        """What is missing behind the row. [L-2, 8] [M-4]"""
        row, m = self.log.row, self.log.mark
        there = m and any(s.boundary == m.boundary for s in self.log.taken)
        if m and not there and (not row or m.number > row[-1].number):
            lost = self.less(m.ordinal) if row else m.ordinal - m.first
            self.tell('%s/%016x.u9' % (path, m.number), 0, m.end, 'CORRUPT', 'mark', lost)
        elif row and self.log.proven(row[-1]):
            self.tell('%s/%016x.u9' % (path, row[-1].number + 1), 0, 0, 'CORRUPT', 'missing', None)

    def head(self, s):
        """What is told of a segment before it is read. [L-4]"""
        if s.file != s.number and not self.alone:
            self.tell(s.path, 0, 0, 'torn', 'name')
        if s.damaged_header:
            mark = not self.alone and self.log.mark
            known = s.valid or not self.alone and s in self.log.after or mark and mark.boundary == s.boundary
            self.tell(s.path, 0, 32, 'CORRUPT', 'header', 0 if known else None)

    def segment(self, s, after=None):
        """Prints what is in the segment, up to the end that its successor names. [R-1] to [R-7]"""
        self.head(s)
        log, end = self.log, after.before if after else None
        mark = log.mark if log.mark and log.mark.boundary == s.boundary else None
        if end:
            names = [t.before for t in log.taken if t.open and t.before.boundary == s.boundary] + [mark] * bool(mark)
            lost, p = log.promised(s, end.end, end.ordinal, names)
            if lost:
                self.tell(s.path, end.end, p, 'CORRUPT', 'fork', lost)  # L-9
        limit, x, last = end.end if end else len(s.data), 32, None
        lower = log.row[log.row.index(s) - 1] if s in log.row[1:] else None
        promised = limit if end else max([f.durable for f in s.valid.values()] + [mark.end if mark else 0] +
                                         [96] * bool(lower and log.proven(lower)))
        for f, gap in self.walk(s, limit, promised):
            stop = x + len(s.data[x:f.at].rstrip(b'\0'))
            if stop > x and not gap:
                self.tell(s.path, x, stop, 'CORRUPT' if f.at <= promised else 'UNKNOWN', 'fill')
            if mark and x < mark.end <= f.end:  # M-4
                met = (f.end, f.ordinal + f.count, f.sha) == (mark.end, mark.ordinal, mark.chain)
                if not met and not (gap and mark.end <= f.at):
                    self.tell(s.path, mark.end, mark.end, 'CORRUPT', 'fork', None)
            if not zero(f.padding):
                self.tell(s.path, f.end - len(f.padding), f.end, 'CORRUPT' if f.end <= promised else 'UNKNOWN', 'padding')
            self.frame(s, f)
            x, last = f.end, f
        y = s.behind(x)
        if end:
            self.named_end(s, x, last, end, after)
        elif x < promised:
            cut = mark and mark.end == promised
            ordinal = mark.ordinal if cut else y.ordinal if y else None
            self.tell(s.path, x, promised, 'CORRUPT', 'mark' if cut else self.reason(s, x, limit), self.less(ordinal), not cut)
            self.ordinal = ordinal
        else:
            self.tail(s, x, last, y)

    def named_end(self, s, x, last, end, after):
        """[R-5] [R-8] [R-17]"""
        whole = x == end.end and (self.ordinal, last and last.sha) == (end.ordinal, end.chain)
        if not whole:
            reason = 'follow' if x == end.end else 'cut' if len(s.data) < end.end else self.reason(s, x, end.end)
            self.tell(s.path, x, end.end, 'CORRUPT', reason, self.less(end.ordinal))
        elif after.open[12] == b'\2':
            while last:  # the frames of a seal
                near = (s.valid.get(x), s.valid.get(x + -x % 4096))
                f = next((g for g in near if g and (g.previous, g.chain, g.count) == (last.at, last.sha, 0)), None)
                if f and not zero(s.data[x:f.at]):
                    self.tell(s.path, x, f.at, 'UNKNOWN', 'seal')
                x, last, done = (f.end, f, f) if f else (x, None, last)
            d, stop, torn = self.extent(s, x)
            if not zero(s.data[x:]):
                torn = torn and not (is_end(done) and (s.sealed() or done.at + 4096 == len(s.data)))
                self.tell(s.path, d, stop, 'torn' if torn else 'UNKNOWN', 'seal')
        elif after.open[12] == b'\4' and s.number > self.log.accepted:
            (d, stop, _), y = self.extent(s, x), s.behind(x)
            d, stop = (x, x) if zero(s.data[d:]) else (d, stop)
            self.tell(s.path, d, stop, 'UNKNOWN', self.reason(s, x, len(s.data)), self.less(y and y.ordinal), True)
        self.ordinal = end.ordinal

    def extent(self, s, x):
        """Where the damaged frame behind x begins and ends, and whether it was torn. [R-6]"""
        data, d = s.data, s.begin(x)
        length = integer(data[d + 56:d + 64])
        if (data[d:d + 16], data[d + 48:d + 56]) == (s.boundary, FRAME_MAGIC) and 80 <= length <= LONGEST and \
                data[d + 32:d + 48] == h(xor(data[d + 16:d + 32], s.secret)):
            e = d + 64 + length
        else:
            stop = next(places(data, s.boundary, d + 16), len(data))
            e = max(d + 64, d + len(data[d:stop].rstrip(b'\0')))
        torn = e > len(data) or any(zero(data[b:b + 512]) for b in range(d - d % 512, e, 512) if b + 512 <= len(data))
        return d, min(e, len(data)), torn

    def tail(self, s, x, last, y):
        """[R-6]"""
        if last and is_end(last) and last.at % 4096 == 0 and (len(s.data) == last.at + 4096 or last is s.last() and s.sealed()):
            if not zero(s.data[x:]):
                self.tell(s.path, x, x + len(s.data[x:].rstrip(b'\0')), 'UNKNOWN', 'fill')
            return
        d, end, torn = self.extent(s, x)
        if zero(s.data[d:]):
            return self.tell(s.path, x, x, 'torn', 'unclosed')
        lost = 0 if torn else self.less(y.ordinal) if y else None
        self.tell(s.path, d, end, 'torn' if torn else 'UNKNOWN', self.reason(s, x, len(s.data)), lost, not torn)

def read_mark(path):
    """The mark of that directory, if it promises; whether it is plain: one name, no bad slot; and the bad slots. [M-3] [M-4]"""
    path = os.path.join(path, '.mark')
    if not os.path.exists(path):
        return None, False, []
    with open(path, 'rb') as file:
        data = file.read(8192)
    good, bad = [], []
    for at in (0, 4096):
        try:
            good.append(slot(data[at:at + 4096]))
        except Malformed:
            bad.append(at)
    mark = max((m for m in good if m), key=lambda m: (m.number, m.end), default=None)
    one = os.stat(path).st_nlink == 1
    return mark if one else None, one and not bad, bad

def main():
    path = sys.argv[1].rstrip('/') if len(sys.argv) == 2 else sys.exit(print('Usage: u9judge.py LOG', file=sys.stderr) or 2)
    alone = not os.path.isdir(path)
    mark, plain, bad = (None, False, []) if alone else read_mark(path)
    log = Log([Segment(name) for name in files_of(path)], mark, plain)
    if not log.mark and len(log.foreign + log.blanks) == len(log.taken) or alone and log.taken[0].blank():  # M-6, L-8
        sys.exit(print('u9judge: %s: no log is here' % path, file=sys.stderr) or 2)
    judge = Judge(log, alone)
    for at in bad:
        judge.tell(path + '/.mark', at, at + 4096, 'torn' if len(bad) == 1 else 'UNKNOWN', 'mark')
    if alone:
        judge.segment(log.taken[0])
    else:
        judge.whole_log(path)
    sys.stdout.flush()
    sys.exit(1 if judge.damaged else 0)

if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:
        os._exit(1)  # nobody reads on
