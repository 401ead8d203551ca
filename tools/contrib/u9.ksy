meta:
  id: u9
  title: a segment of a u9 record log
  file-extension: u9
  license: MIT
  ks-version: 0.9
  encoding: UTF-8
  endian: be
doc: |
  One segment file: a disk header, then frames (SPEC.md H-1, F-1 to F-8). It shows the structure and proves nothing: no
  hash is computed, no chain followed, and what is damaged is shown as bytes between frames. A body that is stored
  compressed or masked (B-4, B-5) is shown as it is stored. Values are described by SPEC.md V; they are not taken apart here, but
  for the trailer and the fixed beginning of control records.
doc-ref: SPEC.md
seq:
  - id: header
    type: disk_header
  - id: units
    type: unit
    repeat: eos
types:
  disk_header:
    doc-ref: SPEC.md H-1
    seq:
      - id: magic
        doc: 'ff ff "utf9" 00, unless it is damaged (H-4).'
        size: 7
      - id: version
        type: u1
      - id: secret
        size: 16
      - id: zero
        size: 8
  unit:
    doc: A frame, or 16 bytes that belong to none. Frames begin at multiples of 16.
    seq:
      - id: begin
        size: 0
        if: 'start >= 0'
      - id: frame
        type: frame
        if: is_frame
      - id: fill
        size: 'left < 16 ? left : 16'
        if: not is_frame
    instances:
      start:
        value: _io.pos
      left:
        value: _io.size - start
      has_room:
        value: 'left >= 144'
      magic_at:
        pos: start + 48
        size: 8
        if: has_room
      length_at:
        pos: start + 56
        type: u8
        if: has_room
      fits:
        value: >-
          has_room and magic_at == [0xff, 0xff, 0x75, 0x74, 0x66, 0x39, 0x66, 0x00]
          and length_at >= 80 and length_at <= left - 64
      trailer_at:
        doc: The fixed bytes that each trailer begins with. What has none is no frame, or a damaged one.
        pos: start + 64 + length_at - 80
        size: 12
        if: fits
      is_frame:
        value: 'fits and trailer_at == [0x40, 0x4d, 0x08, 0x0a, 0x75, 0x39, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x00]'
  frame:
    doc-ref: SPEC.md F-1, F-2
    seq:
      - id: boundary
        size: 16
      - id: frame_sha
        size: 16
      - id: signed_sha
        size: 16
      - id: magic
        contents: [0xff, 0xff, utf9f, 0x00]
      - id: len_payload
        type: u8
      - id: body
        size: len_payload - 80
        type: body
      - id: trailer
        type: trailer
      - id: padding
        size: (-len_payload) & 15
  body:
    doc: Values back to back. Of what they are only the symbol that a control record begins with (C-2) is told.
    seq:
      - id: values
        size-eos: true
    instances:
      code:
        pos: 0
        type: u1
        if: '_io.size >= 1'
      has_symbol:
        value: '_io.size >= 1 and code >= 0x40 and code <= 0x4f and _io.size >= symbol_at + 9 and symbol_code == 0x0a'
      symbol_at:
        doc: Behind the code of a tuple, its length and its count; those of V-2 have 1, 2, 4 bytes each, those of V-3 one for both.
        value: 'code == 0x40 ? 3 : code == 0x41 ? 5 : code == 0x42 ? 9 : 2'
      symbol_code:
        pos: symbol_at
        type: u1
        if: '_io.size >= symbol_at + 9'
      name:
        doc: u9open, u9end, u9trim, u9part, u9lz4, u9mask, u9page ...; not there for records but such as begin with a symbol.
        pos: symbol_at + 1
        size: 8
        type: strz
        encoding: ASCII
        if: has_symbol
  trailer:
    doc-ref: SPEC.md F-4
    seq:
      - id: tuple
        contents: [0x40, 0x4d, 0x08]
      - id: symbol
        contents: [0x0a, u9frame, 0x00]
      - id: ordinal_code
        contents: [0x03]
      - id: ordinal
        type: u8
        doc: The number of the frame's first user record; with none, of the next one.
      - id: count_code
        contents: [0x02]
      - id: count
        type: u4
        doc: User records in this frame.
      - id: offset_code
        contents: [0x03]
      - id: offset
        type: u8
        doc: Where this frame begins in its file.
      - id: previous_code
        contents: [0x03]
      - id: previous
        type: u8
        doc: Where the frame before it in this file begins; 0 for a file's first.
      - id: durable_code
        contents: [0x03]
      - id: durable
        type: u8
        doc: The promise (R-2); 0 where nothing is promised.
      - id: time_code
        contents: [0x03]
      - id: time_us
        type: u8
        doc: Wall clock, in microseconds since 1970.
      - id: chain_code
        contents: [0x1c, 0x10]
      - id: chain
        size: 16
        doc: The frame_sha of the frame before, across files.
