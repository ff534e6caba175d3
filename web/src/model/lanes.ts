// The lanes of the timeline: who and what was at work when. Spans are made from
// the steps alone; what is still going on has no end.

import type { Task } from "./task.ts";
import type { Step } from "./wire.ts";

/** LaneName names the lanes, in the order in which they are drawn. */
export const laneNames = ["speech", "transcript", "model", "tools", "delegated", "sent", "heard"] as const;
export type LaneName = (typeof laneNames)[number];

/** Mark is an instant in a span: a partial transcript, a first word, progress. */
export interface Mark {
  at: number;
  kind: string;
}

/** Span is one stretch of work in a lane. */
export interface Span {
  key: string;
  lane: LaneName;
  start: number;
  /** Absent while it goes on. */
  end?: number;
  label: string;
  detail?: string;
  /** Of a tool's call, its arguments as JSON, without the values of secret slots. */
  arguments?: string;
  outcome?: "ok" | "failed" | "cut" | "late";
  turn?: number;
  marks: Mark[];
  /** The step that began it. */
  step: number;
}

/** Lanes follows the steps of one conversation. */
export class Lanes {
  readonly spans: Span[] = [];
  private open = new Map<string, Span>();
  private texts = new Map<number, string>();
  private agentTurn = 0;

  /** apply takes the next step, which has the given index. */
  apply(step: Step, index: number): void {
    if (step.late) return;
    if (step.restored) return this.restored(step, step.restored.tasks, index);
    for (const t of step.turns ?? []) {
      if (t.role === "agent" && t.type === "turn-started") this.agentTurn = t.turn;
    }
    this.speech(step, index);
    this.model(step, index);
    this.tools(step, index);
    this.audio(step, index);
    if (step.event === "session.ended") this.closeAll(step.at);
  }

  private begin(key: string, lane: LaneName, at: number, step: number, label: string, more: Partial<Span> = {}): Span {
    this.end(key, at);
    const span: Span = { key: `${key}@${step}`, lane, start: at, label, marks: [], step, ...more };
    this.open.set(key, span);
    this.spans.push(span);
    return span;
  }

  private end(key: string, at: number, change: Partial<Span> = {}): void {
    const span = this.open.get(key);
    if (!span) return;
    this.open.delete(key);
    Object.assign(span, change, { end: at });
  }

  private closeAll(at: number): void {
    for (const key of [...this.open.keys()]) this.end(key, at);
  }

  /** restored: another process goes on. The tasks that run there run on; all else ended with the one before. */
  private restored(step: Step, tasks: readonly Task[], index: number): void {
    const runs = new Set(tasks.map((t) => `tool ${t.id}`));
    for (const key of [...this.open.keys()]) if (!runs.has(key)) this.end(key, step.at, { outcome: "cut" });
    for (const t of tasks) {
      if (!this.open.has(`tool ${t.id}`)) this.begin(`tool ${t.id}`, "delegated", t.start, index, t.name, { turn: t.turn });
    }
  }

  private speech(step: Step, index: number): void {
    const ev = step.in;
    switch (step.event) {
      case "speech.started":
        if (!this.open.has("speech")) this.begin("speech", "speech", step.at, index, ev.source ?? "");
        break;
      case "speech.stopped":
        this.end("speech", step.at);
        break;
      case "stt.partial": {
        const span =
          this.open.get("transcript") ?? this.begin("transcript", "transcript", step.at, index, "");
        span.label = ev.text ?? span.label;
        span.marks.push({ at: step.at, kind: "partial" });
        break;
      }
      case "stt.final": {
        if (!this.open.has("transcript")) this.begin("transcript", "transcript", step.at, index, "");
        const text = ev.text ?? "";
        this.end("transcript", step.at, { label: text, detail: confidence(ev.confidence), outcome: "ok" });
        break;
      }
      case "user.text":
        this.begin("transcript", "transcript", step.at, index, ev.text ?? "", { detail: "typed" });
        this.end("transcript", step.at, { outcome: "ok" });
        break;
    }
  }

  private model(step: Step, index: number): void {
    const ev = step.in;
    for (const e of step.effects) {
      if (e.type === "request_reply") {
        this.begin("model", "model", step.at, index, String(e.why ?? ""), { turn: e.turn, detail: e.text });
      }
      if (e.type === "cancel_turn") this.end("model", step.at, { outcome: "cut" });
    }
    const span = this.open.get("model");
    switch (step.event) {
      case "reply.requested":
        span?.marks.push({ at: step.at, kind: "requested" });
        break;
      case "reply.delta":
        if (span && !span.marks.some((m) => m.kind === "first")) span.marks.push({ at: step.at, kind: "first" });
        break;
      case "reply.done":
      case "tool.called":
        this.end("model", step.at, { outcome: "ok" });
        break;
      case "reply.failed":
        this.end("model", step.at, { outcome: "failed", detail: ev.code });
        break;
    }
  }

  private tools(step: Step, index: number): void {
    const ev = step.in;
    for (const e of step.effects) {
      const more = { turn: e.turn, detail: e.arguments, arguments: e.arguments };
      if (e.type === "run_tool") this.begin(`tool ${e.id}`, "tools", step.at, index, e.name ?? "", more);
      if (e.type === "start_task") this.begin(`tool ${e.id}`, "delegated", step.at, index, e.name ?? "", more);
      if (e.type === "follow_task") this.begin(`tool ${e.id}`, "delegated", step.at, index, ev.name ?? "");
      if (e.type === "cancel_tool") this.end(`tool ${e.id}`, step.at, { outcome: step.event === "deadline" ? "failed" : "cut" });
    }
    const key = `tool ${ev.id}`;
    switch (step.event) {
      case "tool.done":
      case "task.done":
        this.end(key, step.at, { outcome: "ok" });
        break;
      case "tool.failed":
      case "task.failed":
        this.end(key, step.at, { outcome: "failed", detail: ev.message ?? ev.code });
        break;
      case "task.progress":
        this.open.get(key)?.marks.push({ at: step.at, kind: "progress" });
        break;
    }
  }

  private audio(step: Step, index: number): void {
    const ev = step.in;
    for (const e of step.effects) {
      if (e.type === "speak" && e.turn) {
        this.texts.set(e.turn, [this.texts.get(e.turn), e.text].filter(Boolean).join(" "));
        const span = this.open.get("sent");
        if (span?.turn === e.turn) span.label = this.texts.get(e.turn)!;
      }
    }
    // Without a number, an event means the turn that is open.
    const turn = ev.turn ?? this.agentTurn;
    switch (step.event) {
      case "playout.started":
        this.begin("sent", "sent", step.at, index, this.texts.get(turn) ?? "", { turn });
        this.begin("heard", "heard", step.at, index, "", { turn });
        break;
      case "playout.progress":
        this.heard(step, turn);
        break;
      case "playout.finished":
        this.heard(step, turn);
        this.end("sent", step.at, { outcome: "ok" });
        this.end("heard", step.at, { outcome: "ok" });
        break;
      case "playout.failed":
        this.end("sent", step.at, { outcome: "failed", detail: ev.code });
        this.end("heard", step.at, { outcome: "failed" });
        break;
      case "playout.flushed": {
        const span = this.spans.findLast((s) => s.lane === "heard" && s.turn === turn);
        if (span && ev.text !== undefined) span.label = ev.text;
        break;
      }
    }
    if (step.effects.some((e) => e.type === "flush_playout")) {
      this.end("sent", step.at, { outcome: "cut" });
      this.end("heard", step.at, { outcome: "cut" });
    }
  }

  private heard(step: Step, turn: number): void {
    const span = this.open.get("heard");
    if (span?.turn === turn && step.in.text) span.label = step.in.text;
  }
}

/** rowsOf places the spans of a lane in rows, so that what went on at the same time stands one below the other. */
export function rowsOf(spans: readonly Span[], end: number): { rows: number; row: Map<Span, number> } {
  const free: number[] = []; // when each row is free again
  const row = new Map<Span, number>();
  for (const s of spans) {
    let i = free.findIndex((at) => at <= s.start);
    if (i < 0) i = free.length;
    free[i] = s.end ?? Math.max(end, s.start + 1);
    row.set(s, i);
  }
  return { rows: Math.max(1, free.length), row };
}

function confidence(c: number | undefined): string | undefined {
  return c === undefined ? undefined : `${Math.round(c * 100)} %`;
}
