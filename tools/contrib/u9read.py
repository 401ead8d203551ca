#!/usr/bin/env python3
"""u9read.py: a second reader of u9 logs, after SPEC.md; Python's standard library and nothing else.

Usage: u9read.py LOG          LOG is a log's directory, or one segment file

Verifies boundaries, signatures, hashes and the chain, prints each record as a JSON object (ordinal, key, time,
values) as `u9 cat --format json` does, and tells damage on standard error: file, range, verdict, reason (R-15), and
how many records are lost by it (? is not known). Exit status: 0, 1 damage was told (a torn tail, which a crash
leaves, is a note), 2 wrong usage, or what is there is no log.

To be read from the bottom up: u9values.py passes values and writes them as JSON, u9frames.py proves frames and takes the
records out of them, u9rows.py finds out which files are the log; here it is read, and damage judged. To read a log that
is whole takes half of that; the rest is for logs that are not.

Left out: copies of a segment that hold more records than the one that is read (L-9, third clause), other versions
(H-4), unreadable bytes (R-11), a writer at work (R-10, R-14), mending (Y). It reads whole files into memory.
"""
import datetime, os, re, struct, sys

sys.dont_write_bytecode = True
from u9frames import FRAME_MAGIC, body_of, control, fits, frame_at, h, integer, is_end, key_text, places, record_at, xor, zero
from u9rows import Log, Segment, slot
from u9values import Malformed, string, whole_json


class Reader:
    """Prints the records, and tells what is damaged."""
    def __init__(self):
        self.damaged, self.kind, self.ordinal, self.row, self.log = False, 'muid', None, None, None

    def tell(self, path, begin, end, verdict, reason, lost=0, most=False):
        """A damaged place; lost is None if it is not known. [R-15]"""
        self.damaged |= verdict != 'torn'
        note = 'note: ' if verdict == 'torn' else ''
        count = ('at most %d' if most else '%d') % lost if lost is not None and lost >= 0 else '?'
        print('u9read: %s%s [%d,%d): %s: %s; lost: %s' % (note, path, begin, end, verdict, reason, count), file=sys.stderr)

    def less(self, to, begin=None):
        """How many records lie between the ordinal expected and that one; None if it is not known. [R-3]"""
        begin = self.ordinal if begin is None else begin
        return None if begin is None or to is None or to < begin else to - begin

    def whole_log(self, log, path):
        """All that is told, in its order, and all records. [R-15, precedence]"""
        self.log, told = log, {}
        names = log.row[:]
        add = lambda number, rank, call: told.setdefault((number, rank, len(told)), call)
        for s in log.foreign:
            add(s.file, 1, lambda s=s: self.tell(s.path, 0, len(s.data), 'UNKNOWN', 'foreign', None if not s.open and s.nothing() else 0))
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
        for number in sorted(missing):
            add(missing[number].number, 0, lambda s=missing[number], n=number: self.gone(path, n, s.before.ordinal if s.open else None))
        for s in names:
            add(s.number, 2, lambda s=s: self.segment(s, log.after.get(s)))
        for key in sorted(told, key=lambda k: k[:2]):
            told[key]()
        self.last_missing(path)

    def gone(self, path, number, ordinal, lost=None):
        """[L-4]"""
        if self.ordinal is None:
            self.ordinal = 0
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

    def head(self, s, lone):
        """What is told of a segment before it is read. [L-4]"""
        if s.file != s.number and not lone:
            self.tell(s.path, 0, 0, 'torn', 'name')
        if s.damaged_header:
            known = s.valid or self.log and (s in self.log.after or self.log.mark and self.log.mark.boundary == s.boundary)
            self.tell(s.path, 0, 32, 'CORRUPT', 'header', 0 if known else None)

    def segment(self, s, after=None):
        """Prints what is in the segment, up to the end that its successor names. [R-1] to [R-7]"""
        data, log = s.data, self.log
        self.head(s, not log)
        end = after.before if after else None
        mark = log.mark if log and log.mark and log.mark.boundary == s.boundary else None
        if end:
            names = [t.before for t in log.taken if t.open and t.before.boundary == s.boundary] + [mark] * bool(mark)
            lost, p = log.promised(s, end.end, end.ordinal, names)
            if lost:
                self.tell(s.path, end.end, p, 'CORRUPT', 'fork', lost)  # L-9
        limit = end.end if end else len(data)
        valid = {at: f for at, f in s.valid.items() if f.end <= limit}
        lower = log.row[log.row.index(s) - 1] if log and s in log.row[1:] else None
        promised = limit if end else max([f.durable for f in valid.values()] + [mark.end if mark else 0, 96 if lower and log.proven(lower) else 0])
        if s.open:
            self.ordinal, chain = s.before.ordinal, s.before.chain
        else:
            self.ordinal, chain = 0 if self.ordinal is None and log and s.number == 1 else self.ordinal, None
        x, last, self.row = 32, None, None
        follows = lambda f: f and (f.at == 32 and self.ordinal in (None, f.ordinal) and chain in (None, f.chain) if last is None else
                                   (f.previous, f.ordinal, f.chain) == (last.at, last.ordinal + last.count, last.sha))
        while not (end and x >= limit):
            block, gap = x + -x % 4096, False
            f = valid.get(x)
            if not follows(f):
                f = valid.get(block)
                if follows(f) and not zero(data[x:block]):
                    self.tell(s.path, x, x + len(data[x:block].rstrip(b'\0')), 'CORRUPT' if block <= promised else 'UNKNOWN', 'fill')
            if not follows(f):
                f = min((g for g in valid.values() if g.at >= x), key=lambda g: g.at, default=None)
                if f is None or not (f.previous < promised or promised >= f.at):
                    break
                gap = True
                self.tell(s.path, x, f.at, 'CORRUPT', self.reason(s, x, limit), self.less(f.ordinal))
            if mark and x < mark.end <= f.end:  # M-4
                met = (f.end, f.ordinal + f.count, f.sha) == (mark.end, mark.ordinal, mark.chain)
                if not met and not (gap and mark.end <= f.at):
                    self.tell(s.path, mark.end, mark.end, 'CORRUPT', 'fork', None)
            self.frame(s, f, promised)
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
            d, stop, _ = self.extent(s, x)
            y = s.behind(x)
            lost = self.less(y.ordinal) if y else None
            self.tell(s.path, x if zero(s.data[d:]) else d, x if zero(s.data[d:]) else stop, 'UNKNOWN', self.reason(s, x, len(s.data)), lost, True)
        self.ordinal = end.ordinal

    def reason(self, s, x, limit):
        """[R-12]"""
        f = frame_at(s.data, s.begin(x), s.secret, limit)
        return f if isinstance(f, str) else 'follow'

    def extent(self, s, x):
        """Where the damaged frame behind x begins and ends, and whether it was torn. [R-6]"""
        data, d = s.data, s.begin(x)
        length = integer(data[d + 56:d + 64])
        if (data[d:d + 16], data[d + 48:d + 56]) == (s.boundary, FRAME_MAGIC) and fits(length) and \
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

    def frame(self, s, f, promised):
        self.ordinal = f.ordinal
        if not zero(f.padding):
            self.tell(s.path, f.end - len(f.padding), f.end, 'CORRUPT' if f.end <= promised else 'UNKNOWN', 'padding')
        try:
            for line in self.records(f):
                print(line)
        except (Malformed, IndexError, struct.error) as why:
            self.tell(s.path, f.at, f.end, 'CORRUPT', 'part' if str(why) == 'part' else 'body', f.count)
        self.ordinal = f.ordinal + f.count

    def part(self, f, c):
        """Passes a part; the record, behind the last one. [C-6]"""
        part, total, before = (integer(e) for e in c[1:4])
        row = self.row
        if not row or row[0] != total or part <= row[1]:
            row = self.row = [total, part, None, b'', part == 0 and before == 0]
        elif part != row[1] + 1 or before != row[2]:
            row[4] = False
        row[1:4] = part, f.at, row[3] + c[4]
        if not f.count:
            return None
        self.row = None
        if not row[4] or len(row[3]) != total:
            raise Malformed('part')
        return row[3]

    def records(self, f):
        """The records of a frame as lines. [B-3]"""
        body, lines, at = body_of(f), [], 0
        c = control(body) if body else None
        if c and c[0] == b'u9part':
            body = self.part(f, c[1])
        elif bool(body) != bool(c or f.count) or c and f.count:
            raise Malformed('records that are not counted, or none')
        if not f.count:
            return []
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=f.time)
        time = '"%sZ"' % time.isoformat(timespec='microseconds') if f.time else 'null'
        while at < len(body):
            end, key, values = record_at(body, at)
            lines.append('{"ordinal":"%d","key":%s,"time":%s,"values":[%s]}' % (  # J-8
                f.ordinal + len(lines), string(key_text(self.kind, key).encode()), time, ','.join(whole_json(body, v) for v in values)))
            at = end
        if len(lines) != f.count:
            raise Malformed('count')
        return lines


def read_mark(path, reader):
    """The mark of that directory, if it promises, and whether it is plain: one name, no bad slot. [M-3] [M-4]"""
    path = os.path.join(path, '.mark')
    if not os.path.exists(path):
        return None, False
    with open(path, 'rb') as file:
        data = file.read(8192)
    good, bad = [], []
    for at in (0, 4096):
        try:
            good.append(slot(data[at:at + 4096]))
        except (Malformed, IndexError):
            bad.append(at)
    for at in bad:
        reader.tell(path, at, at + 4096, 'torn' if len(bad) == 1 else 'UNKNOWN', 'mark')
    mark = max((m for m in good if m), key=lambda m: (m.number, m.end), default=None)
    one = os.stat(path).st_nlink == 1
    return mark if one else None, one and not bad


def main():
    if len(sys.argv) != 2:
        sys.exit(print('Usage: u9read.py LOG', file=sys.stderr) or 2)
    path, reader = sys.argv[1].rstrip('/'), Reader()
    lone = not os.path.isdir(path)
    mark, plain = (None, False) if lone else read_mark(path, reader)
    names = [path] if lone else [os.path.join(path, n) for n in sorted(os.listdir(path)) if re.fullmatch('[0-9a-f]{16}[.]u9', n)]
    log = Log([Segment(n) for n in names if os.path.isfile(n)], mark, plain)
    if not log.mark and len(log.foreign + log.blanks) == len(log.taken) or lone and log.taken[0].blank():  # M-6, L-8
        sys.exit(print('u9read: %s: no log is here' % path, file=sys.stderr) or 2)
    kinds = [s.open[13].decode() for s in log.row if s.open]
    reader.kind = kinds[-1] if kinds else 'muid'
    if lone:
        reader.segment(log.taken[0])
    else:
        reader.whole_log(log, path)
    sys.exit(1 if reader.damaged else 0)


if __name__ == '__main__':
    main()
