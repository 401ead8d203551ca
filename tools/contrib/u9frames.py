"""u9frames.py: frames, and the records in them, after SPEC.md (F, B, C-1, L-6, I): a part of u9read.py."""
import hashlib, struct

from u9values import Malformed, elements, head, is_tuple

MAGIC, FRAME_MAGIC = bytes.fromhex('ffff757466390001'), bytes.fromhex('ffff757466396600')
FORMS = {b'u9open': '0a 1c10 1c10 03 03 03 03 1c10 1c10 03 03 1c10 00 19', b'u9part': '0a 02 03 03 1e', b'u9trim': '0a 03 03',
         b'u9mark': '0a 1c10 03 03 1c10 1c10 03 03 1c10 03'}  # C-1; of others the frames are passed


def h(data):
    return hashlib.sha256(data).digest()[:16]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def zero(data):
    return not data.strip(b'\0')


def integer(element):
    return int.from_bytes(element, 'big')


def places(data, what, begin, end=None):
    """Where that stands, at multiples of 16."""
    at = data.find(what, begin, end)
    while at >= 0:
        if at % 16 == 0:
            yield at
        at = data.find(what, at + 1, end)


# Keys (L-6), as their kinds write them (I).

def base58(data, width):
    n, out = integer(data), ''
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
        n = integer(key)
        return ''.join('234567abcdefghijklmnopqrstuvwxyz'[n >> shift & 31] for shift in range(60, -1, -5))
    if kind == 'uid8':
        return key.hex()
    text = key.hex().upper()
    return '-'.join((text[:13], text[13:24], text[24:]))


# Frames (F) and bodies (B).

def fits(length):
    """[F-5]"""
    return 80 <= length <= 2 ** 24 + 121


class Frame:
    pass


def frame_at(data, p, secret, limit):
    """The valid frame at p, or the reason why there is none. [F-6] [R-12]"""
    boundary = h(secret)
    if data[p:p + 16] != boundary:
        return 'boundary'
    if data[p + 48:p + 56] != FRAME_MAGIC:
        return 'magic'
    length = integer(data[p + 56:p + 64])
    end = p + 64 + length + (-length & 15)
    if not fits(length) or end > limit:
        return 'length'
    if any(places(data, boundary, p + 16, end)):
        return 'overlap'
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
        size = integer(c[1][1])
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


def is_end(f, kind=None):
    """Whether that frame is a u9end. [C-4]"""
    return f.payload[5:14] == b'\x0au9end\0\0\0' and f.count == 0 and kind in (None, f.payload[15])
