// The panel reads a trace by its own code. What it makes of recorded conversations
// is held against what the server told of them: server/hub writes
// fixtures/*.told.json, by holding the conversations again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Deriver } from "../src/model/derive.ts";
import { recordingOf } from "../src/model/recording.ts";
import { nothing, show, type Shown } from "../src/model/talk.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Message } from "../src/model/wire.ts";
import { engineWords } from "../src/words/catalog.ts";
import { fixture } from "./fixture.ts";

interface Told {
  messages: Message[];
  metrics: Record<string, number>;
  timings: Record<string, number>[];
}

const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 0.01, `${what}: ${a}, told was ${b}`);

for (const name of ["flights", "desk", "tasks"]) {
  const told = JSON.parse(fixture(`${name}.told.json`)) as Told;
  const { header, steps } = parseTrace(fixture(`${name}.jsonl`));
  const deriver = new Deriver(engineWords(header.language));
  const derived = steps.flatMap((s) => deriver.messages(s));
  const of = (list: Message[], type: string) => list.filter((m) => m.type === type);

  test(`${name}: what is shown is the same, whoever tells it`, () => {
    // Each message may come a little earlier or later within its step; at the end of
    // each step the person has to see the same.
    const times = [...new Set(derived.map((m) => m.at))];
    let theirs: Shown = nothing;
    let ours: Shown = nothing;
    let [i, k] = [0, 0];
    for (const at of times) {
      for (; i < told.messages.length && told.messages[i]!.at <= at + 0.001; i++) theirs = show(theirs, told.messages[i]!);
      for (; k < derived.length && derived[k]!.at <= at; k++) ours = show(ours, derived[k]!);
      assert.deepEqual(plain(ours), plain(theirs), `at ${at} ms`);
    }
    assert.equal(i, told.messages.length, "all that was told was compared");
  });

  test(`${name}: states and tasks follow one another the same way`, () => {
    const states = (list: Message[]) => of(list, "agentvoice.state").map((m) => [m.at, m.payload.state, m.payload.localizedLabel]);
    assert.deepEqual(states(derived), states(told.messages));
    const tasks = (list: Message[]) =>
      of(list, "task").map(({ at, payload: p }) => [at, p.id, p.name, p.state, p.text ?? "", p.code ?? "", p.durationMs, p.turn ?? 0, p.background ?? false, p.told ?? 0, p.adopted ?? false]);
    assert.deepEqual(tasks(derived), tasks(told.messages));
  });

  test(`${name}: the figures are the same`, () => {
    const { metrics: m, latencies } = recordingOf(steps);
    const g = told.metrics;
    assert.deepEqual(
      [m.agentTurns, m.interrupted, m.tools, m.toolsFailed, m.errors],
      [g.agent_turns, g.interruptions, g.tool_calls, g.tool_failures, g.errors],
    );
    assert.equal(latencies.length, told.timings.length);
    near(m.firstAudio.reduce((a, b) => a + b, 0) / m.firstAudio.length, g.time_to_first_audio_ms!, "mean time to first audio");
    for (const [i, l] of latencies.entries()) {
      const g = told.timings[i]!;
      const what = `turn ${l.turn}, `;
      assert.equal(l.turn, g.turn);
      near(l.to! - l.from, g.total_ms!, what + "total");
      near(l.stages.endpoint ?? 0, g.endpoint_ms!, what + "endpoint");
      near(l.stages.transcript ?? 0, g.transcript_ms!, what + "transcript");
      // The server has no stage of its own for tools: they are part of the reply.
      near((l.stages.model ?? 0) + (l.stages.tools ?? 0), g.reply_ms!, what + "reply");
      near(l.stages.voice ?? 0, g.voice_ms!, what + "voice");
    }
  });
}

/** plain is what a person sees, with single spaces. */
function plain(s: Shown): unknown {
  const squeeze = (text: string) => text.replace(/\s+/g, " ").trim();
  return {
    ...s,
    lines: s.lines.map((l) => ({ ...l, at: 0, text: squeeze(l.text), heard: squeeze(l.heard), unheard: squeeze(l.unheard) })),
    notices: s.notices.map((n) => ({ level: n.level, code: n.code, message: n.message })),
  };
}
