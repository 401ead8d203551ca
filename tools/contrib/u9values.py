"""u9values.py: u9's values as JSON, after SPEC.md (V) and SPEC-values.md (X-1, N-4, N-6, J): a part of u9read.py."""
import re, struct

WIDTHS = {0: 1, 1: 2, 2: 4, 3: 8}
OURS = 'int|float32|float64|symbol|symbol_bytes|utf8|bytes|greek|tau|pidfd|array|malformed'  # J-1


class Malformed(Exception):
    """Bytes that break a rule."""


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


def scalar(code, raw, bare=False):
    """What is no container as JSON. [J-2] [J-3] [J-4]"""
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
        return text if (code == 9 or bare) and text[0] != '"' else '{"$float%d":%s}' % (8 * len(raw), text)
    if code == 0x0a:
        name = raw.rstrip(b'\0')
        if name in (b'true', b'false', b'null'):
            return name.decode()
        text = string(name, 'symbol_bytes')
        return text if text[0] == '{' else '{"$symbol":%s}' % text
    if code == 0x0b:
        return '{"$pidfd":[%d,%d]}' % struct.unpack('>II', raw)
    if code <= 0x14:
        return '{"$greek":"%s"}' % ('alpha', 'omega', 'iota', 'kappa', 'tau0')[code - 0x10]
    if code <= 0x17:
        return '{"$tau":"%d"}' % int.from_bytes(raw, 'big')
    if code <= 0x1b or 0x20 <= code <= 0x2f:
        return string(raw)
    return '{"$bytes":"%s"}' % raw.hex()


def is_tuple(code):
    return 0x40 <= code <= 0x43 or 0x48 <= code <= 0x4f


class Typecode:
    """A typecode: its words, where it ends, and how many bytes an element takes. [V-10] [N-6]"""
    def __init__(self, data, at):
        code = self.code = number(data, at, 1)
        self.end, self.inner, self.tuples = at + 1, None, is_tuple(code)
        width, self.count = WIDTHS[code & 3], code & 7
        wide = lambda *n: '' if width == 1 or max(n) >> 4 * width else '.%d' % (8 * width)
        if code <= 0x0b or 0x15 <= code <= 0x17:
            self.size = head(bytes([code]) + bytes(8), 0)[1] - 1
            self.words = 'tau.%d' % (8 * self.size) if code >= 0x15 else ('uint8 uint16 uint32 uint64 int8 int16 int32 int64 '
                                                                          'float32 float64 symbol pidfd').split()[code]
        elif 0x18 <= code <= 0x1f or 0x44 <= code <= 0x47:
            self.size, self.end = number(data, at + 1, width), at + 1 + width
            self.words = '%s%s %d' % ('utf8' if code < 0x1c else 'bytes', wide(self.size), self.size)
            if code >= 0x44:
                self.count = number(data, at + 1 + width, width)
                inner = self.inner = Typecode(data, at + 1 + 2 * width)
                self.end, self.tuples = inner.end, inner.tuples
                self.words = 'array%s %d %s' % (wide(self.size, self.count), self.count, inner.words)
                if self.size != self.count * inner.size:
                    raise Malformed('typecode')
        elif self.tuples:
            width = 1 if code >= 0x48 else width
            self.count = code & 7 if code >= 0x48 else None
            self.size, self.end, self.words = number(data, at + 1, width) + (0 if code >= 0x48 else width), at + 1 + width, ''
        else:
            raise Malformed('typecode')

    def json(self, data, at):
        """An element. [J-5]"""
        if self.inner:
            return '[' + self.inner.row(data, at, self.count) + ']'
        if not is_tuple(self.code):
            return scalar(self.code, data[at:at + self.size], True)
        width = 0 if self.code >= 0x48 else WIDTHS[self.code & 3]
        count = number(data, at, width) if width else self.count
        return '[' + ','.join(value_json(data, b) for b, _ in elements(data, at + width, at + self.size, count)) + ']'

    def row(self, data, at, count):
        return ','.join(self.json(data, at + k * self.size) for k in range(count))


def array_json(data, begin, end, count):
    t = Typecode(data, begin)
    if t.end + count * t.size != end:  # V-5
        raise Malformed('array')
    row = t.row(data, t.end, count)
    return '[%s]' % row if t.tuples else '{"$array":["%s"%s]}' % (t.words, ',' + row if count else '')


def object_json(data, pairs):
    """A tuple with such an index as an object, or None if it is none. [J-6]"""
    members = {}
    for at, _ in pairs:
        begin, end, count = head(data, at)
        if not is_tuple(data[at]) or count != 2:
            return None
        (key, _), (value, _) = elements(data, begin, end, 2)
        raw = data[slice(*head(data, key)[:2])]
        text = string(raw)
        if not (0x18 <= data[key] <= 0x1b or 0x20 <= data[key] <= 0x2f) or b'\0' in raw or text[0] == '{' or text in members:
            return None
        members[text] = value_json(data, value)
    if len(members) == 1:
        members = {re.sub(r'^"(?=[$]+(%s)"$)' % OURS, '"$', key): value for key, value in members.items()}
    return '{' + ','.join('%s:%s' % member for member in members.items()) + '}'


def value_json(data, at):
    """The value at that offset as JSON. [J-1]"""
    begin, end, count = head(data, at)
    index = at if 0x51 <= data[at] <= 0x57 else None
    while 0x51 <= data[at] <= 0x57:
        width = (2, 4, 8, 1, 2, 4, 8)[data[at] - 0x51]
        at += 1 + width + number(data, at + 1, width)
    code = data[at]
    if 0x44 <= code <= 0x47:
        return array_json(data, begin, end, count)
    if not is_tuple(code):
        return scalar(code, data[begin:end])
    inside = elements(data, begin, end, count)
    if index is not None and data[index] <= 0x53:
        spec = index + 1 + (2, 4, 8)[data[index] - 0x51]
        text = object_json(data, inside) if data[spec:spec + 9] == b'\x0akh\0\0\0\0\0\0' else None
        if text:
            return text
    return '[' + ','.join(value_json(data, b) for b, _ in inside) + ']'


def whole_json(data, at):
    """A value of a record, also one that is not well-formed inside. [B-2] [J-8]"""
    try:
        return value_json(data, at)
    except (Malformed, IndexError, struct.error):
        return '{"$malformed":"%s"}' % data[at:head(data, at)[1]].hex()
