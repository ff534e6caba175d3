// The record of a conversation: its steps, and what is told from them for the
// debug view of seed 001 (section 7): transitions with durations, turns, lanes,
// latencies, metrics.

import { Lanes, type Span } from "./lanes.ts";
import { Latencies, type Latency } from "./latency.ts";
import type { Step } from "./wire.ts";

/** Change is one transition, with the time spent in the phase before it. */
export interface Change {
  at: number;
  from: string;
  to: string;
  cause: string;
  event: string;
  /** Milliseconds in the phase before. */
  spent: number;
  step: number;
}

/** Metrics are those of seed 001's debug view. */
export interface Metrics {
  turns: number;
  /** Those that have ended. */
  agentTurns: number;
  interrupted: number;
  tools: number;
  toolsFailed: number;
  errors: number;
  /** Milliseconds to first audio of each answer, in order. */
  firstAudio: number[];
  /** Notifications of level warning or error. */
  warnings: number;
}

/** ErrorEntry is a failure that the conversation met. */
export interface ErrorEntry {
  at: number;
  code: string;
  event: string;
  step: number;
}

const failures = new Set([
  "fault",
  "reply.failed",
  "playout.failed",
  "tool.failed",
  "task.failed",
  "reconnect.failed",
  "connection.lost",
  "session.expired",
]);

/**
 * Record follows one conversation. apply takes its steps in order; everything
 * else is read. It grows with the conversation and forgets nothing.
 */
export class Recording {
  readonly steps: Step[] = [];
  readonly changes: Change[] = [];
  readonly errors: ErrorEntry[] = [];
  readonly metrics: Metrics = {
    turns: 0,
    agentTurns: 0,
    interrupted: 0,
    tools: 0,
    toolsFailed: 0,
    errors: 0,
    firstAudio: [],
    warnings: 0,
  };
  phase = "idle";
  phaseSince = 0;
  private readonly lanes = new Lanes();
  private readonly latency = new Latencies();

  get spans(): readonly Span[] {
    return this.lanes.spans;
  }

  get latencies(): readonly Latency[] {
    return this.latency.turns;
  }

  /** end is the time of the last step. */
  get end(): number {
    return this.steps.at(-1)?.at ?? 0;
  }

  apply(step: Step): void {
    const index = this.steps.length;
    this.steps.push(step);
    if (step.restored) {
      this.phase = step.state;
      this.phaseSince = step.at;
    }
    for (const t of step.transitions) {
      this.changes.push({ at: step.at, ...t, event: step.event, spent: step.at - this.phaseSince, step: index });
      this.phase = t.to;
      this.phaseSince = step.at;
    }
    this.lanes.apply(step, index);
    this.latency.apply(step);
    this.count(step, index);
  }

  private count(step: Step, index: number): void {
    const m = this.metrics;
    for (const t of step.turns ?? []) {
      if (t.type === "turn-started") m.turns++;
      else if (t.role === "agent") m.agentTurns++;
      if (t.type === "turn-abandoned") m.turns--;
      if (t.type === "turn-interrupted" && t.role === "agent") m.interrupted++;
    }
    for (const e of step.effects) {
      if (e.type === "run_tool" || e.type === "start_task") m.tools++;
      if (e.type === "notify" && e.level !== "info") m.warnings++;
    }
    this.failed(step, index);
    m.firstAudio = this.latency.turns.map((l) => (l.to ?? l.from) - l.from);
  }

  /** failed counts the failures that a step met: what failed, and tools whose time was up. */
  private failed(step: Step, index: number): void {
    if (step.late) return;
    const note = (code: string) => {
      this.metrics.errors++;
      this.errors.push({ at: step.at, code, event: step.event, step: index });
    };
    if (failures.has(step.event)) {
      if (step.event === "tool.failed" || step.event === "task.failed") this.metrics.toolsFailed++;
      note(step.in.code ?? "");
    }
    if (step.event !== "deadline") return;
    for (const e of step.effects) {
      if (e.type !== "cancel_tool") continue;
      this.metrics.toolsFailed++;
      note(step.transitions.at(-1)?.cause ?? "");
    }
  }
}

/** recordingOf is the record of the given steps. */
export function recordingOf(steps: readonly Step[]): Recording {
  const r = new Recording();
  for (const s of steps) r.apply(s);
  return r;
}

/** median is the middle of the values; undefined of none. */
export function median(values: readonly number[]): number | undefined {
  return quantile(values, 0.5);
}

/** quantile is the value below which the share q of the values lies (nearest rank). */
export function quantile(values: readonly number[], q: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}
