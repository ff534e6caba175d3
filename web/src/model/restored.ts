// What a conversation was when another process took it up: the snapshot in the header
// of its trace, as far as it is shown. It goes through the folds as a step of its own.

import type { RestoredLine, Task } from "./task.ts";
import type { Step } from "./wire.ts";

/** The type of the step that stands for it. */
export const restoredEvent = "restored";

type Fields = Record<string, unknown>;

const fields = (v: unknown): Fields => (typeof v === "object" && v !== null ? (v as Fields) : {});
const list = (v: unknown): Fields[] => (Array.isArray(v) ? v.map(fields) : []);
const text = (v: unknown) => (typeof v === "string" ? v : "");
const count = (v: unknown) => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const join = (a: string, b: string) => [a, b].filter((s) => s !== "").join(" ");

/** began is the earliest time that a snapshot knows, in milliseconds of the wall clock. */
export function began(snapshot: unknown): number | undefined {
  const state = fields(fields(snapshot).state);
  const known = [fields(state.session).started, list(state.history)[0]?.at].map((v) => Date.parse(text(v)));
  const first = Math.min(...known.filter((ms) => Number.isFinite(ms) && ms > 0));
  return Number.isFinite(first) ? first : undefined;
}

/** restoredStep is the step for a snapshot (conv.Snapshot) that was taken up at a time; base is the wall clock at 0. */
export function restoredStep(snapshot: unknown, at: number, base: number): Step {
  const state = fields(fields(snapshot).state);
  const time = (v: unknown) => {
    const ms = Date.parse(text(v)) - base;
    return Number.isFinite(ms) ? Math.min(Math.max(0, ms), at) : at;
  };
  // Of what was being said, the history has all, and the playout what was heard.
  const playout = fields(state.playout);
  const sounds = (it: Fields) => playout.playing === true && it.role === "agent" && it.turn === playout.turn && it.part === playout.part;
  const lines = new Map<string, RestoredLine>();
  for (const it of list(state.history)) {
    const role = it.role === "user" ? "user" : it.role === "agent" ? "agent" : undefined;
    if (!role) continue;
    const key = `${role}-${count(it.turn)}`;
    const l = lines.get(key) ?? { role, turn: count(it.turn), at: time(it.at), text: "", heard: "" };
    l.text = join(l.text, text(it.full) || text(it.text));
    l.heard = join(l.heard, text(sounds(it) ? playout.text : it.text));
    lines.set(key, l);
  }
  const tasks = list(state.calls)
    .filter((c) => c.long === true && c.state === "running" && text(c.id) !== "")
    .map<Task>((c) => ({
      id: text(c.id), name: text(c.name), state: "running", text: "", code: "", start: time(c.started), turn: count(c.turn),
      background: c.background === true, told: 0, adopted: c.adopted === true,
    }));
  return {
    at, event: restoredEvent, in: { type: restoredEvent }, state: text(state.phase) || "reconnecting", transitions: [], effects: [],
    restored: { lines: [...lines.values()], tasks },
  };
}
