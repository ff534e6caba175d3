import assert from "node:assert/strict";
import { test } from "node:test";
import { Deriver } from "../src/model/derive.ts";
import { jsonOf, textOf } from "../src/model/export.ts";
import { nothing, show } from "../src/model/talk.ts";
import { parseTrace } from "../src/model/trace.ts";
import { engineWords } from "../src/words/catalog.ts";
import { fixture } from "./fixture.ts";

const deriver = new Deriver(engineWords("en"));
const { lines } = parseTrace(fixture("flights.jsonl")).steps.flatMap((s) => deriver.messages(s)).reduce(show, nothing);
const said = { id: "conv_1", agent: "Hocket Airlines", lines };

test("a transcript as text says who said what, and what was not heard", () => {
  const text = textOf(said, { you: "You", notHeard: "not heard:" }).split("\n");
  assert.equal(text.length, 12);
  assert.equal(text[0], "Hocket Airlines: Welcome to Hocket Airlines. I can book a flight for you. What would you like to do?");
  assert.equal(text[1], "You: i want to book a flight");
  assert.match(text[8]!, /^Hocket Airlines: All right, let me sum that up\. You are flying from Boston to \[not heard: Denver on Friday.*\]$/);
  assert.equal(text[11], "");
});

test("a transcript as JSON has the turns, their times and what was heard", () => {
  const json = JSON.parse(jsonOf({ ...said, started: "2026-11-20T12:00:00Z" })) as Record<string, unknown> & { lines: Record<string, unknown>[] };
  assert.deepEqual([json.conversation, json.agent, json.started], ["conv_1", "Hocket Airlines", "2026-11-20T12:00:00Z"]);
  assert.deepEqual(json.lines.map((l) => [l.turn, l.role]), lines.map((l) => [l.turn, l.role]));
  assert.deepEqual(json.lines[8], { turn: 9, role: "agent", at_ms: Math.round(lines[8]!.at), text: lines[8]!.text, heard: "All right, let me sum that up. You are flying from Boston to", outcome: "interrupted" });
  // What a store keeps has no times.
  const kept = JSON.parse(jsonOf({ ...said, lines: [{ ...lines[0]!, at: NaN }] })) as { lines: Record<string, unknown>[] };
  assert.deepEqual(Object.keys(kept.lines[0]!), ["turn", "role", "text", "outcome"]);
});
