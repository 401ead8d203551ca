# Makes null.avro, deflate.avro and zstandard.avro with Apache's own library (Debian: python3-avro 1.11.1): see README.md.
import avro.datafile
import avro.io
import avro.schema

schema = avro.schema.parse("""{"type": "record", "name": "Trip", "namespace": "org.example", "fields": [
  {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]},
  {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["BUS", "TRAIN"]}},
  {"name": "stops", "type": {"type": "array", "items": {"type": "record", "name": "Stop", "fields": [
    {"name": "at", "type": "int"}, {"name": "ok", "type": "boolean"}]}}},
  {"name": "last", "type": ["null", "Stop"]}, {"name": "tags", "type": {"type": "map", "values": "double"}},
  {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}}, {"name": "raw", "type": "bytes"},
  {"name": "share", "type": "float"}]}""")
rows = [
    {"id": 1, "name": None, "kind": "BUS", "stops": [], "last": None, "tags": {}, "hash": b"\0\xff", "raw": b"x", "share": 0.5},
    {"id": -9223372036854775808, "name": "Brno–Aš", "kind": "TRAIN", "last": {"at": -1, "ok": True}, "tags": {"a": 1.5, "b": -0.25},
     "stops": [{"at": 5, "ok": True}, {"at": 2147483647, "ok": False}], "hash": b"\1\2", "raw": b"", "share": 0.1}]
for codec in "null", "deflate", "zstandard":
    with avro.datafile.DataFileWriter(open(codec + ".avro", "wb"), avro.io.DatumWriter(), schema, codec) as out:
        for row in rows:
            out.append(row)
