// The engine's process: started, started again, ended. The program is a stand-in that
// speaks the protocol, or HOCKET.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Engine, type Host } from "../src/engine.ts";
import type { Initialized, Part } from "../src/protocol.ts";

/** A program that answers initialize, asks for a reply, and does what a method says. */
const program = (settings: string) => `#!${process.execPath}
let rest = Buffer.alloc(0);
const send = (m) => { const b = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...m })); process.stdout.write("Content-Length: " + b.length + "\\r\\n\\r\\n"); process.stdout.write(b); };
process.stdin.on("end", () => process.exit(0));
process.stdin.on("data", (d) => {
  rest = Buffer.concat([rest, d]);
  for (;;) {
    const end = rest.indexOf("\\r\\n\\r\\n");
    if (end < 0) return;
    const length = Number(/content-length: *(\\d+)/i.exec(rest.subarray(0, end).toString())[1]);
    if (rest.length < end + 4 + length) return;
    const m = JSON.parse(rest.subarray(end + 4, end + 4 + length).toString());
    rest = rest.subarray(end + 4 + length);
    if (m.method === "initialize") ${settings} else if (m.method === "die") process.exit(3);
    else if (m.method === "ask") { send({ id: m.id, result: null }); send({ id: 77, method: "lm/request", params: { request: 77, messages: [] } }); }
    else if (m.method === "lm/part" || m.id === 77) process.stderr.write(JSON.stringify(m) + "\\n");
    else if (m.id !== undefined) send({ id: m.id, result: {} });
  }
});
`;
const well = `send({ id: m.id, result: { version: 1, engine: "test", url: "", speech: false, language: "en", notes: [] } });`;
const ill = `send({ id: m.id, error: { code: -32602, message: "settings.language is wrong" } });`;

function setUp(t: TestContext, text: string) {
  const dir = mkdtempSync(join(tmpdir(), "engine-"));
  const path = join(dir, "hocket");
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  const log: string[] = [];
  const ups: Initialized[] = [];
  const downs: (string | undefined)[] = [];
  let wake = () => undefined as void;
  const changed = () => wake();
  const host: Host = {
    initialize: () => ({ version: 1, editor: { name: "test", version: "1" }, language: "en", trusted: true, settings: {}, tools: [] }),
    reply: async (_r, part: (p: Part) => void) => { part({ text: "a" }); part({ text: "b" }); },
    call: async () => "", told: () => undefined, changed: () => undefined,
    up: (i) => { ups.push(i); changed(); }, down: (why) => { downs.push(why); changed(); }, log: (l) => { log.push(l); changed(); },
  };
  const engine = new Engine(path, host);
  t.after(async () => { await engine.stop(); rmSync(dir, { recursive: true }); });
  /** until waits for an event of the host. */
  const until = async (is: () => boolean) => { while (!is()) await new Promise<void>((r) => (wake = r)); };
  return { engine, log, ups, downs, until };
}

test("an engine that dies is started again", { timeout: 60_000 }, async (t) => {
  const { engine, ups, downs, until } = setUp(t, program(well));
  await engine.start();
  await engine.request("die").catch(() => undefined);
  await until(() => downs.length === 1 && ups.length === 2);
  assert.match(String(downs[0]), /3/);
});

test("an engine that refuses its settings is not started again, and says why", { timeout: 60_000 }, async (t) => {
  const { engine, ups } = setUp(t, program(ill));
  await assert.rejects(engine.start(), /settings.language is wrong/);
  assert.equal(ups.length, 0);
});

test("a program that is not there is told", { timeout: 60_000 }, async () => {
  const host = { initialize: () => ({}), log: () => undefined, down: () => undefined } as unknown as Host;
  await assert.rejects(new Engine("/nowhere/hocket", host).start(), /nowhere/);
});

test("stop ends the engine, and nobody starts it again", { timeout: 60_000 }, async (t) => {
  const { engine, downs } = setUp(t, program(well));
  await engine.start();
  await engine.stop();
  assert.equal(engine.running, false);
  assert.deepEqual(downs, [undefined]);
});

test("parts of an answer come before its end", { timeout: 60_000 }, async (t) => {
  const { engine, log, until } = setUp(t, program(well));
  await engine.request("ask");
  await until(() => log.length >= 3);
  assert.deepEqual(log.map((l) => JSON.parse(l).params?.part?.text ?? "end"), ["a", "b", "end"]);
});
