// What the list of events shows of a step, and how it is filtered.

import type { Step } from "./wire.ts";

/** The kinds by which events are filtered. */
export const kinds = ["speech", "reply", "tools", "playout", "progress", "session", "deadline"] as const;
export type Kind = (typeof kinds)[number];

/** kindOf is the kind of an event, by its type. */
export function kindOf(event: string): Kind {
  if (event === "deadline") return "deadline";
  if (event === "playout.progress" || event === "stt.partial") return "progress";
  if (/^(speech|stt|turn)\.|^user\.(text|interrupt)$/.test(event)) return "speech";
  if (event.startsWith("reply.")) return "reply";
  if (/^(tool|task)\.|^user\.cancel$/.test(event)) return "tools";
  if (event.startsWith("playout.")) return "playout";
  return "session";
}

/** gist is what an event says, in one line. */
export function gist(step: Step): string {
  const ev = step.in;
  const parts = [
    ev.text && `“${ev.text}”`,
    ev.name,
    ev.arguments,
    ev.output,
    ev.code,
    ev.message,
    ev.cause,
    ev.reason,
    ev.source,
    ev.heard_ms !== undefined && `${Math.round(ev.heard_ms)} ms`,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Row is an event in the list, with its place in the recording. */
export interface Row {
  index: number;
  step: Step;
}

/** filtered are the steps of the given kinds that contain the words, in order. */
export function filtered(steps: readonly Step[], shown: ReadonlySet<Kind>, words: string): Row[] {
  const needle = words.trim().toLowerCase();
  const rows: Row[] = [];
  for (const [index, step] of steps.entries()) {
    if (!shown.has(kindOf(step.event))) continue;
    if (needle !== "" && !haystack(step).includes(needle)) continue;
    rows.push({ index, step });
  }
  return rows;
}

function haystack(step: Step): string {
  const effects = step.effects.map((e) => `${e.type} ${e.text ?? ""} ${e.name ?? ""} ${e.code ?? ""}`).join(" ");
  return `${step.event} ${step.state} ${gist(step)} ${effects}`.toLowerCase();
}
