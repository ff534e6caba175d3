import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTrace, TraceError } from "../src/model/trace.ts";
import { fixture } from "./fixture.ts";

const header = '{"format":"hocket trace","version":2,"started":"2026-03-02T12:00:00Z","options":{"language":"de"}}\n';
const step = '{"at":5,"event":"user.start","in":{"type":"user.start"},"state":"idle","transitions":[],"effects":[]}\n';

test("a recorded trace is read whole", () => {
  const trace = parseTrace(fixture("flights.jsonl"));
  assert.equal(trace.header.language, "en");
  assert.equal(trace.steps.length, fixture("flights.jsonl").trimEnd().split("\n").length - 1);
  assert.equal(trace.cutOff, false);
  assert.equal(trace.steps.at(-1)?.state, "idle");
});

test("the language is the conversation's", () => {
  assert.equal(parseTrace(header + step).header.language, "de");
});

test("what the turn controller saw on a frame is no step", () => {
  const frame = '{"timestamp_ms":20,"frame_energy":0.1}\n';
  assert.equal(parseTrace(header + frame + step).steps.length, 1);
});

test("a line that a crash cut off is left out, and told", () => {
  const trace = parseTrace(header + step + step.slice(0, 30));
  assert.equal(trace.cutOff, true);
  assert.equal(trace.steps.length, 1);
});

test("bad traces are refused with the line and the reason", () => {
  const cases: [string, string, number, TraceError["code"]][] = [
    ["empty", "", 1, "empty"],
    ["only empty lines", "\n\n", 1, "empty"],
    ["no JSON", "hello\n", 1, "json"],
    ["no header", step, 1, "header"],
    ["a list", "[1]\n", 1, "header"],
    ["another version", header.replace('"version":2', '"version":1') + step, 1, "version"],
    ["bad line in the middle", header + "{\n" + step, 2, "json"],
    ["no step", header + '{"at":"5","event":"x","state":"idle"}\n', 2, "step"],
    ["null", header + "null\n", 2, "step"],
    ["time goes back", header + step + step.replace('"at":5', '"at":4'), 3, "step"],
  ];
  for (const [name, text, line, code] of cases) {
    assert.throws(
      () => parseTrace(text),
      (err) => err instanceof TraceError && err.line === line && err.code === code,
      name,
    );
  }
});

test("fields of the wrong kind do not get through", () => {
  const odd = header + '{"at":1,"event":"x","in":[],"state":"idle","transitions":[{"from":1}],"effects":["speak",{"type":"listen"}],"turns":{}}\n';
  const s = parseTrace(odd).steps[0]!;
  assert.deepEqual(s.transitions, []);
  assert.deepEqual(s.effects, [{ type: "listen" }]);
  assert.deepEqual(s.turns, []);
  assert.deepEqual(s.in, { type: "x" });
});
