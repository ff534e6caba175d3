// What the panel knows of the machine by heart, held against the program.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Explored, type Chart } from "../src/model/explored.ts";
import { agentVoice, phases } from "../src/model/phases.ts";
import { parseTrace } from "../src/model/trace.ts";
import chart from "../statechart/statechart.svg";
import { web } from "./browser.ts";
import { available, hocket } from "./hocket.ts";

const skip = available();

const run = (args: string[], input = "") => {
  const p = spawnSync(hocket, args, { input, encoding: "utf8" });
  assert.equal(p.status, 0, p.stderr);
  return p.stdout;
};

interface Machine {
  states: string[];
  transitions: { from: string; to: string }[];
}

test("the statechart has the machine's states and transitions", { skip }, () => {
  const machine = JSON.parse(run(["machine", "--format", "json"])) as Machine;
  assert.deepEqual([...phases].sort(), [...machine.states].sort());
  const states = [...chart.matchAll(/data-state="([^"]*)"/g)].map((m) => m[1]!);
  assert.deepEqual(states.sort(), [...machine.states].sort());
  const drawn = new Set([...chart.matchAll(/data-from="([^"]*)" data-to="([^"]*)"/g)].map((m) => `${m[1]} ${m[2]}`));
  // Edges that all states of a conversation have in common are drawn once.
  const outside = ["idle", "suspended", "reconnecting", "faulted", "terminating"];
  const group = (s: string) => (outside.includes(s) ? s : "conversation");
  for (const { from, to } of machine.transitions) {
    const known = [`${from} ${to}`, `${group(from)} ${to}`, `${from} ${group(to)}`].some((e) => drawn.has(e));
    assert.ok(known, `the transition from ${from} to ${to} is not drawn: npm run statechart`);
  }
});

test("a trace has as many explored steps as hocket replay tells", { skip }, () => {
  const whole = JSON.parse(run(["machine", "--format", "json"])) as Chart;
  const file = `${web}test/fixtures/restored.2.jsonl`;
  const { steps } = parseTrace(readFileSync(file, "utf8"));
  const told = /(\d+) of (\d+) steps were met/.exec(run(["replay", "--explored", file]))!;
  assert.deepEqual(new Explored(whole).share(steps), { met: Number(told[1]), of: Number(told[2]) });
});

test("phases are shown as the view agent-voice has them", { skip }, () => {
  const troubled = [
    { at: 0, type: "user.start" },
    { at: 1, type: "session.ready" },
    { at: 2, type: "audio.ready" },
    { at: 10, type: "session.renewal" },
    { at: 20, type: "session.renewed" },
    { at: 30, type: "connection.lost" },
    { at: 40, type: "connection.restored" },
    { at: 50, type: "fault", code: "server" },
    { at: 60, type: "user.stop" },
    { at: 61, type: "session.ended" },
  ];
  const events = [readFileSync(`${web}test/fixtures/desk.events`, "utf8"), troubled.map((e) => JSON.stringify(e)).join("\n") + "\n"];
  const seen = new Set<string>();
  for (const input of events) {
    for (const line of run(["step"], input).trimEnd().split("\n")) {
      const { state, views } = JSON.parse(line) as { state: string; views: Record<string, string> };
      assert.equal(agentVoice(state), views["agent-voice"], state);
      seen.add(state);
    }
  }
  assert.deepEqual([...seen].sort(), [...phases].sort(), "each phase was met");
});
