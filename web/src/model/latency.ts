// Splits the time between the end of the user's turn and the agent's first sound
// by what it was spent on. All times are the machine's own, from the steps.

import type { Step } from "./wire.ts";

/** Stage names the parts of an answer's latency, in their order. */
export const stages = ["endpoint", "transcript", "model", "tools", "voice", "network"] as const;
export type Stage = (typeof stages)[number];

/** Latency is that of one turn of the agent's which answers the user. */
export interface Latency {
  turn: number;
  /**
   * When the user had stopped: the end of the last word, else the last frame of speech, else the
   * report of its end; or the typed line.
   */
  from: number;
  /** When the agent began to sound; absent as long as it has not. */
  to?: number;
  /** Milliseconds by stage. A stage that cannot be told from the steps is absent. */
  stages: Partial<Record<Stage, number>>;
  typed: boolean;
}

interface Open {
  turn: number;
  stopped: number;
  ended: number;
  asked: number;
  spoken?: number;
  tools: number;
  typed: boolean;
}

/** Latencies follows the steps of one conversation. */
export class Latencies {
  readonly turns: Latency[] = [];
  private stopped?: number;
  private worded = false; // stopped is the end of a word
  private speaking = false;
  private ended?: number;
  private open?: Open;
  private running = new Map<string, number>();

  apply(step: Step): void {
    if (step.late) return;
    if (step.restored) this.open = undefined; // who answers now has another clock
    const at = step.at;
    switch (step.event) {
      case "speech.started":
        this.speaking = true;
        this.worded = false;
        this.stopped = undefined;
        this.ended = undefined;
        break;
      case "speech.stopped":
        this.speaking = false;
        if (!this.worded) this.stopped = at - (step.in.lag_ms ?? 0);
        break;
      case "stt.final":
        if (!step.in.text || !step.in.lag_ms) break;
        this.worded = true;
        this.stopped = at - step.in.lag_ms;
        break;
      case "turn.ended":
        this.ended = at;
        break;
    }
    this.turnsOf(step);
    this.toolsOf(step);
    const o = this.open;
    if (!o) return;
    if (o.spoken === undefined && step.effects.some((e) => e.type === "speak" && e.turn === o.turn)) o.spoken = at;
    if (step.event === "playout.started" && (step.in.turn ?? o.turn) === o.turn) this.close(o, at);
  }

  private turnsOf(step: Step): void {
    for (const t of step.turns ?? []) {
      if (t.role === "agent" && t.type === "turn-started" && t.kind === "answer") {
        const typed = step.event === "user.text";
        // Words over which the turn was decided while the voice still sounds
        // (a limit, a button) have no silence before them.
        const stopped = typed || this.speaking ? step.at : (this.stopped ?? this.ended ?? step.at);
        const ended = Math.max(stopped, typed ? step.at : (this.ended ?? step.at));
        this.open = { turn: t.turn, stopped, ended, asked: step.at, tools: 0, typed };
      } else if (t.type !== "turn-started" && t.turn === this.open?.turn) {
        this.open = undefined;
      }
    }
  }

  private toolsOf(step: Step): void {
    for (const e of step.effects) {
      if ((e.type === "run_tool" || e.type === "start_task") && e.id) this.running.set(e.id, step.at);
    }
    const id = step.in.id;
    if (!id || !/^(tool|task)\.(done|failed)$/.test(step.event)) return;
    const since = this.running.get(id);
    this.running.delete(id);
    const o = this.open;
    if (since !== undefined && o && o.spoken === undefined) o.tools += step.at - Math.max(since, o.asked);
  }

  private close(o: Open, at: number): void {
    this.open = undefined;
    const spoken = o.spoken ?? at;
    const l: Latency = { turn: o.turn, from: o.stopped, to: at, stages: {}, typed: o.typed };
    if (!o.typed) {
      l.stages.endpoint = o.ended - o.stopped;
      l.stages.transcript = Math.max(0, o.asked - o.ended);
    }
    l.stages.model = Math.max(0, spoken - o.asked - o.tools);
    if (o.tools > 0) l.stages.tools = o.tools;
    l.stages.voice = at - spoken;
    this.turns.push(l);
  }
}
