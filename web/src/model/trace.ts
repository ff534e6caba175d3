// Reads a trace: JSON lines, the first of which is the header. All input is checked here, so
// that other code can rely on the types.

import { began, restoredStep } from "./restored.ts";
import type { Effect, EventFields, Header, Step, Transition, Turn } from "./wire.ts";

/** Trace is a parsed trace. */
export interface Trace {
  header: Header;
  steps: Step[];
  /** When each process began to run the conversation, in milliseconds since its start. The first is 0, or later if the trace lacks the beginning. */
  legs: number[];
  /** The last line is incomplete, as after a crash. */
  cutOff: boolean;
}

/** TraceError says what is wrong with a trace, and in which line. */
export class TraceError extends Error {
  readonly line: number;
  readonly code: "empty" | "header" | "version" | "json" | "step";
  constructor(line: number, code: TraceError["code"], message: string) {
    super(message);
    this.line = line;
    this.code = code;
  }
}

/** The schema of traces that this reader knows (journal.Version). */
export const traceVersion = 2;

type Fields = Record<string, unknown>;

function isFields(v: unknown): v is Fields {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** parseTrace reads a whole trace. It throws a TraceError. */
export function parseTrace(text: string): Trace {
  const lines = text.split("\n");
  let header: Header | undefined;
  const steps: Step[] = [];
  const legs: number[] = [];
  let base = NaN; // wall clock at 0
  let cutOff = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!.trim();
    if (line === "") continue;
    const number = i + 1;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Only the last line may be incomplete: it has no newline.
      if (header && i === lines.length - 1) {
        cutOff = true;
        break;
      }
      throw new TraceError(number, "json", "not JSON");
    }
    // Another header: from here on, another process runs the conversation.
    if (!header || (isFields(value) && value.format === "hocket trace")) {
      const next = parseHeader(value, number);
      const snapshot = (value as Fields).restored;
      const started = Date.parse(next.started);
      if (!header) {
        base = (snapshot === undefined ? undefined : began(snapshot)) ?? started;
        if (base < started) next.started = new Date(base).toISOString();
      }
      header ??= next;
      const leg = Math.max(steps.at(-1)?.at ?? 0, Number.isFinite(started - base) ? started - base : 0);
      legs.push(leg);
      if (snapshot !== undefined) steps.push(restoredStep(snapshot, leg, base));
      continue;
    }
    // The features of a frame (--trace-features) are not a step.
    if (isFields(value) && "timestamp_ms" in value) continue;
    const step = parseStep(value);
    if (!step) throw new TraceError(number, "step", "no step: expected at, event, in, state, transitions and effects");
    step.at += legs.at(-1)!;
    const last = steps[steps.length - 1];
    if (last && step.at < last.at) throw new TraceError(number, "step", `time goes back from ${last.at} to ${step.at}`);
    steps.push(step);
  }
  if (!header) throw new TraceError(1, "empty", "the trace is empty");
  return { header, steps, legs, cutOff };
}

function parseHeader(value: unknown, line: number): Header {
  if (!isFields(value) || value.format !== "hocket trace") {
    throw new TraceError(line, "header", "the first line is no header of a trace");
  }
  if (value.version !== traceVersion) {
    throw new TraceError(line, "version", `version ${String(value.version)}, expected ${traceVersion}`);
  }
  const options = isFields(value.options) ? value.options : {};
  return {
    format: "hocket trace",
    version: traceVersion,
    started: typeof value.started === "string" ? value.started : "",
    language: typeof options.language === "string" ? options.language : "en",
  };
}

/** parseStep checks one line of a trace. It returns undefined if the line is not a step. */
export function parseStep(value: unknown): Step | undefined {
  if (!isFields(value)) return undefined;
  const { at, event, state } = value;
  if (typeof at !== "number" || !Number.isFinite(at) || at < 0) return undefined;
  if (typeof event !== "string" || typeof state !== "string") return undefined;
  const input = isFields(value.in) ? value.in : { type: event };
  const transitions = list(value.transitions).filter(
    (t) => typeof t.from === "string" && typeof t.to === "string" && typeof t.cause === "string",
  );
  const effects = list(value.effects).filter((e) => typeof e.type === "string");
  const turns = list(value.turns).filter((t) => typeof t.type === "string" && typeof t.turn === "number");
  return {
    at,
    event,
    in: input as unknown as EventFields,
    state,
    transitions: transitions as unknown as Transition[],
    effects: effects as unknown as Effect[],
    turns: turns as unknown as Turn[],
    late: value.late === true,
    deferred: value.deferred === true,
  };
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
