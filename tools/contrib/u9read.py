#!/usr/bin/env python3
"""u9read.py: a second reader of u9 logs, after SPEC.md; Python's standard library and nothing else.

Usage: u9read.py LOG          LOG is a log's directory, or one segment file

Verifies boundaries, signatures, hashes and the chain, prints each record as a JSON object (ordinal, key, time,
values) as `u9 cat --format json` does, and tells damage on standard error. Exit status: 0, 1 damage was told
(a torn tail, which a crash leaves, is a note), 2 wrong usage, or what is there is no log.

Left out: the mark (M), which last segment is missing, foreign files, forks and copies (L-2, L-4, L-9), damaged
seals (R-8), mending (Y); spare secrets of other segments (H-5). Arrays, and what has an index in front (objects),
are passed by their lengths and printed as {"$left_out":"hex"}. How a line of JSON looks is in no specification:
that is after what u9 cat prints. A log that was cut back to an older whole state reads as clean, as no mark is read.
It reads whole files into memory.
"""
import datetime, hashlib, os, re, struct, sys

MAGIC, FRAME_MAGIC = bytes.fromhex('ffff757466390001'), bytes.fromhex('ffff757466396600')
WIDTHS = {0: 1, 1: 2, 2: 4, 3: 8}


class Malformed(Exception):
    """Bytes that break a rule."""


def h(data):
    return hashlib.sha256(data).digest()[:16]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def number(data, at, width):
    if at + width > len(data):
        raise Malformed('short')
    return int.from_bytes(data[at:at + width], 'big')


# Values (V): each is passed by its lengths alone.

def head(data, at):
    """Where the contents of the value begin and end, and its count; indexes in front are passed."""
    code = number(data, at, 1)
    if code < 0x0c:
        begin, size, count = at + 1, (1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 8)[code], None
    elif 0x10 <= code <= 0x17:
        begin, size, count = at + 1, (0, 0, 0, 0, 0, 2, 4, 8)[code - 0x10], None
    elif 0x18 <= code <= 0x1f:
        width = WIDTHS[code & 3]
        begin, size, count = at + 1 + width, number(data, at + 1, width), None
    elif 0x20 <= code <= 0x3f:
        begin, size, count = at + 1, code & 15, None
    elif 0x40 <= code <= 0x47:
        width = WIDTHS[code & 3]
        begin, size, count = at + 1 + 2 * width, number(data, at + 1, width), number(data, at + 1 + width, width)
    elif 0x48 <= code <= 0x4f:
        begin, size, count = at + 2, number(data, at + 1, 1), code & 7
    elif 0x51 <= code <= 0x57:
        width = (2, 4, 8, 1, 2, 4, 8)[code - 0x51]
        return head(data, at + 1 + width + number(data, at + 1, width))
    elif code >= 0x80:
        begin, size, count = at + 1, 0, None
    else:
        raise Malformed('reserved bytecode')
    if size > len(data) - begin:
        raise Malformed('passes its end')
    return begin, begin + size, count


def elements(data, begin, end, count):
    """The (begin, end) of each element of a tuple, which fill it exactly."""
    out, at = [], begin
    while at < end and len(out) < count:
        stop = head(data[:end] if end < len(data) else data, at)[1]
        out.append((at, stop))
        at = stop
    if at != end or len(out) != count:
        raise Malformed('count')
    return out


def real(x, width):
    if x != x or x in (float('inf'), float('-inf')):
        return None
    text = repr(x)
    if width == 4:
        text = next(t for t in (repr(float('%.*g' % (n, x))) for n in range(1, 18))
                    if struct.pack('>f', float(t)) == struct.pack('>f', x))
    return text.replace('e+', 'e').replace('e-0', 'e-')


def string(raw, wrapped='utf8'):
    """JSON's text of UTF-8 bytes: only what must be escaped is. [J-4]"""
    try:
        text = raw.decode('utf-8')
    except UnicodeDecodeError:
        return '{"$%s":"%s"}' % (wrapped, raw.hex())
    escape = lambda m: {'"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t'}.get(m[0], '\\u%04x' % ord(m[0]))
    return '"' + re.sub('[\\x00-\\x1f"\\\\\\x7f-\\x9f]', escape, text) + '"'


def value_json(data, at):
    """The value at that offset as JSON. [J-1]"""
    code = data[at]
    begin, end, count = head(data, at)
    raw = data[begin:end]
    if code <= 0x03 or code >= 0x80:
        return str(code & 127 if code >= 0x80 else int.from_bytes(raw, 'big'))
    if code <= 0x07:
        return str(int.from_bytes(raw, 'big', signed=True))
    if code in (0x08, 0x09):
        x = struct.unpack('>f' if code == 8 else '>d', raw)[0]
        text = real(x, len(raw))
        if text is None:
            odd = x != x and raw.hex() not in ('7fc00000', '7ff8000000000000')
            text = '"nan(x\\"%s\\")"' % raw.hex() if odd else '"nan"' if x != x else '"inf"' if x > 0 else '"-inf"'
        return text if code == 9 and text[0] != '"' else '{"$float%d":%s}' % (8 * len(raw), text)
    if code == 0x0a:
        name = raw.rstrip(b'\0')
        if name in (b'true', b'false', b'null'):
            return name.decode()
        text = string(name, 'symbol_bytes')
        return text if text[0] == '{' else '{"$symbol":%s}' % text
    if code == 0x0b:
        return '{"$pidfd":[%d,%d]}' % struct.unpack('>II', raw)
    if 0x10 <= code <= 0x14:
        return '{"$greek":"%s"}' % ('alpha', 'omega', 'iota', 'kappa', 'tau0')[code - 0x10]
    if code <= 0x17:
        return '{"$tau":"%d"}' % int.from_bytes(raw, 'big')
    if code <= 0x1b or 0x20 <= code <= 0x2f:
        return string(raw)
    if code <= 0x1f or 0x30 <= code <= 0x3f:
        return '{"$bytes":"%s"}' % raw.hex()
    if 0x40 <= code <= 0x43 or 0x48 <= code <= 0x4f:
        return '[' + ','.join(value_json(data, b) for b, _ in elements(data, begin, end, count)) + ']'
    return '{"$left_out":"%s"}' % data[at:end].hex()


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
    if not body or not (0x40 <= body[0] <= 0x43 or 0x48 <= body[0] <= 0x4f):
        return None
    begin, end, count = head(body, 0)
    if body[begin:begin + 3] != b'\x0au9':
        return None
    if end != len(body):
        raise Malformed('behind a control record')
    return body[begin + 1:begin + 9].rstrip(b'\0'), [body[slice(*head(body, b)[:2])] for b, _ in elements(body, begin, end, count)]


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
    if not (0x40 <= body[at] <= 0x43 or 0x48 <= body[at] <= 0x4f):
        raise Malformed('no tuple')
    begin, end, count = head(body, at)
    first, *values = elements(body, begin, end, count) or [(0, 0)]
    code = body[first[0]]
    key = body[slice(*head(body, first[0])[:2])]
    if not (code == 3 or (0x18 <= code <= 0x3f and 1 <= len(key) <= 512)):
        raise Malformed('key')
    return end, key, [b for b, _ in values]


# Segments and logs (S, L, R).

class Segment:
    def __init__(self, path):
        self.path, self.open = path, None
        with open(path, 'rb') as file:
            self.data = file.read()
        self.secret = self.data[8:24]
        first = self.first()
        if isinstance(first, str) and len(self.data) >= 96:  # H-5: one bit of the secret
            for i in range(128):
                secret = bytearray(self.data[8:24])
                secret[i // 8] ^= 1 << i % 8
                if h(bytes(secret)) == self.data[32:48]:
                    self.secret = bytes(secret)
                    first = self.first()
            end = self.data[-4096:] if len(self.data) % 4096 == 0 else b''
            for m in re.finditer(b'(?=\x1c\x10(.{16}))', end, re.S) if isinstance(first, str) else ():
                if h(m[1]) == end[:16]:  # H-5: the spare one of a u9end
                    self.secret, first = m[1], self.first()
        if not isinstance(first, str):
            try:
                c = control(body_of(first))
                self.open = c[1] if c and c[0] == b'u9open' else None
            except (Malformed, IndexError):
                pass
        num = lambda i: int.from_bytes(self.open[i], 'big') if self.open else 0
        self.number, self.before, self.named = num(3), num(6), (num(9), num(10), self.open and self.open[11])

    def first(self):
        return frame_at(self.data, 32, self.secret, len(self.data))


def zero(data):
    return not data.strip(b'\0')


class Reader:
    def __init__(self):
        self.damaged, self.kind, self.ordinal, self.parts = False, 'muid', 0, None

    def tell(self, segment, begin, end, verdict, reason):
        self.damaged |= verdict != 'torn'
        note = 'note: ' if verdict == 'torn' else ''
        print('u9read: %s%s [%d,%d): %s: %s' % (note, segment.path, begin, end, verdict, reason), file=sys.stderr)

    def segment(self, s, end=None):
        """Prints what is in the segment, up to the end that its successor names. [R-1] to [R-7]"""
        data, boundary = s.data, h(s.secret)
        if data[:8] + data[24:32] != MAGIC + bytes(8) or s.secret != data[8:24]:
            self.tell(s, 0, 32, 'CORRUPT', 'header')
        limit, valid, at = end[0] if end else len(data), {}, data.find(boundary)
        while at >= 0:
            f = frame_at(data, at, s.secret, limit) if at >= 32 and at % 16 == 0 else None
            if isinstance(f, Frame):
                valid[at] = f
            at = data.find(boundary, at + 1)
        promised = limit if end else max([f.durable for f in valid.values()], default=0)
        x, last, sealed = 32, None, False
        follows = lambda f: f and (f.at == 32 if last is None else (f.previous, f.ordinal, f.chain) == (last.at, last.ordinal + last.count, last.sha))
        if s.open:
            self.ordinal = s.named[1]
        while not (end and x >= limit):
            block = x + -x % 4096
            f = valid.get(x)
            if not follows(f):
                f = valid.get(block)
                if follows(f) and not zero(data[x:block]):
                    self.tell(s, x, x + len(data[x:block].rstrip(b'\0')), 'CORRUPT' if block <= promised else 'UNKNOWN', 'fill')
            if not follows(f):
                f = min((g for g in valid.values() if g.at >= x), key=lambda g: g.at, default=None)
                if f is None or not (f.previous < promised or promised >= f.at):
                    break
                self.tell(s, x, f.at, 'CORRUPT', self.reason(s, x, limit))
            self.frame(s, f, promised)
            x, last = f.end, f
        if end:
            if x < limit:
                self.tell(s, x, limit, 'CORRUPT', 'cut' if len(data) < limit else self.reason(s, x, limit))
            elif (self.ordinal, last and last.sha) != end[1:]:
                self.tell(s, x, limit, 'CORRUPT', 'follow')
            self.ordinal = end[1]
        elif x < promised:
            self.tell(s, x, promised, 'CORRUPT', self.reason(s, x, limit))
        else:
            self.tail(s, x, last, limit)

    def reason(self, s, x, limit):
        block = x + -x % 4096
        f = frame_at(s.data, block if zero(s.data[x:block]) else x, s.secret, limit)
        return f if isinstance(f, str) else 'follow'

    def tail(self, s, x, last, limit):
        """[R-6]"""
        data = s.data
        if last and last.at % 4096 == 0 and len(data) == last.at + 4096 and last.payload[5:11] == b'\x0au9end':
            if not zero(data[x:]):
                self.tell(s, x, len(data), 'UNKNOWN', 'fill')
            return
        block = x + -x % 4096
        d = block if zero(data[x:block]) else x
        if zero(data[d:]):
            return self.tell(s, x, x, 'torn', 'unclosed')
        length = int.from_bytes(data[d + 56:d + 64], 'big')
        why = frame_at(data, d, s.secret, 2 ** 64)
        if why in ('boundary', 'magic', 'signature') or not 80 <= length <= 2 ** 24 + 121 or \
                data[d + 32:d + 48] != h(xor(data[d + 16:d + 32], s.secret)):
            stop = data.find(h(s.secret), d + 16)
            while stop >= 0 and stop % 16:
                stop = data.find(h(s.secret), stop + 1)
            e = max(d + 64, d + len(data[d:stop if stop >= 0 else None].rstrip(b'\0')))
        else:
            e = d + 64 + length
        torn = e > len(data) or any(zero(data[b:b + 512]) for b in range(d - d % 512, e, 512) if b + 512 <= len(data))
        self.tell(s, d, min(e, len(data)), 'torn' if torn else 'UNKNOWN', self.reason(s, x, limit))

    def frame(self, s, f, promised):
        self.ordinal = f.ordinal
        if not zero(f.padding):
            self.tell(s, f.end - len(f.padding), f.end, 'CORRUPT' if f.end <= promised else 'UNKNOWN', 'padding')
        try:
            for line in self.records(f):
                print(line)
        except (Malformed, IndexError, struct.error):
            self.tell(s, f.at, f.end, 'CORRUPT', 'body')
        self.ordinal = f.ordinal + f.count

    def records(self, f):
        body, lines, at = body_of(f), [], 0
        c = control(body) if body else None
        if c and c[0] == b'u9part':  # C-6
            part, total, before = (int.from_bytes(e, 'big') for e in c[1][1:4])
            if part == 0:
                self.parts = []
            if self.parts is None or len(self.parts) != part:
                raise Malformed('part')
            self.parts.append(c[1][4])
            if f.count == 0:
                return []
            body, self.parts = b''.join(self.parts), None
            if len(body) != total:
                raise Malformed('part')
        elif c and f.count:
            raise Malformed('control record among records')
        elif f.count == 0:
            if c is None and body:
                raise Malformed('records that are not counted')
            return []
        time = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=f.time)).isoformat(timespec='microseconds')
        while at < len(body):
            end, key, values = record_at(body, at)
            lines.append('{"ordinal":"%d","key":%s,"time":"%sZ","values":[%s]}' % (
                f.ordinal + len(lines), string(key_text(self.kind, key).encode()), time, ','.join(value_json(body, v) for v in values)))
            at = end
        if len(lines) != f.count:
            raise Malformed('count')
        return lines


def main():
    if len(sys.argv) != 2:
        sys.exit(print('Usage: u9read.py LOG', file=sys.stderr) or 2)
    path, reader = sys.argv[1], Reader()
    names = [path]
    if os.path.isdir(path):
        names = [os.path.join(path, n) for n in sorted(os.listdir(path)) if re.fullmatch('[0-9a-f]{16}[.]u9', n)]
    segments = sorted((Segment(n) for n in names), key=lambda s: s.number)
    segments = [s for s in segments if s.open or len(s.data) >= 96 and not zero(s.data[:512])]
    if not segments:
        sys.exit(print('u9read: %s: no log is here' % path, file=sys.stderr) or 2)
    kinds = [s.open[13].decode() for s in segments if s.open]
    reader.kind = kinds[-1] if kinds else 'muid'
    for i, s in enumerate(segments):
        after = segments[i + 1] if i + 1 < len(segments) else None
        if s.open and i > 0 and s.before != segments[i - 1].number:
            reader.tell(s, 0, 0, 'CORRUPT', 'missing')
        reader.segment(s, after.named if after and after.open and after.before == s.number else None)
    sys.exit(1 if reader.damaged else 0)


if __name__ == '__main__':
    main()
