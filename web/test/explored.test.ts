import assert from "node:assert/strict";
import { test } from "node:test";
import { Explored } from "../src/model/explored.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Step, Transition } from "../src/model/wire.ts";
import { fixture } from "./fixture.ts";

const step = (...transitions: Transition[]): Step => ({ at: 0, event: "user.start", in: { type: "user.start" }, state: "idle", transitions, effects: [] });
const begins = { from: "idle", to: "preparing", cause: "user.start" };
const explored = new Explored({ transitions: [{ from: "idle", to: "preparing", causes: ["user.start", "user.text"] }] });

// The cases are those of TestExplored in internal/explore.
test("a step is met when the exploration has met each change of phase in it, with its cause", () => {
  assert.ok(explored.met(step()), "it stays in its phase");
  assert.ok(explored.met(step(begins)), "reached");
  assert.ok(explored.met(step({ ...begins, cause: "user.text" })), "reached by the other cause");
  assert.ok(!explored.met(step({ ...begins, cause: "turn.ended" })), "another cause");
  assert.ok(!explored.met(step({ ...begins, to: "speaking" })), "another way");
  assert.ok(!explored.met(step({ from: "preparing", to: "idle", cause: "user.start" })), "the way back");
  assert.ok(!explored.met(step(begins, { from: "preparing", to: "idle", cause: "user.start" })), "one of two was reached");
});

test("the share counts steps, not changes of phase", () => {
  const missed = { from: "preparing", to: "idle", cause: "user.start" };
  assert.deepEqual(explored.share([step(), step(begins), step(missed, missed)]), { met: 2, of: 3 });
  assert.deepEqual(explored.share([]), { met: 0, of: 0 });
});

test("what a conversation was restored from is not a step", () => {
  const text = fixture("restored.2.jsonl");
  const { steps } = parseTrace(text);
  assert.ok(steps.some((s) => s.restored));
  const recorded = text.trimEnd().split("\n").filter((l) => "event" in (JSON.parse(l) as object)).length;
  assert.equal(explored.share(steps).of, recorded);
});
