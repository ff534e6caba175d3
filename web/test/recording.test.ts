import assert from "node:assert/strict";
import { test } from "node:test";
import { filtered, gist, kindOf, kinds } from "../src/model/events.ts";
import { median, quantile, recordingOf } from "../src/model/recording.ts";
import { parseTrace } from "../src/model/trace.ts";
import { stepAt } from "../src/ui/timeline.tsx";
import { fixture } from "./fixture.ts";

const of = (name: string) => recordingOf(parseTrace(fixture(name)).steps);

test("lanes of a help desk's call", () => {
  const { spans } = of("desk.jsonl");
  const lane = (name: string) => spans.filter((s) => s.lane === name).map((s) => [s.label, s.start, s.end, s.outcome]);
  assert.deepEqual(lane("tools"), [
    ["weather", 4950, 5350, "ok"],
    ["weather", 7950, 8600, "failed"],
  ]);
  assert.deepEqual(lane("delegated"), [["report", 14700, 22500, "ok"]]);
  assert.deepEqual(lane("speech").map(([, start, end]) => [start, end]), [[3000, 4300], [6700, 7400], [12000, 13900]]);
  assert.deepEqual(lane("transcript").map(([label]) => label), [
    "what's the weather in boston", "no in austin", "then write me a report about last summer", "Thank you",
  ]);
  const sent = spans.filter((s) => s.lane === "sent");
  assert.deepEqual(sent.map((s) => s.outcome), ["ok", "cut", "ok", "ok", "ok"]);
  assert.equal(sent[1]!.end, 6950, "the audio stops with the barge-in");
  const heard = spans.filter((s) => s.lane === "heard");
  assert.equal(heard[1]!.label, "It is cloudy in Boston,", "what was heard is the exact measure");
  const report = spans.find((s) => s.lane === "delegated")!;
  assert.deepEqual(report.marks.map((m) => m.at), [17000, 20000]);
});

test("nothing is left open behind the end", () => {
  for (const name of ["flights.jsonl", "desk.jsonl"]) {
    assert.deepEqual(of(name).spans.filter((s) => s.end === undefined), [], name);
  }
});

test("transitions follow one another and carry the time before them", () => {
  const { changes } = of("desk.jsonl");
  for (const [i, c] of changes.entries()) {
    const before = changes[i - 1];
    if (!before) continue;
    assert.equal(c.from, before.to, `transition ${i}`);
    assert.equal(c.spent, c.at - before.at, `transition ${i}`);
    assert.notEqual(c.cause, "");
  }
  const cut = changes.find((c) => c.to === "interrupted")!;
  assert.deepEqual([cut.from, cut.cause, cut.spent], ["speaking", "stt.partial", 6950 - 5720]);
});

// The figures are those that `hocket replay --timeline` prints for these traces.
test("latency by stage", () => {
  const { latencies } = of("desk.jsonl");
  const rows = latencies.map((l) => [l.turn, l.to! - l.from, l.stages]);
  assert.deepEqual(rows, [
    [3, 1420, { endpoint: 400, transcript: 0, model: 500, tools: 400, voice: 120 }],
    [5, 1610, { endpoint: 400, transcript: 0, model: 460, tools: 650, voice: 100 }],
    [7, 9180, { endpoint: 400, transcript: 0, model: 800, tools: 7800, voice: 180 }],
    [9, 1740, { model: 1620, voice: 120 }],
  ]);
  assert.ok(latencies.at(-1)!.typed);
});

test("the stages are all of the latency", () => {
  for (const name of ["flights.jsonl", "desk.jsonl"]) {
    for (const l of of(name).latencies) {
      const sum = Object.values(l.stages).reduce((a, b) => a + b, 0);
      assert.ok(Math.abs(sum - (l.to! - l.from)) < 0.001, `${name}, turn ${l.turn}: ${sum}`);
    }
  }
});

test("metrics", () => {
  const { metrics, errors } = of("desk.jsonl");
  assert.deepEqual(
    [metrics.turns, metrics.agentTurns, metrics.interrupted, metrics.tools, metrics.toolsFailed, metrics.errors],
    [9, 5, 1, 3, 1, 2],
  );
  assert.deepEqual(errors.map((e) => [e.event, e.code]), [["tool.failed", "timeout"], ["reply.failed", "fault.server"]]);
  const quiet = of("flights.jsonl").metrics;
  assert.deepEqual([quiet.turns, quiet.interrupted, quiet.errors], [11, 1, 0]);
});

test("quantiles are those of the nearest rank", () => {
  assert.equal(median([]), undefined);
  assert.equal(median([5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2);
  assert.equal(quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.95), 10);
});

test("events have kinds, and filters find words in effects", () => {
  const { steps } = parseTrace(fixture("desk.jsonl"));
  const all = new Set(kinds);
  assert.equal(filtered(steps, all, "").length, steps.length);
  assert.deepEqual(filtered(steps, new Set(["deadline"]), "").map((r) => r.step.event), ["deadline", "deadline", "deadline"]);
  const found = filtered(steps, all, "RUN_TOOL");
  assert.deepEqual(found.map((r) => r.step.event), ["tool.called", "tool.called"]);
  assert.equal(kindOf("stt.partial"), "progress");
  assert.equal(kindOf("something.new"), "session");
  assert.equal(gist(found[0]!.step), 'weather · {"city":"Boston"}');
});

test("a place on the timeline is the last step before it", () => {
  const r = of("desk.jsonl");
  assert.equal(stepAt(r, -10), 0);
  assert.equal(r.steps[stepAt(r, 4800)]!.at, 4701);
  assert.equal(stepAt(r, 1e9), r.steps.length - 1);
});
