import assert from "node:assert/strict";
import { test } from "node:test";
import { Deriver } from "../src/model/derive.ts";
import { agentVoice, phases } from "../src/model/phases.ts";
import { nothing, show, type Line, type Shown } from "../src/model/talk.ts";
import { tail } from "../src/model/text.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Message } from "../src/model/wire.ts";
import { Player } from "../src/player.ts";
import { engineWords } from "../src/words/catalog.ts";
import { fixture } from "./fixture.ts";

const messagesOf = (name: string): Message[] => {
  const deriver = new Deriver(engineWords("en"));
  return parseTrace(fixture(name)).steps.flatMap((s) => deriver.messages(s));
};
const shownAfter = (messages: Message[]): Shown => messages.reduce(show, nothing);
const said = (l: Line) => `${l.role}: ${l.text}`;

test("the transcript of a recorded call", () => {
  const { lines } = shownAfter(messagesOf("flights.jsonl"));
  assert.deepEqual(lines.filter((l) => l.role === "user").map((l) => l.text), [
    "i want to book a flight", "from boston", "to denver", "next friday", "no wait on saturday",
  ]);
  assert.deepEqual(lines.map((l) => l.turn), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.ok(lines.every((l) => l.final));
});

test("words that were cut off are shown as not heard", () => {
  const { lines, interruptions } = shownAfter(messagesOf("flights.jsonl"));
  const cut = lines.find((l) => l.unheard !== "")!;
  assert.equal(cut.turn, 9);
  assert.equal(cut.outcome, "interrupted");
  assert.equal(cut.heard, "All right, let me sum that up. You are flying from Boston to");
  assert.ok(cut.unheard.startsWith("Denver on Friday"), cut.unheard);
  assert.equal(`${cut.heard} ${cut.unheard}`, cut.text);
  assert.equal(interruptions, 1);
});

test("while the agent speaks it is known what was heard so far", () => {
  const messages = messagesOf("flights.jsonl");
  const i = messages.findIndex((m) => m.type === "caption" && m.payload.heard === "Welcome to Hocket");
  const line = shownAfter(messages.slice(0, i + 1)).lines[0]!;
  assert.equal(line.heard, "Welcome to Hocket");
  assert.equal(line.outcome, "open");
  assert.equal(tail(line.text, line.heard), "Airlines. I can book a flight for you. What would you like to do?");
});

test("states carry the catalogue's label and change only when they change", () => {
  const states = messagesOf("desk.jsonl").filter((m) => m.type === "agentvoice.state");
  assert.deepEqual(states.slice(0, 5).map((m) => m.payload.localizedLabel), ["⋯ Preparing", "● Listening", "⋯ Thinking", "● Speaking", "● Listening"]);
  for (const [i, m] of states.entries()) assert.notEqual(m.payload.state, states[i - 1]?.payload.state);
  assert.ok(states.some((m) => m.payload.localizedLabel === "⋯ Waiting for Copilot"));
});

test("a late word changes nothing", () => {
  const lines = shownAfter(messagesOf("desk.jsonl")).lines.map(said);
  assert.ok(!lines.some((l) => l.includes("too late")), lines.join("\n"));
});

test("a trace of an interrupted conversation says who was cut off, in a server's messages too", () => {
  // As the server sends it: hashes where there are no numbers, null where there is no turn.
  const s = shownAfter([
    { type: "agentvoice.state", at: 1, payload: { state: "speaking", localizedLabel: "● Spricht", turnId: null } },
    { type: "agentvoice.turn", at: 1, payload: { event: "turn-started", turnId: "turn-1", role: "assistant" } },
    { type: "caption", at: 1, payload: { turn: 1, text: "Guten Tag, hier ist", heard: "", unheard: "", final: false } },
    { type: "caption", at: 5, payload: { turn: 1, text: "Guten Tag, hier ist", heard: "Guten Tag,", unheard: "", final: false } },
    { type: "agentvoice.turn", at: 6, payload: { event: "turn-interrupted", turnId: "turn-1", role: "assistant" } },
    { type: "caption", at: 7, payload: { turn: 1, text: "Guten Tag, hier ist", heard: "Guten Tag,", unheard: "hier ist", final: true } },
    { type: "transcript", at: 9, payload: { role: "user", turn: 2, text: "moment", final: false } },
  ]);
  assert.equal(s.label, "● Spricht");
  assert.deepEqual(s.lines.map((l) => [l.role, l.outcome, l.heard, l.unheard]), [
    ["agent", "interrupted", "Guten Tag,", "hier ist"],
    ["user", "open", "moment", ""],
  ]);
});

test("a turn in which nothing was said leaves no line", () => {
  const s = shownAfter([
    { type: "transcript", at: 1, payload: { role: "user", turn: 2, text: "uh", final: false } },
    { type: "agentvoice.turn", at: 2, payload: { event: "turn-abandoned", turnId: "turn-2", role: "user" } },
  ]);
  assert.deepEqual(s.lines, []);
});

test("messages of unknown types and odd payloads change nothing", () => {
  const odd = [
    { type: "from.the.future", at: 1, payload: { x: 1 } },
    { type: "agentvoice.turn", at: 1, payload: {} },
    { type: "agentvoice.notification", at: 1, payload: {} },
  ] as Message[];
  assert.deepEqual(shownAfter(odd), nothing);
});

test("stepping back shows what stepping forward has shown", () => {
  const steps = parseTrace(fixture("desk.jsonl")).steps;
  const player = new Player(steps, () => engineWords("en"));
  const forwards = steps.map((_, i) => JSON.stringify(player.seek(i)));
  for (let i = steps.length - 1; i >= 0; i--) assert.equal(JSON.stringify(player.seek(i)), forwards[i], `step ${i}`);
  assert.equal(player.seek(10_000).index, steps.length - 1);
  assert.equal(player.seek(-5).index, -1);
});

test("places that are remembered on the way are the same as those that are not", () => {
  const once = parseTrace(fixture("flights.jsonl")).steps;
  const steps = Array.from({ length: 8 }, (_, i) => once.map((s) => ({ ...s, at: s.at + i * 60_000 }))).flat();
  const words = () => engineWords("en");
  const player = new Player(steps, words);
  player.seek(steps.length);
  for (const i of [1600, 1502, 1500, 1499, 1498, 1000, 999, 511, 3]) {
    const fresh = new Player(steps, words);
    assert.equal(JSON.stringify(player.seek(i)), JSON.stringify(fresh.seek(i)), `step ${i}`);
  }
});

test("the phase at each step is the trace's", () => {
  for (const name of ["flights.jsonl", "desk.jsonl"]) {
    const steps = parseTrace(fixture(name)).steps;
    const player = new Player(steps, () => engineWords("en"));
    for (const [i, s] of steps.entries()) {
      const frame = player.seek(i);
      assert.equal(frame.phase, s.state, `${name} step ${i}`);
      assert.equal(frame.shown.state || "idle", agentVoice(s.state), `${name} step ${i}`);
      assert.ok(phases.includes(s.state), s.state);
    }
  }
});

test("a lost line is told from a pause, by the state's reason or by the phase", () => {
  const state = (state: string, reason: string): Message => ({ type: "agentvoice.state", at: 1, payload: { state, localizedLabel: "", metadata: { reason } } });
  const phase = (to: string): Message => ({ type: "transition", at: 1, payload: { from: "x", to: "SUSPENDED", phase: { from: "x", to } } });
  const lost = (...messages: Message[]) => shownAfter(messages).lost;
  assert.equal(lost(state("suspended", "session.renewal")), false);
  assert.equal(lost(state("suspended", "connection.lost")), true);
  // From a pause to a lost line the state stays the same, and the phase changes.
  assert.equal(lost(state("suspended", "session.renewal"), phase("reconnecting")), true);
  assert.equal(lost(phase("reconnecting"), state("suspended", "fault")), true);
  assert.equal(lost(state("suspended", "connection.lost"), phase("listening.ready"), state("listening", "connection.restored")), false);
});

test("what is read back of an earlier process stands before the agent's last words", () => {
  const at = (type: string, payload: Record<string, unknown>): Message => ({ type, seq: 1, at: 0, payload });
  const { lines } = shownAfter([
    at("caption", { turn: 3, text: "From where?", heard: "From where?", final: true }),
    at("transcript", { turn: 1, role: "agent", text: "Hello.", final: true }),
    at("transcript", { turn: 2, role: "user", text: "A flight.", final: true }),
    at("transcript", { turn: 3, role: "agent", text: "From where?", final: true }),
  ]);
  assert.deepEqual(lines.map(said), ["agent: Hello.", "user: A flight.", "agent: From where?"]);
});
