// Calls of tools, made of the spans of the timeline. The transcript shows each as a card.

import type { Span } from "./lanes.ts";

/** ToolCall is a call of a tool and its current state. */
export interface ToolCall {
  key: string;
  name: string;
  /** The arguments by name; arguments that are not an object are one without a name. */
  arguments: readonly (readonly [name: string, value: string])[];
  state: "running" | "done" | "failed" | "cancelled";
  /** Why it failed, in words for people; empty if no reason is known. */
  problem: string;
  /** Milliseconds since the conversation's start; end is absent while it runs. */
  start: number;
  end?: number;
}

/** most is the length at which values are cut. */
const most = 120;

/** toolCalls returns the calls among spans, in their order. Delegated work has cards of its own. */
export function toolCalls(spans: readonly Span[]): ToolCall[] {
  return spans.filter((s) => s.lane === "tools").map((s) => ({
    key: s.key, name: s.label, arguments: argumentsOf(s.arguments ?? ""), state: stateOf(s),
    problem: s.outcome === "failed" && s.detail !== s.arguments ? (s.detail ?? "") : "",
    start: s.start, end: s.end,
  }));
}

function stateOf(s: Span): ToolCall["state"] {
  if (s.end === undefined) return "running";
  // A call without an outcome was running when the conversation ended.
  return s.outcome === "ok" ? "done" : s.outcome === "failed" ? "failed" : "cancelled";
}

function argumentsOf(json: string): ToolCall["arguments"] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return json.trim() === "" ? [] : [["", short(json.trim())]];
  }
  if (value === null) return [];
  if (typeof value !== "object" || Array.isArray(value)) return [["", word(value)]];
  return Object.entries(value).map(([name, v]) => [name, word(v)]);
}

const word = (v: unknown) => short(typeof v === "string" ? v : JSON.stringify(v));

const short = (text: string) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** Placed is a line of the transcript, or a call between two lines. */
export type Placed<L> = { line: L } | { call: ToolCall };

/** place puts each call before the first line that begins after it. */
export function place<L extends { at: number }>(lines: readonly L[], calls: readonly ToolCall[]): Placed<L>[] {
  const out: Placed<L>[] = [];
  let next = 0;
  for (const line of lines) {
    while (next < calls.length && calls[next]!.start < line.at) out.push({ call: calls[next++]! });
    out.push({ line });
  }
  return [...out, ...calls.slice(next).map((call) => ({ call }))];
}
