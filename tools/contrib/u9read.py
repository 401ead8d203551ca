#!/usr/bin/env python3
"""u9read.py: a second reader of u9 logs, after SPEC.md: this one file, Python's standard library and nothing else.

Usage: u9read.py LOG          LOG is a log's directory, or one segment file

Proves frames by boundary, signature, hash and chain, and prints each record as a JSON object (ordinal, key, time, values)
as `u9 cat --format json` does. Where a frame is damaged it goes on at the next one that a promise says was there (R-3),
and in the next segment; it tells on standard error file, range, reason (R-12), and how many records are lost by it (? is
not known). Exit status: 0, 1 something was told, 2 wrong usage, or what is there is no log.

It reads whole files into memory. It does not judge; u9judge.py, beside it, does: whether a tail is torn or unknown (R-6);
bytes that should be zero (R-7), those behind named ends (R-8, R-17); what the mark (M) promises, what is missing in front
of the first segment and behind the last one (L-2); spare secrets (H-5); forks, copies, foreign and blank files (L-4, L-9).
Neither has other versions (H-4), unreadable bytes (R-11), a writer at work (R-10, R-14), mending (Y).
"""
import collections, ctypes, datetime, decimal, hashlib, os, re, struct, sys

class Malformed(Exception):
    """Bytes that break a rule."""

def must(holds, why):
    if not holds:
        raise Malformed(why)

def integer(data):
    return int.from_bytes(data, 'big')

def number(data, at, width):
    must(at + width <= len(data), 'short')
    return integer(data[at:at + width])

# Values (V). How many bytes follow a bytecode that has no length behind it [V-2] [V-3], and those of typecodes in words. [N-6]

SIZES = {**dict(enumerate((1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 8))), **dict(enumerate((0, 0, 0, 0, 0, 2, 4, 8), 0x10)),
         **{code: code & 15 for code in range(0x20, 0x40)}, **dict.fromkeys(range(0x80, 0x100), 0)}
WORDS = {**dict(enumerate('uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64 symbol pidfd'.split())),
         0x15: 'tau.16', 0x16: 'tau.32', 0x17: 'tau.64'}
OURS = 'int|float32|float64|symbol|symbol_bytes|utf8|bytes|greek|tau|pidfd|array|malformed'  # J-1
TUPLES = {*range(0x40, 0x44), *range(0x48, 0x50)}  # V-4
ESCAPES = {**{c: '\\u%04x' % c for c in (*range(0x20), *range(0x7f, 0xa0))}, 9: '\\t', 10: '\\n', 34: '\\"', 92: '\\\\'}  # J-8
Value = collections.namedtuple('Value', 'at code begin end count')  # of its contents, and of a container's elements

def head(data, at, limit):
    """The value there, passed by its lengths alone, as are the indexes in front of a container."""
    here = at
    while 0x51 <= number(data, at, 1) <= 0x57:
        width = 1 << (data[at] & 3)
        at += 1 + width + number(data, at + 1, width)
    code, width, begin, count = data[at], 1 << (data[at] & 3), at + 1, None
    if code in SIZES:
        size = SIZES[code]
    elif code >> 3 == 3:
        size, begin = number(data, begin, width), begin + width
    elif code >> 3 == 8:
        size, count, begin = number(data, begin, width), number(data, begin + width, width), begin + 2 * width
    else:
        must(code >> 3 == 9, 'reserved bytecode')  # V-6
        size, count, begin = number(data, begin, 1), code & 7, begin + 1
    must(size <= limit - begin and (here == at or count is not None), 'passes its end, or an index without a container')
    return Value(here, code, begin, begin + size, count)

def elements(data, begin, end, count):
    """The elements of a tuple, which fill it exactly. [V-4]"""
    out = []
    while begin < end and len(out) < count:
        out.append(head(data, begin, end))
        begin = out[-1].end
    must(begin == end and len(out) == count, 'count')
    return out

def string(raw, wrapped='utf8'):
    """JSON's text of UTF-8 bytes: only what must be escaped is. [J-4]"""
    try:
        return '"%s"' % raw.decode('utf-8').translate(ESCAPES)
    except UnicodeDecodeError:
        return '{"$%s":"%s"}' % (wrapped, raw.hex())

def real(raw, bare):
    """The fewest digits that read back to the same bits. [N-4] [J-3]"""
    name, x = ('float32', struct.unpack('>f', raw)[0]) if len(raw) == 4 else ('float64', struct.unpack('>d', raw)[0])
    if not abs(x) < float('inf'):
        plain = x == x or raw.hex() in ('7fc00000', '7ff8000000000000')
        return '{"$%s":"%s"}' % (name, x if plain else 'nan(x\\"%s\\")' % raw.hex())
    ways = 'ROUND_HALF_EVEN', 'ROUND_UP'  # what rounds to a power of two reaches further up than down
    tries = [float(decimal.Context(n, way).create_decimal_from_float(x)) for n in range(1, 10) for way in ways]
    x = next((t for t in tries if ctypes.c_float(t).value == x), x) if name == 'float32' else x
    text = repr(x).replace('e+', 'e').replace('e-0', 'e-')
    return text if bare or name == 'float64' else '{"$float32":%s}' % text

def scalar(code, raw, bare=False):
    """What is no container as JSON. [J-2] [J-4]"""
    if code <= 0x03 or code >= 0x80:
        return str(integer(raw) if code < 0x80 else code & 127)
    if code <= 0x07:
        return str(int.from_bytes(raw, 'big', signed=True))
    if code <= 0x09:
        return real(raw, bare)
    if code == 0x0a:
        text = string(raw.rstrip(b'\0'), 'symbol_bytes')
        return text[1:-1] if text in ('"true"', '"false"', '"null"') else text if text[0] == '{' else '{"$symbol":%s}' % text
    if code == 0x0b:
        return '{"$pidfd":[%d,%d]}' % struct.unpack('>II', raw)
    if code <= 0x14:
        return '{"$greek":"%s"}' % ('alpha', 'omega', 'iota', 'kappa', 'tau0')[code - 0x10]
    if code <= 0x17:
        return '{"$tau":"%d"}' % integer(raw)
    return string(raw) if code <= 0x1b or 0x20 <= code <= 0x2f else '{"$bytes":"%s"}' % raw.hex()

def typecode(data, at, depth):
    """(words, none for tuples; bytes of an element, which its arrays hold so often; where it ends; JSON of an element). [V-10]"""
    code, width = number(data, at, 1), 1 << (data[at] & 3)
    if code in WORDS:
        return WORDS[code], SIZES[code], 1, at + 1, lambda raw: scalar(code, raw, True)
    must(code >> 3 == 3 or code >> 3 in (8, 9) and depth <= 64, 'typecode')
    width = 1 if code >= 0x48 else width
    size, end = number(data, at + 1, width), at + 1 + width
    wide = lambda most: '' if width == 1 or most >> 4 * width else '.%d' % (8 * width)
    if code >> 2 != 0x11:  # behind its typecode an element is a value
        words = '' if code in TUPLES else '%s%s %d' % ('utf8' if code < 0x1c else 'bytes', wide(size), size)
        return words, size + (width if code >> 2 == 0x10 else 0), 1, end, lambda raw: value_json(data[at:end] + raw, 0, depth)
    count = number(data, end, width)
    words, each, times, end, json = typecode(data, end + width, depth + 1)
    must(size == count * each, 'typecode')
    words = words and 'array%s %d %s' % (wide(max(size, count)), count, words)
    return words, size, times * max(count, 1), end, lambda raw: '[%s]' % row_json(raw, 0, count, each, json)

def row_json(data, at, count, each, json):
    return ','.join(json(data[at + k * each:at + (k + 1) * each]) for k in range(count))

def array_json(data, v, depth):
    """[V-5] [J-5]"""
    words, each, times, at, json = typecode(data, v.begin, depth + 1)
    must(at + v.count * each == v.end and (each or times * max(v.count, 1) <= 255), 'array')
    row = row_json(data, at, v.count, each, json)
    return '{"$array":["%s"%s]}' % (words, ',' + row if v.count else '') if words else '[%s]' % row

def object_json(data, pairs, depth):
    """A tuple with such an index as an object, or None if it is none. [J-6]"""
    members = {}
    for pair in pairs:
        key, value = elements(data, pair.begin, pair.end, 2) if data[pair.at] in TUPLES and pair.count == 2 else (pair, None)
        raw = data[key.begin:key.end]
        text = string(raw)
        if not value or key.code >> 2 != 6 and key.code >> 4 != 2 or b'\0' in raw or text[0] == '{' or text in members:
            return None
        members[text] = value
    name = lambda text: re.sub(r'^"(?=[$]+(%s)"$)' % OURS, '"$', text) if len(members) == 1 else text
    return '{%s}' % ','.join('%s:%s' % (name(text), value_json(data, v.at, depth + 2)) for text, v in members.items())

def value_json(data, at, depth=1):
    """The value there as JSON, if it is well-formed inside; depth: of containers, with its own. [J-1] [V-8]"""
    v, first = head(data, at, len(data)), None
    must(depth <= 64 or v.count is None, 'depth')
    while 0x51 <= data[at] <= 0x57:
        begin = at + 1 + (1 << (data[at] & 3))
        first = first or (data[at] <= 0x53, data[begin:begin + 9])
        at = begin + integer(data[at + 1:begin])
        ks, ka, ia = elements(data, begin, at, 3)
        codes = [data[ks.at], data[ka.at] >> 2, data[ia.at] >> 2]
        must(codes == [10, 17, 17] and ka.count == ia.count and data[ia.begin] in (5, 6, 7) and depth < 64, 'index')
        array_json(data, ka, depth + 1), array_json(data, ia, depth + 1)
    if v.count is None:
        return scalar(v.code, data[v.begin:v.end])
    if v.code not in TUPLES:
        return array_json(data, v, depth)
    inside = elements(data, v.begin, v.end, v.count)
    text = object_json(data, inside, depth) if first == (True, b'\x0akh\0\0\0\0\0\0') else None
    return text or '[%s]' % ','.join(value_json(data, e.at, depth + 1) for e in inside)

def whole_json(data, v):
    """A value of a record, also one that is not well-formed inside. [B-2] [J-8]"""
    try:
        return value_json(data, v.at)
    except Malformed:
        return '{"$malformed":"%s"}' % data[v.at:v.end].hex()

# Keys (L-6), as their kinds write them (I).

def digits(key, width, alphabet='123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'):
    places = (integer(key) // len(alphabet) ** k % len(alphabet) for k in reversed(range(width)))
    return ''.join(alphabet[digit] for digit in places)

def key_text(kind, key):
    text = key.hex()
    if kind.startswith('rkey'):
        return key.decode('utf-8', 'replace')
    if kind == 'uid8' or len(key) != (8 if kind == 'tid' else 16):
        return text
    if kind == 'tid':
        return digits(key, 13, '234567abcdefghijklmnopqrstuvwxyz')
    if kind.startswith('gid:'):
        return digits(key[:7], 10) + '-' + digits(key[7:], 13)
    return '-'.join((text[:13], text[13:24], text[24:])).upper()

# Frames (F), and the records in them (B, C).

MAGIC, FRAME_MAGIC = bytes.fromhex('ffff757466390001'), bytes.fromhex('ffff757466396600')
LONGEST = 2 ** 24 + 121  # F-5
TRAILER = (0, '404d080a75396672616d650003'), (21, '02'), (26, '03'), (35, '03'), (44, '03'), (53, '03'), (62, '1c10')  # F-4
FORMS = {  # C-1, C-3 to C-8: the bytecodes of the record and its elements; - for any value
    'u9open': '41 0a 1c10 1c10 03 03 03 03 1c10 1c10 03 03 1c10 00 19', 'u9end': '41 0a 00 03 03 03 03 03 03 1c10 19 - -',
    'u9trim': '41 0a 03 03', 'u9mark': '41 0a 1c10 03 03 1c10 1c10 03 03 1c10 03', 'u9page': '42 0a 0a 46 46',
    'u9bits': '42 0a 1e', 'u9part': '42 0a 02 03 03 1e', 'u9lz4': '42 0a 03 1e', 'u9mask': '42 0a 1c10 1e'}
End = collections.namedtuple('End', 'number boundary secret end ordinal chain')
Frame = collections.namedtuple('Frame', 'at end sha payload padding ordinal count previous durable time chain')

def h(data):
    return hashlib.sha256(data).digest()[:16]

def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))

def zero(data):
    return not data.strip(b'\0')

def places(data, what, begin, end=sys.maxsize):
    """Where that stands, at multiples of 16."""
    return (m.start() for m in re.compile(b'(?=%s)' % re.escape(what)).finditer(data, begin, end) if m.start() % 16 == 0)

def frame_at(data, p, secret, limit):
    """The valid frame at p, or the first clause that fails. [F-6] [R-12]"""
    must(data[p:p + 16] == h(secret), 'boundary')
    must(data[p + 48:p + 56] == FRAME_MAGIC, 'magic')
    length, sha = integer(data[p + 56:p + 64]), data[p + 16:p + 32]
    stop, end = p + 64 + length, p + 64 + length + (-length & 15)
    must(80 <= length <= LONGEST and end <= min(limit, len(data)), 'length')
    must(not any(places(data, h(secret), p + 16, end)), 'overlap')
    must(data[p + 32:p + 48] == h(xor(sha, secret)), 'signature')
    ordinal, count, offset, previous, durable, time, chain = struct.unpack('>13xQxIxQxQxQxQ2x16s', data[stop - 80:stop])
    must(all(data.startswith(bytes.fromhex(x), stop - 80 + i) for i, x in TRAILER) and offset == p and durable <= p and
         ordinal + count < 2 ** 64 and (32 <= previous < p or previous == 0 and p == 32), 'trailer')
    must(h(data[p + 64:stop]) == sha, 'hash')
    return Frame(p, end, sha, data[p + 64:stop], data[stop:end], ordinal, count, previous, durable, time, chain)

def lz4(block, size):
    """Decodes one LZ4 block. [B-4]"""
    out, at = bytearray(), 0
    def length(n):  # 15 goes on, up to a byte that is not 255
        nonlocal at
        more = n == 15
        while more:
            n, more, at = n + number(block, at, 1), block[at] == 255, at + 1
        return n
    while at < len(block):
        token, at = block[at], at + 1
        literals = length(token >> 4)
        out += block[at:at + literals]
        at += literals
        if at < len(block):
            back, at = int.from_bytes(block[at:at + 2], 'little'), at + 2
            n = 4 + length(token & 15)
            must(0 < back <= len(out) and len(out) + n <= size, 'match')
            out += (out[-back:] * (n // back + 1))[:n]
    must(at == len(block) and len(out) == size, 'decoded length')
    return bytes(out)

def control(body):
    """(name, contents of its elements) of a control record, else (None, None). [C-1] [C-2]"""
    v = head(body, 0, len(body)) if body and body[0] in TUPLES else None
    if not v or not body.startswith(b'\x0au9', v.begin):
        return None, None
    name = body[v.begin + 1:v.begin + 9].rstrip(b'\0').decode('latin-1')
    must(v.end == len(body), 'more behind it')
    if name not in FORMS:
        return name, []
    inside, form = elements(body, v.begin, v.end, v.count), [bytes.fromhex(x.strip('-')) for x in FORMS[name].split()]
    fits = (body.startswith(x, at) for at, x in zip([0] + [e.at for e in inside], form))
    must(len(inside) >= len(form) - 1 and all(fits), 'form')
    return name, [body[e.begin:e.end] for e in inside]

def body_of(frame):
    """What the frame holds, unwrapped. [B-4] [B-5]"""
    body = frame.payload[:-80]
    name, c = control(body)
    if name in ('u9mask', 'u9lz4'):
        must(len(c) == 3 and (name == 'u9mask' or frame.count and integer(c[1]) <= 2 ** 24), 'form')
        body = xor(c[2], c[1] * (len(c[2]) // 16 + 1)) if name == 'u9mask' else lz4(c[2], integer(c[1]))
        inside = control(body)[0]
        must(not inside or name == 'u9mask' and inside not in ('u9mask', 'u9lz4'), 'wrapped twice')
    return body

def end_named(f, c):
    """The end that the `u9open` in that frame names. [C-3]"""
    end = End(integer(c[6]), c[7], c[8], integer(c[9]), integer(c[10]), c[11])
    must((f.ordinal, f.chain) == (end.ordinal, end.chain) and (not end.number or end.end >= 32), 'open')
    return end

def held(f):
    """(name, contents of its elements, the end that it names) of the control record in that frame, if it is whole."""
    try:
        name, c = control(body_of(f)) if f and not f.count else (None, None)
        return name, c, end_named(f, c) if name == 'u9open' else None
    except Malformed:
        return None, None, None

def record_at(body, at):
    """(end, key, values) of the record there. [B-2]"""
    v = head(body, at, len(body))
    must(body[at] in TUPLES and v.count, 'no tuple, or an empty one')
    key, *values = elements(body, v.begin, v.end, v.count)
    must(key.code == 3 or 0x18 <= key.code <= 0x3f and 1 <= key.end - key.begin <= 512, 'key')
    return v.end, body[key.begin:key.end], values

# Segments (S), and their row (L-2).

SEGMENT = re.compile('([0-9a-f]{16})[.]u9')  # L-1

class Segment:
    """One file: its valid frames, and what its `u9open` says: its number, the end that it names, its log and key kind."""
    def __init__(self, path):
        name = SEGMENT.fullmatch(os.path.basename(path))
        self.path, self.file = path, int(name[1], 16) if name else 0
        with open(path, 'rb') as file:
            self.data = file.read()
        self.look(self.data[8:24])

    def look(self, secret):
        self.secret, self.boundary, self.valid, self.open, self.number = secret, h(secret), {}, None, self.file
        for at in places(self.data, self.boundary, 32):
            try:
                self.valid[at] = frame_at(self.data, at, secret, len(self.data))
            except Malformed:
                pass
        _, c, end = held(self.valid.get(32))
        if end:
            self.before, self.open, self.number = end, c, integer(c[3]) or self.file

    def begin(self, x):
        """Where the frame begins that stands at x, or behind zeros at the next block. [F-8]"""
        block = x + -x % 4096
        return block if zero(self.data[x:block]) else x

    def behind(self, x):
        """The first valid frame from x on."""
        return min((f for f in self.valid.values() if f.at >= x), default=None)

def row_of(files):
    """The segments of a log in their order, found from the highest downwards. [L-2]"""
    ids = [s.open[1] for s in files if s.open]
    rest = [s for s in files if (s.open[1] == max(ids, key=ids.count) and s.before.number < s.number if s.open else
                                 s.valid or FRAME_MAGIC in s.data and not zero(s.data[:512]))]
    rest.sort(key=lambda s: (s.number, max(s.valid, default=0), s.path))
    row = lower = rest[-1:]
    while lower:
        s, below = row[0], row[0].before.number if row[0].open else row[0].number
        named = [t for t in rest if s.open and t.number < s.number and t.boundary == s.before.boundary]
        lower = named or [t for t in rest if t.number < below]
        row = lower[-1:] + row
    return row

def kind_of(row):
    """The key kind, of which the first frames and last blocks tell, the highest first, or else any frame. [L-6]"""
    ends = [s.valid.get(at) for s in reversed(row) for at in (32, len(s.data) - 4096)]
    for f in ends + [f for s in row for f in s.valid.values()]:
        name, c, _ = held(f)
        if name in ('u9open', 'u9end'):
            return c[13 if name == 'u9open' else 9].decode('utf-8', 'replace')
    return 'muid'

# Reading (R).

class Reader:
    """Prints the records, and tells what is damaged."""
    def __init__(self, row, alone):
        self.kind, self.damaged, self.alone, self.ordinal, self.parts = kind_of(row), False, alone, None, None

    def tell(self, path, begin, end, verdict, reason, lost=0):
        """A damaged place; lost is None if it is not known. The verdict is u9judge.py's."""
        self.damaged = True
        print('u9read: %s [%d,%d): %s; lost: %s' % (path, begin, end, reason, '?' if lost is None else lost), file=sys.stderr)

    def less(self, to):
        """How many records lie between the ordinal expected and that one, None if it is not known. [R-3]"""
        return None if self.ordinal is None or to is None or to < self.ordinal else to - self.ordinal

    def reason(self, s, x, limit):
        """[R-12]"""
        try:
            return frame_at(s.data, s.begin(x), s.secret, limit) and 'follow'
        except Malformed as why:
            return str(why)

    def walk(self, s, limit, promised):
        """Each frame that is served, and whether it stands behind a gap; the caller takes its records. [R-1] [R-3]"""
        if s.open or self.ordinal is None and s.number == 1 and not self.alone:
            self.ordinal = s.before.ordinal if s.open else 0
        x, last, self.parts = 32, None, (None, 0, 0, b'', True)
        follows = lambda f: f and f.end <= limit and (  # F-9
            f.at == 32 and self.ordinal in (None, f.ordinal) and (not s.open or s.before.chain == f.chain) if last is None else
            (f.previous, f.ordinal, f.chain) == (last.at, last.ordinal + last.count, last.sha))
        while x < limit:
            f = next((f for f in (s.valid.get(x), s.valid.get(x + -x % 4096)) if follows(f)), None)  # F-8
            gap = not f
            if gap:
                f = s.behind(x)
                if not f or f.end > limit or not (f.previous < promised or promised >= f.at):
                    return
                self.tell(s.path, x, f.at, 'CORRUPT', self.reason(s, x, limit), self.less(f.ordinal))
            yield f, gap
            x, last = f.end, f

    def segment(self, s, end=None):
        """Prints what is in the segment, up to the end that its successor names. [R-1] to [R-6]"""
        if s.data[:8] + s.data[24:32] != MAGIC + bytes(8):
            self.tell(s.path, 0, 32, 'CORRUPT', 'header', 0 if s.valid else None)
        if s.open and self.less(s.before.ordinal):
            missing = os.path.join(os.path.dirname(s.path), '%016x.u9' % s.before.number)
            self.tell(missing, 0, 0, 'CORRUPT', 'missing', self.less(s.before.ordinal))
        limit, x, f = end.end if end else len(s.data), 32, None
        promised = limit if end else max((f.durable for f in s.valid.values()), default=0)
        for f, _ in self.walk(s, limit, promised):
            self.frame(s, f)
            x = f.end
        there = end or s.behind(x)  # where ordinals are known again
        stop = promised if end or x < promised else len(s.data.rstrip(b'\0'))
        if x < stop or end and (self.ordinal, f and f.sha) != (end.ordinal, end.chain):
            reason = 'follow' if x == limit else 'cut' if limit > len(s.data) else self.reason(s, x, limit)
            self.tell(s.path, x if x < promised else s.begin(x), stop, 'CORRUPT', reason, self.less(there and there.ordinal))
        if end or x < promised:
            self.ordinal = there and there.ordinal

    def frame(self, s, f):
        self.ordinal = f.ordinal
        try:
            for line in self.records(f):
                print(line)
        except Malformed as why:
            self.tell(s.path, f.at, f.end, 'CORRUPT', 'part' if str(why) == 'part' else 'body', f.count)
        self.ordinal = f.ordinal + f.count

    def part(self, f, c):
        """Passes a part; the record, behind the last one. [C-6]"""
        number, total, before = (integer(e) for e in c[1:4])
        row = self.parts if self.parts[0] == total and number > self.parts[1] else (total, -1, 0, b'', True)
        whole, data = row[4] and (number, before) == (row[1] + 1, row[2]), row[3] + c[4]
        self.parts = (None, 0, 0, b'', True) if f.count else (total, number, f.at, data, whole)
        must(not f.count or whole and len(data) == total, 'part')
        return data if f.count else None

    def records(self, f):
        """The records of a frame as lines. [B-3] [J-8]"""
        body, lines, at = body_of(f), [], 0
        name, c = control(body)
        if name == 'u9part':
            body = self.part(f, c)
        else:
            must(bool(body) == bool(name or f.count) and not (name and f.count), 'records that are not counted, or none')
        if name == 'u9open':
            end_named(f, c)
        ages, rest = divmod(f.time, 146097 * 86400 * 10 ** 6)  # of 400 years each
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=rest)
        time = '"%04d-%sZ"' % (time.year + 400 * ages, time.strftime('%m-%dT%H:%M:%S.%f')) if f.time else 'null'
        while f.count and at < len(body):
            at, key, values = record_at(body, at)
            key, values = string(key_text(self.kind, key).encode()), ','.join(whole_json(body, v) for v in values)
            lines.append('{"ordinal":"%d","key":%s,"time":%s,"values":[%s]}' % (f.ordinal + len(lines), key, time, values))
        must(len(lines) == f.count, 'count')
        return lines

def files_of(path):
    """The files of a log, or that file. [L-1]"""
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    names = [os.path.join(path, name) for name in names if SEGMENT.fullmatch(name)] or [path]
    return [name for name in names if os.path.isfile(name)]

def main():
    path = sys.argv[1].rstrip('/') if len(sys.argv) == 2 else sys.exit(print('Usage: u9read.py LOG', file=sys.stderr) or 2)
    row = row_of([Segment(name) for name in files_of(path)])
    if not row:
        sys.exit(print('u9read: %s: no log is here' % path, file=sys.stderr) or 2)
    reader = Reader(row, not os.path.isdir(path))
    for s, after in zip(row, row[1:] + [None]):
        reader.segment(s, after.before if after and after.open and after.before.boundary == s.boundary else None)
    sys.stdout.flush()
    sys.exit(1 if reader.damaged else 0)

if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:
        os._exit(1)  # nobody reads on
