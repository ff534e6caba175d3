import assert from "node:assert/strict";
import { test } from "node:test";
import { listed } from "../src/app.ts";
import { ConversationStore } from "../src/conversation.ts";
import { Deriver } from "../src/model/derive.ts";
import { recordingOf } from "../src/model/recording.ts";
import { nothing, show } from "../src/model/talk.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Header, Message, Step } from "../src/model/wire.ts";
import { messageOf } from "../src/source/host.ts";
import { LiveSource, Waiting, type Patience } from "../src/source/live.ts";
import { ApiError, type Server } from "../src/source/server.ts";
import { sentEvents } from "../src/source/sse.ts";
import type { Feed, Status } from "../src/source/source.ts";
import { engineWords } from "../src/words/catalog.ts";
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
  /** The stream stays open behind its messages. */
  stays?: boolean;
}

/** serverOf plays parts of a stream, one for each request. */
function serverOf(parts: Part[], trace = ""): Server {
  let i = 0;
  return {
    async *events(_id: string, from: number, signal: AbortSignal) {
      const part = parts[i++] ?? { fail: new ApiError(404, "gone", "") };
      if (part.from !== undefined) assert.equal(from, part.from, `request ${i}`);
      if (part.fail) throw part.fail;
      yield { type: "open", at: 0, payload: {} };
      yield* part.messages ?? [];
      if (part.stays) await new Promise((done) => signal.addEventListener("abort", done));
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
    "c", "flights", { patience: { waits: [0], window: 60_000 } },
  );
  source.start(log);
  await log.ended.promise;
  assert.deepEqual(log.messages.map((m) => m.payload.state), ["listening", "processing", "speaking"]);
  assert.deepEqual(log.states, ["connecting", "open", "lost", "open", "ended"]);
});

const quick: Patience = { waits: [0], window: 60_000 };

/** legOf are the messages that the process which took a conversation up has told: its steps, and what the hub has told beside them. */
function legOf(name: string): Message[] {
  const told = (JSON.parse(fixture(`${name}.told.json`)) as { messages: Message[] }).messages;
  const steps = fixture(`${name}.jsonl`).trimEnd().split("\n").slice(1).map((l) => JSON.parse(l) as Step);
  const all = [...steps.map((s) => ({ type: "step", at: s.at, payload: s as unknown as Record<string, unknown> })), ...told];
  return all.sort((a, b) => a.at - b.at || Number(b.type === "step") - Number(a.type === "step")).map((m, i) => ({ ...m, seq: i + 1 }));
}

/** firstLeg are those of the process before it, up to its death. */
function firstLeg(): Message[] {
  const deriver = new Deriver(engineWords("en"));
  const lines = fixture("restored.1.jsonl").trimEnd().split("\n").slice(1);
  return parseTrace(fixture("restored.1.jsonl"))
    .steps.flatMap((s, i) => [{ type: "step", at: s.at, payload: JSON.parse(lines[i]!) as Record<string, unknown> }, ...deriver.messages(s)])
    .map((m, i) => ({ ...m, seq: i + 1 }));
}

const said = (store: ConversationStore) => store.now.value.lines.map((l) => `${l.role} ${l.turn}: ${l.heard}${l.unheard && ` | ${l.unheard}`}`);

const whole = [
  "agent 1: Hello.",
  "user 2: Find me a quiet hotel in Lisbon",
  "agent 3: Let me look into | that for you, it may take a little while.",
  "agent 4: I have found a hotel: Casa do Jardim, for 90 euros.",
];

/** until waits for something to become true. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (const limit = Date.now() + 5000; !holds(); await new Promise((r) => setTimeout(r, 5))) {
    assert.ok(Date.now() < limit, `waited for ${what}`);
  }
}

test("another process takes the conversation up: what was said stays, nothing comes twice", async () => {
  const first = firstLeg();
  let resumed = 0;
  const server = serverOf(
    [
      { from: 1, messages: first },
      { fail: new ApiError(0, "offline", "") },
      { fail: new ApiError(404, "no_such_conversation", "") },
      { from: 1, messages: legOf("restored.2"), stays: true },
    ],
    fixture("restored.2.jsonl"),
  );
  const store = new ConversationStore(new LiveSource(server, "c", "hotel", { patience: quick, again: () => Promise.resolve(void resumed++) }));
  await until("the result", () => said(store).length === 4 && store.now.value.lines[3]!.final);
  store.close();
  assert.equal(resumed, 1);
  assert.deepEqual(said(store), whole);
  assert.deepEqual(store.now.value.tasks.map((t) => [t.id, t.state, t.told]), [["h1", "done", 4]]);
  assert.equal(store.recording.spans.filter((s) => s.lane === "delegated").length, 1, "the task is one, through both processes");
  for (const [i, s] of store.recording.steps.entries()) {
    assert.ok(i === 0 || s.at >= store.recording.steps[i - 1]!.at, `step ${i} goes back in time`);
  }
});

test("behind a reload, what was said before is there", async () => {
  const server = serverOf([{ from: 1, messages: legOf("restored.2"), stays: true }], fixture("restored.2.jsonl"));
  const store = new ConversationStore(new LiveSource(server, "c", "hotel", { patience: quick }));
  await until("the result", () => said(store).length === 4 && store.now.value.lines[3]!.final);
  store.close();
  assert.deepEqual(said(store), whole);
  assert.ok(store.now.value.lines.every((l, i, all) => i === 0 || l.at >= all[i - 1]!.at), "in the order of their times");
  assert.equal(store.recording.steps.length, parseTrace(fixture("restored.2.jsonl")).steps.length);
  // Stepped through, it is the same.
  store.lookAt(store.recording.steps.length - 1);
  assert.deepEqual(store.frame.value.shown.lines.map((l) => l.text), store.now.value.lines.map((l) => l.text));
});

test("a trace of both processes is read as one", () => {
  const { steps, legs } = parseTrace(fixture("restored.1.jsonl") + fixture("restored.2.jsonl"));
  assert.deepEqual(legs, [0, 9000]);
  const shown = steps.flatMap((s) => both.messages(s)).reduce(show, nothing);
  assert.deepEqual(shown.lines.map((l) => `${l.role} ${l.turn}: ${l.heard}${l.unheard && ` | ${l.unheard}`}`), whole);
  const { spans } = recordingOf(steps);
  assert.deepEqual(spans.filter((s) => s.lane === "delegated").map((s) => [s.label, s.start, s.end, s.outcome]), [["find_hotel", 2400, 12_000, "ok"]]);
});
const both = new Deriver(engineWords("en"));

test("a stream that has all of the conversation again is shown from its beginning", async () => {
  const first = firstLeg();
  const log = new Log();
  new LiveSource(
    serverOf([
      { from: 1, messages: [...first, { ...state(first.length + 1, "speaking"), at: 4000 }] },
      { from: first.length + 2, messages: [{ ...first[1]!, seq: 2 }] },
      { from: 1, messages: [...first, end] },
    ]),
    "c", "flights", { patience: quick },
  ).start(log);
  await log.ended.promise;
  assert.equal(log.resets, 1);
  assert.equal(log.steps.length, first.filter((m) => m.type === "step").length);
});

test("a conversation that cannot be taken up again has failed; a server that begins is waited for", async () => {
  const log = new Log();
  let tries = 0;
  const again = async () => {
    if (tries++ === 0) throw new ApiError(503, "shutting_down", "", 10);
    throw new ApiError(404, "no_such_conversation", "");
  };
  const gone = { fail: new ApiError(404, "no_such_conversation", "") };
  new LiveSource(serverOf([{ messages: [state(1, "listening")] }, gone, gone, gone]), "c", "x", { patience: quick, again }).start(log);
  await log.ended.promise;
  assert.equal(tries, 2);
  assert.deepEqual(log.states, ["connecting", "open", "lost", "failed"]);
});

test("waits grow, keep to what the server asks for, and come to an end", (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const w = new Waiting();
  assert.deepEqual([w.next(undefined), w.next(undefined), w.next(undefined), w.next(undefined)], [1000, 3000, 10_000, 10_000]);
  assert.equal(w.next(new ApiError(503, "full", "", 25_000)), 25_000);
  t.mock.timers.tick(5 * 60_000 + 1);
  assert.equal(w.next(undefined), undefined);
  w.over();
  assert.equal(w.next(new ApiError(503, "full", "", 500)), 1000);
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
