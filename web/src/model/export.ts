// A transcript as it is given to others: as text, and as JSON.

import type { Line } from "./talk.ts";

/** Said is what a transcript is of. */
export interface Said {
  /** The conversation's id; empty where it has none, as in a trace from disk. */
  id: string;
  /** The agent's name for people. */
  agent: string;
  /** When it began, as an ISO 8601 time, where that is known. */
  started?: string;
  lines: readonly Line[];
}

/** Names are the words of a transcript's text that nobody has said. */
export interface Names {
  you: string;
  notHeard: string;
}

/** heardOf is what was heard of a line. */
const heardOf = (l: Line) => (l.unheard === "" ? l.text : l.heard || l.text.slice(0, Math.max(0, l.text.length - l.unheard.length)).trim());

/** textOf is a line each for who said what; of what was cut off, the rest follows in brackets. */
export function textOf(s: Said, names: Names): string {
  const lines = s.lines.map((l) => {
    const rest = l.unheard === "" ? "" : ` [${names.notHeard} ${l.unheard}]`;
    return `${l.role === "user" ? names.you : s.agent}: ${heardOf(l)}${rest}`.replace(/\s+/g, " ");
  });
  return lines.join("\n") + "\n";
}

/** jsonOf is the transcript as one JSON document. Times are in milliseconds since the start. */
export function jsonOf(s: Said): string {
  const lines = s.lines.map((l) => ({
    turn: l.turn,
    role: l.role,
    ...(Number.isFinite(l.at) && { at_ms: Math.round(l.at) }),
    text: l.text,
    ...(l.unheard !== "" && { heard: heardOf(l) }),
    outcome: l.outcome,
  }));
  return JSON.stringify({ ...(s.id !== "" && { conversation: s.id }), agent: s.agent, ...(s.started && { started: s.started }), lines }, null, 2) + "\n";
}
