import assert from "node:assert/strict";
import { test } from "node:test";
import { listed } from "../src/app.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Header, Message, Step } from "../src/model/wire.ts";
import { messageOf } from "../src/source/host.ts";
import { LiveSource } from "../src/source/live.ts";
import { ApiError, type Server } from "../src/source/server.ts";
import { sentEvents } from "../src/source/sse.ts";
import type { Feed, Status } from "../src/source/source.ts";
import { fixture } from "./fixture.ts";

const bytes = (chunks: string[]) =>
  new ReadableStream<Uint8Array>({
    start(c) {
      for (const chunk of chunks) c.enqueue(new TextEncoder().encode(chunk));
      c.close();
    },
  });

test("server-sent events, cut anywhere", async () => {
  const text = ": hello\n\nid: 4\nevent: x\ndata: {\"a\":\ndata: 1}\n\ndata:ü\r\n\r\nevent: nothing\n\ndata: unfinished";
  const want = [
    { event: "x", data: '{"a":\n1}', id: "4" },
    { event: "", data: "ü", id: "4" },
  ];
  const raw = new TextEncoder().encode(text);
  for (let cut = 0; cut <= raw.length; cut++) {
    const body = new ReadableStream<Uint8Array>({
      start(c) {
        c.enqueue(raw.slice(0, cut));
        c.enqueue(raw.slice(cut));
        c.close();
      },
    });
    const got = [];
    for await (const e of sentEvents(body)) got.push(e);
    assert.deepEqual(got, want, `cut at ${cut}`);
  }
});

test("an event without an end is refused, not collected for ever", async () => {
  const body = bytes(Array.from({ length: 6 }, () => `data: ${"x".repeat(1 << 20)}`));
  await assert.rejects(async () => {
    for await (const e of sentEvents(body)) assert.fail(`got ${e.data.length} characters`);
  }, /too long/);
});

/** Log is a feed that remembers. */
class Log implements Feed {
  messages: Message[] = [];
  steps: Step[] = [];
  resets = 0;
  states: Status[] = [];
  ended = withResolvers();
  reset() {
    this.resets++;
    this.messages = [];
    this.steps = [];
  }
  past(_: Header, steps: Step[]) {
    this.steps.push(...steps);
  }
  message(m: Message) {
    if (m.type === "step") this.steps.push(m.payload as unknown as Step);
    else this.messages.push(m);
  }
  status(s: Status) {
    if (this.states.at(-1) !== s) this.states.push(s);
    if (s === "ended" || s === "failed") this.ended.resolve();
  }
}

interface Part {
  from?: number;
  messages?: Message[];
  fail?: ApiError;
}

/** serverOf plays parts of a stream, one for each request. */
function serverOf(parts: Part[], trace = ""): Server {
  let i = 0;
  return {
    async *events(_id: string, from: number) {
      const part = parts[i++] ?? { fail: new ApiError(404, "gone", "") };
      if (part.from !== undefined) assert.equal(from, part.from, `request ${i}`);
      if (part.fail) throw part.fail;
      yield { type: "open", at: 0, payload: {} };
      yield* part.messages ?? [];
    },
    trace: () => Promise.resolve(trace),
  } as unknown as Server;
}

const state = (seq: number, name: string): Message => ({ type: "agentvoice.state", seq, at: seq, payload: { state: name } });
const end: Message = { type: "end", at: 0, payload: {} };

test("a stream that breaks off is taken up behind its last message", async () => {
  const log = new Log();
  const source = new LiveSource(
    serverOf([
      { from: 1, messages: [state(1, "listening"), state(2, "processing")] },
      { from: 3, fail: new ApiError(0, "offline", "") },
      { from: 3, messages: [state(3, "speaking"), end] },
    ]),
    "c", "flights",
  );
  source.start(log);
  await log.ended.promise;
  assert.deepEqual(log.messages.map((m) => m.payload.state), ["listening", "processing", "speaking"]);
  assert.deepEqual(log.states, ["connecting", "open", "lost", "open", "ended"]);
});

test("a stream that counts anew is read from its beginning", async () => {
  const log = new Log();
  new LiveSource(
    serverOf([
      { from: 1, messages: [state(1, "listening"), state(2, "processing"), state(3, "speaking")] },
      { from: 4, messages: [state(2, "listening")] },
      { from: 1, messages: [state(1, "preparing"), state(2, "listening"), end] },
    ]),
    "c", "flights",
  ).start(log);
  await log.ended.promise;
  assert.equal(log.resets, 1);
  assert.deepEqual(log.messages.map((m) => m.payload.state), ["preparing", "listening"]);
});

test("a gap is filled from the trace, and no step comes twice", async () => {
  const text = fixture("desk.jsonl");
  const { steps } = parseTrace(text);
  const lines = text.trimEnd().split("\n");
  // The trace was read when it had 20 steps; the stream still brings some of them, and goes on.
  const known = lines.slice(0, 21).join("\n") + "\n";
  const rest = steps.slice(15).map((s, i) => ({ type: "step", seq: 100 + i, at: s.at, payload: JSON.parse(lines[16 + i]!) as Record<string, unknown> }));
  const log = new Log();
  new LiveSource(
    serverOf([{ messages: [{ type: "gap", seq: 0, at: 0, payload: { from: 1, to: 99, steps: true } }, ...rest, end] }], known),
    "c", "desk",
  ).start(log);
  await log.ended.promise;
  assert.equal(log.resets, 1);
  assert.deepEqual(log.steps.map((s) => s.event), steps.map((s) => s.event));
});

test("a conversation that there is not has failed", async () => {
  const log = new Log();
  new LiveSource(serverOf([{ fail: new ApiError(404, "no_such_conversation", "") }]), "c", "x").start(log);
  await log.ended.promise;
  assert.deepEqual(log.states, ["connecting", "failed"]);
});

test("the list follows beginnings, changes and ends", () => {
  const m = (type: string, id: string, more = {}): Message => ({ type, at: 0, payload: { id, agent: "a", ...more } });
  let list = listed([], m("conversation.started", "1"));
  list = listed(list, m("conversation.started", "2"));
  list = listed(list, m("conversation.updated", "1", { state: "speaking" }));
  list = listed(list, m("conversation.ended", "2", { ended: "2026-03-02T12:00:00Z" }));
  assert.deepEqual(list.map((c) => [c.id, c.state, c.ended]), [
    ["2", undefined, "2026-03-02T12:00:00Z"],
    ["1", "speaking", undefined],
  ]);
  assert.equal(listed(list, { type: "gap", at: 0, payload: { from: 1, to: 2 } }), list);
});

test("what a host posts is checked", () => {
  assert.equal(messageOf("hello", 0), undefined);
  assert.equal(messageOf({ payload: {} }, 0), undefined);
  assert.equal(messageOf({ type: "step", payload: { at: "x" } }, 0), undefined);
  // Seed 000's message, word for word.
  const m = messageOf({ type: "agentvoice.state", payload: { state: "listening", localizedLabel: "● Listening", turnId: "turn-789" } }, 12);
  assert.deepEqual(m, { type: "agentvoice.state", seq: undefined, at: 12, payload: { state: "listening", localizedLabel: "● Listening", turnId: "turn-789" } });
});

function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
