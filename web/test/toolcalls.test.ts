import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "../src/model/recording.ts";
import { place, toolCalls } from "../src/model/toolcalls.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Step } from "../src/model/wire.ts";
import { fixture } from "./fixture.ts";

const step = (at: number, event: string, more: Partial<Step> = {}): Step =>
  ({ at, event, in: { type: event, ...more.in }, state: "", transitions: [], effects: [], ...more }) as Step;

const ran = (id: string, json: string) => ({ effects: [{ type: "run_tool", id, name: "weather", arguments: json }] });

const told = (...steps: Step[]) => toolCalls(recordingOf(steps).spans);

test("the calls of a help desk's conversation, without its delegated work", () => {
  const calls = toolCalls(recordingOf(parseTrace(fixture("desk.jsonl")).steps).spans);
  assert.deepEqual(calls.map((c) => [c.name, c.arguments, c.state, c.start, c.end]), [
    ["weather", [["city", "Boston"]], "done", 4950, 5350],
    ["weather", [["city", "Austin"]], "failed", 7950, 8600],
  ]);
  assert.notEqual(calls[1]!.problem, "");
});

test("a call runs until something is told of it, and is called off where the conversation ends", () => {
  const begin = step(10, "tool.called", ran("a", "{}"));
  assert.deepEqual(told(begin).map((c) => [c.state, c.end]), [["running", undefined]]);
  const over = step(50, "session.ended");
  assert.deepEqual(told(begin, over).map((c) => [c.state, c.end]), [["cancelled", 50]]);
  const late = step(60, "deadline", { effects: [{ type: "cancel_tool", id: "a" }] });
  const [timeout] = told(begin, late);
  assert.deepEqual([timeout!.state, timeout!.problem], ["failed", ""], "its arguments are no reason");
});

test("arguments of any form are shown, and long ones cut", () => {
  const of = (json: string) => told(step(1, "tool.called", ran("a", json)))[0]!.arguments;
  assert.deepEqual(of(`{"city":"Boston","days":3,"at":{"lat":1}}`), [["city", "Boston"], ["days", "3"], ["at", `{"lat":1}`]]);
  assert.deepEqual(of("not json"), [["", "not json"]]);
  assert.deepEqual(of(`[1,2]`), [["", "[1,2]"]]);
  assert.deepEqual(of("null"), []);
  assert.deepEqual(of(""), []);
  assert.equal(of(`{"text":"${"x".repeat(500)}"}`)[0]![1].length, 121);
});

test("a call stands before the first line that begins after it", () => {
  const line = (at: number) => ({ at });
  const call = (start: number) => ({ key: `${start}`, name: "", arguments: [], state: "done" as const, problem: "", start });
  const order = place([line(1), line(5)], [call(2), call(3), call(9)]);
  assert.deepEqual(order.map((p) => ("call" in p ? `call ${p.call.start}` : p.line.at)), [1, "call 2", "call 3", 5, "call 9"]);
});
