// Makes plain.mcap, lz4.mcap and zstd.mcap with the library of the format: see README.md.
import { McapWriter } from "@mcap/core";
import { execFileSync } from "node:child_process";
import fs from "node:fs";

class Out {
  parts = [];
  size = 0n;
  async write(bytes) {
    this.parts.push(Buffer.from(bytes));
    this.size += BigInt(bytes.length);
  }
  position() {
    return this.size;
  }
}
const bytes = (text) => new TextEncoder().encode(text);

async function make(file, compression) {
  const out = new Out();
  const pack = (d) => ({ compression, compressedData: execFileSync(compression, ["-c"], { input: d }) });
  const w = new McapWriter({ writable: out, useChunks: !!compression, useStatistics: true, compressChunk: compression && pack });
  await w.start({ profile: "", library: "@mcap/core" });
  const s = await w.registerSchema({ name: "Reading", encoding: "jsonschema", data: bytes('{"type":"object"}') });
  const c = await w.registerChannel({ schemaId: s, topic: "/reading", messageEncoding: "json", metadata: new Map() });
  const d = await w.registerChannel({ schemaId: 0, topic: "/raw", messageEncoding: "x-raw", metadata: new Map([["unit", "V"]]) });
  for (let i = 0; i < 3; i++)
    await w.addMessage({
      channelId: c,
      sequence: i,
      logTime: 1700000000000000000n + BigInt(i),
      publishTime: 1699999999000000000n,
      data: bytes(JSON.stringify({ n: i, place: "Šumava" })),
    });
  await w.addMessage({ channelId: d, sequence: 7, logTime: 1700000001000000000n, publishTime: 0n, data: new Uint8Array([0, 255, 10]) });
  await w.addAttachment({ logTime: 0n, createTime: 0n, name: "a.txt", mediaType: "text/plain", data: bytes("attached") });
  await w.addMetadata({ name: "m", metadata: new Map([["k", "v"]]) });
  await w.end();
  fs.writeFileSync(file, Buffer.concat(out.parts));
}
await make("plain.mcap");
await make("lz4.mcap", "lz4");
await make("zstd.mcap", "zstd");
