#!/usr/bin/env python3
"""u9read.py: a second reader of u9 logs, after SPEC.md; Python's standard library and nothing else.

Usage: u9read.py LOG          LOG is a log's directory, or one segment file

Verifies boundaries, signatures, hashes and the chain, prints each record as a JSON object (ordinal, key, time,
values) as `u9 cat --format json` does, and tells damage on standard error: file, range, verdict, reason (R-15), and
how many records are lost by it (? is not known). Exit status: 0, 1 damage was told (a torn tail, which a crash
leaves, is a note), 2 wrong usage, or what is there is no log.

Left out: copies of a segment that hold more records than the one that is read (L-9, third clause), other versions
(H-4), unreadable bytes (R-11), a writer at work (R-10, R-14), mending (Y). It reads whole files into memory.
"""
import datetime, hashlib, os, re, struct, sys

sys.dont_write_bytecode = True
from u9values import Malformed, elements, head, is_tuple, string, whole_json

MAGIC, FRAME_MAGIC = bytes.fromhex('ffff757466390001'), bytes.fromhex('ffff757466396600')


def h(data):
    return hashlib.sha256(data).digest()[:16]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


# Keys (L-6), as their kinds write them (I).

def base58(data, width):
    n, out = int.from_bytes(data, 'big'), ''
    for _ in range(width):
        n, digit = divmod(n, 58)
        out = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[digit] + out
    return out


def key_text(kind, key):
    if kind.startswith('rkey'):
        return key.decode('utf-8', 'replace')
    if kind.startswith('gid:'):
        return base58(key[:7], 10) + '-' + base58(key[7:], 13)
    if kind == 'tid':
        n = int.from_bytes(key, 'big')
        return ''.join('234567abcdefghijklmnopqrstuvwxyz'[n >> shift & 31] for shift in range(60, -1, -5))
    if kind == 'uid8':
        return key.hex()
    text = key.hex().upper()
    return '-'.join((text[:13], text[13:24], text[24:]))


# Frames (F) and bodies (B).

class Frame:
    pass


def frame_at(data, p, secret, limit):
    """The valid frame at p, or the reason why there is none. [F-6] [R-12]"""
    boundary = h(secret)
    if data[p:p + 16] != boundary:
        return 'boundary'
    if data[p + 48:p + 56] != FRAME_MAGIC:
        return 'magic'
    length = int.from_bytes(data[p + 56:p + 64], 'big')
    end = p + 64 + length + (-length & 15)
    if not 80 <= length <= 2 ** 24 + 121 or end > limit:
        return 'length'
    at = data.find(boundary, p + 16, end)
    while at >= 0:
        if at % 16 == 0:
            return 'overlap'
        at = data.find(boundary, at + 1, end)
    f = Frame()
    f.at, f.end, f.sha, f.payload = p, end, data[p + 16:p + 32], data[p + 64:p + 64 + length]
    f.padding = data[p + 64 + length:end]
    if data[p + 32:p + 48] != h(xor(f.sha, secret)):
        return 'signature'
    t = f.payload[-80:]
    fixed = ((0, '404d080a75396672616d650003'), (21, '02'), (26, '03'), (35, '03'), (44, '03'), (53, '03'), (62, '1c10'))
    f.ordinal, f.count, offset, f.previous, f.durable, f.time, f.chain = struct.unpack('>13xQxIxQxQxQxQ2x16s', t)
    if any(t[i:i + len(x) // 2].hex() != x for i, x in fixed) or offset != p or f.durable > p or \
            f.ordinal + f.count >= 2 ** 64 or (f.previous if p == 32 else not 32 <= f.previous < p):
        return 'trailer'
    return f if h(f.payload) == f.sha else 'hash'


def lz4(block, size):
    """Decodes one LZ4 block."""
    out, at = bytearray(), 0

    def more(n):
        nonlocal at
        while n >= 15:
            at += 1
            n += block[at - 1]
            if block[at - 1] != 255:
                break
        return n
    while at < len(block):
        token = block[at]
        at += 1
        literals = more(token >> 4)
        if literals > len(block) - at or len(out) + literals > size:
            raise Malformed('literals')
        out += block[at:at + literals]
        at += literals
        if at == len(block):
            break
        back = block[at] | block[at + 1] << 8
        at += 2
        length = 4 + more(token & 15)
        if not 0 < back <= len(out) or len(out) + length > size:
            raise Malformed('match')
        while length > 0:
            piece = out[-back:][:length]
            out += piece
            length -= len(piece)
    if len(out) != size:
        raise Malformed('decoded length')
    return bytes(out)


def control(body):
    """(name, contents of its elements) of a control record, else None. [C-1]"""
    if not body or not is_tuple(body[0]):
        return None
    begin, end, count = head(body, 0)
    if body[begin:begin + 3] != b'\x0au9':
        return None
    if end != len(body):
        raise Malformed('behind a control record')
    name, inside = body[begin + 1:begin + 9].rstrip(b'\0'), elements(body, begin, end, count)
    form = [bytes.fromhex(x) for x in FORMS.get(name, '').split()]
    if len(inside) < len(form) or any(not body[b:].startswith(x) for (b, _), x in zip(inside, form)):  # C-2
        raise Malformed('form')
    return name, [body[slice(*head(body, b)[:2])] for b, _ in inside]


def body_of(frame):
    body = frame.payload[:-80]
    c = control(body)
    if c and c[0] == b'u9mask':
        body = bytes(b ^ c[1][1][i & 15] for i, b in enumerate(c[1][2]))
    elif c and c[0] == b'u9lz4':
        size = int.from_bytes(c[1][1], 'big')
        if size > 2 ** 24:
            raise Malformed('decoded length')
        body = lz4(c[1][2], size)
    return body


def record_at(body, at):
    """(end, key, the offsets of its values). [B-2]"""
    if not is_tuple(body[at]):
        raise Malformed('no tuple')
    begin, end, count = head(body, at)
    first, *values = elements(body, begin, end, count) or [(0, 0)]
    code = body[first[0]]
    key = body[slice(*head(body, first[0])[:2])]
    if not (code == 3 or (0x18 <= code <= 0x3f and 1 <= len(key) <= 512)):
        raise Malformed('key')
    return end, key, [b for b, _ in values]


# Segments and logs (S, L, M, R).

FORMS = {b'u9open': '0a 1c10 1c10 03 03 03 03 1c10 1c10 03 03 1c10 00 19', b'u9part': '0a 02 03 03 1e', b'u9trim': '0a 03 03',
         b'u9mark': '0a 1c10 03 03 1c10 1c10 03 03 1c10 03'}  # C-1; of others the frames are passed


def number_in(element):
    return int.from_bytes(element, 'big')


class Mark:
    """What a u9mark says. [C-8]"""
    def __init__(self, c):
        self.log, self.first, self.number, self.boundary, self.secret = c[1], number_in(c[2]), number_in(c[3]), c[4], c[5]
        self.end, self.ordinal, self.chain = number_in(c[6]), number_in(c[7]), c[8]


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
        self.secret, self.boundary, self.valid, self.open, self.open_number, self.end_named = secret, h(secret), {}, None, 0, None
        at = self.data.find(self.boundary, 32)
        while at >= 0:
            f = frame_at(self.data, at, secret, len(self.data)) if at % 16 == 0 else None
            if isinstance(f, Frame):
                self.valid[at] = f
            at = self.data.find(self.boundary, at + 1)
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
                self.open, self.open_number, self.before = c, number_in(c[3]), ends

    def mend(self, pool):
        """Spare secrets. [H-5]"""
        at32 = self.data[32:48]
        last = self.data[-4096:] if len(self.data) % 4096 == 0 else b''
        spares = [n.secret for n in pool if n.boundary == at32] + [n.secret for n in pool if n.number == self.file]
        spares += [m[1] for m in re.finditer(b'(?=\x1c\x10(.{16}))', last, re.S) if h(m[1]) == last[:16]]
        for i in range(128 if len(self.data) >= 96 else 0):
            secret = bytearray(self.data[8:24])
            secret[i // 8] ^= 1 << i % 8
            spares += [bytes(secret)] if h(bytes(secret)) == at32 else []
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
        return not self.open and (len(d) < 96 or zero(d[:512])) and not any(
            whole(d, m.start() - 48) for m in re.finditer(re.escape(FRAME_MAGIC), d) if m.start() >= 80 and m.start() % 16 == 0)

    def nothing(self):
        """No segment, and never was one. [L-4]"""
        return self.data[:7] != MAGIC[:7] and not any(m.start() >= 80 and m.start() % 16 == 0
                                                      for m in re.finditer(re.escape(FRAME_MAGIC), self.data))

    def trim(self):
        """(first segment kept, its ordinal) of the u9trim in its place, or (0, 0). [C-5]"""
        f = self.valid.get(self.valid[32].end) if self.open else None
        c = control(f.payload[:-80]) if f and f.count == 0 and f.at < 4096 else None
        return (number_in(c[1][1]), number_in(c[1][2])) if c and c[0] == b'u9trim' and number_in(c[1][1]) <= self.number else (0, 0)


def is_end(f, kind=None):
    """Whether that frame is a u9end. [C-4]"""
    return f.payload[5:14] == b'\x0au9end\0\0\0' and f.count == 0 and kind in (None, f.payload[15])


def whole(data, p):
    """A frame that is whole but for boundary and signature, and promises. [L-4]"""
    length = number_in(data[p + 56:p + 64])
    payload = data[p + 64:p + 64 + length]
    return 80 <= length == len(payload) and h(payload) == data[p + 16:p + 32] and not zero(payload[-35:-27])


def zero(data):
    return not data.strip(b'\0')


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
        order = lambda s: (s.number, number_in(s.open[4]) if s.open else 0, s.path)
        rows = [self.down(s) for s in sorted(self.belong, key=order, reverse=True)]  # L-2, 5
        self.row, self.missing = next((r for r in rows if self.keeps(r[0])), rows[0] if rows else ([], {}))
        self.after = {s: n for s, n in zip(self.row, self.row[1:]) if n.open and n.before.boundary == s.boundary}
        self.off = [s for s in self.belong if s not in self.row]
        self.accepted = max([number_in(s.open[14]) for s in self.row if s.open and len(s.open) > 14 and len(s.open[14]) == 8], default=0)

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
        for s, after in zip(row, row[1:] + [None]) if m else ():
            if s.boundary == m.boundary:
                return not after or not after.open or after.before.boundary != s.boundary or after.before.end >= m.end
        return not m or not row or row[-1].number < m.number

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
        missing = {after: number for number, after in log.missing.items()}
        for s in names:
            number = missing.get(s)
            if number is not None:
                add(s.number, 0, lambda s=s, n=number: self.gone(path, n, s.before.ordinal))
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
        y = min((g for g in valid.values() if g.at >= x), key=lambda g: g.at, default=None)
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
            y = min((g for g in s.valid.values() if g.at >= x), key=lambda g: g.at, default=None)
            lost = self.less(y.ordinal) if y else None
            self.tell(s.path, x if zero(s.data[d:]) else d, x if zero(s.data[d:]) else stop, 'UNKNOWN', self.reason(s, x, len(s.data)), lost, True)
        self.ordinal = end.ordinal

    def reason(self, s, x, limit):
        """[R-12]"""
        block = x + -x % 4096
        f = frame_at(s.data, block if zero(s.data[x:block]) else x, s.secret, limit)
        return f if isinstance(f, str) else 'follow'

    def extent(self, s, x):
        """Where the damaged frame behind x begins and ends, and whether it was torn. [R-6]"""
        data, block = s.data, x + -x % 4096
        d = block if zero(data[x:block]) else x
        length = number_in(data[d + 56:d + 64])
        if (data[d:d + 16], data[d + 48:d + 56]) == (s.boundary, FRAME_MAGIC) and 80 <= length <= 2 ** 24 + 121 and \
                data[d + 32:d + 48] == h(xor(data[d + 16:d + 32], s.secret)):
            e = d + 64 + length
        else:
            stop = data.find(s.boundary, d + 16)
            while stop >= 0 and stop % 16:
                stop = data.find(s.boundary, stop + 1)
            e = max(d + 64, d + len(data[d:stop if stop >= 0 else None].rstrip(b'\0')))
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
        part, total, before = (number_in(e) for e in c[1:4])
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
