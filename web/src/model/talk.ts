// Folds the messages of a conversation into what a person is shown: the state,
// the lines of the transcript, the notices.

import { tail } from "./text.ts";
import type { Task, TaskState } from "./task.ts";
import { ended } from "./tasks.ts";
import type { Message } from "./wire.ts";

/** Line is one turn in the transcript. Lines are replaced, never changed. */
export interface Line {
  key: string;
  role: "user" | "agent";
  turn: number;
  at: number;
  /** All words: the user's, or what the agent has to say so far. */
  text: string;
  /** Of the agent's words, the part that was heard. */
  heard: string;
  /** Of the agent's words, the tail that was cut off and never heard. */
  unheard: string;
  final: boolean;
  outcome: "open" | "completed" | "interrupted" | "failed";
}

/** Notice is a message to the person that is not part of the conversation. */
export interface Notice {
  key: number;
  at: number;
  level: "info" | "warning" | "error";
  code: string;
  message: string;
}

/** Shown is what a person is shown of a conversation. */
export interface Shown {
  state: string;
  label: string;
  /** Milliseconds since the start at which the state was entered. */
  since: number;
  /** The line to the client is lost: the conversation waits for it. */
  lost: boolean;
  lines: readonly Line[];
  notices: readonly Notice[];
  /** Delegated work, the oldest first: all that runs, and the last that has ended. */
  tasks: readonly Task[];
  /** The server cannot write to its store; what happens meanwhile is kept later. */
  behind: boolean;
  /** The server is too slow for sound. */
  late: boolean;
  /** How often the agent was interrupted. */
  interruptions: number;
  ended: boolean;
}

/** nothing is shown before the first message. */
export const nothing: Shown = {
  state: "",
  label: "",
  since: 0,
  lost: false,
  lines: [],
  notices: [],
  tasks: [],
  behind: false,
  late: false,
  interruptions: 0,
  ended: false,
};

/** The transcript and the notices keep so many entries; the oldest go first. */
export const maxLines = 500;
const maxNotices = 20;
const maxTasks = 20;

const str = (v: unknown): string => (typeof v === "string" ? v : "");
const num = (v: unknown): number => (typeof v === "number" ? v : 0);
const record = (v: unknown): Record<string, unknown> => (typeof v === "object" && v !== null ? (v as Record<string, unknown>) : {});

/** show is what is shown after one more message. */
export function show(s: Shown, m: Message): Shown {
  const p = m.payload ?? {};
  switch (m.type) {
    case "agentvoice.state": {
      const state = str(p.state);
      return {
        ...s,
        state,
        label: str(p.localizedLabel),
        since: m.at,
        lost: state === "suspended" && (s.lost || record(p.metadata).reason === "connection.lost"),
        ended: state === "terminating" || (s.ended && state === "idle"),
      };
    }
    case "transition":
      // A pause and a lost line are one state of seed 000, and two phases.
      return { ...s, lost: (str(record(p.phase).to) || p.to) === "reconnecting" };
    case "agentvoice.turn":
      return turn(s, p);
    case "agentvoice.notification":
      return notice(s, m);
    case "transcript":
      return transcript(s, m);
    case "caption":
      return caption(s, m);
    case "task":
      return task(s, m);
    case "restored":
      return restored(s);
    default:
      return s;
  }
}

function transcript(s: Shown, m: Message): Shown {
  const p = m.payload;
  const role = p.role === "user" ? "user" : "agent";
  const text = str(p.text);
  // The agent's words come as captions, with what was heard of them; a
  // transcript of them is needed only where there are none.
  const known = s.lines.find((l) => l.role === role && l.turn === num(p.turn));
  if (role === "agent" && known && known.text !== "") return s;
  if (text === "") return p.final === true ? drop(s, role, num(p.turn)) : s;
  return put(s, m.at, role, num(p.turn), {
    text,
    heard: text,
    final: p.final === true,
    outcome: p.final === true ? "completed" : "open",
  });
}

function caption(s: Shown, m: Message): Shown {
  const p = m.payload;
  const unheard = str(p.unheard);
  const final = p.final === true;
  return put(s, m.at, "agent", num(p.turn), {
    text: str(p.text),
    heard: str(p.heard),
    unheard,
    final,
    outcome: !final ? "open" : unheard !== "" ? "interrupted" : "completed",
  });
}

/** turn notes how a turn ended; a turn in which nothing was said leaves no line. */
function turn(s: Shown, p: Record<string, unknown>): Shown {
  const role = p.role === "user" ? "user" : "agent";
  const event = str(p.event);
  if (event === "turn-started") return s;
  // Elsewhere than in a trace the id may be a hash, which says nothing of the number.
  const number = Number(/^turn-(\d+)$/.exec(str(p.turnId))?.[1] ?? 0);
  const line =
    s.lines.find((l) => l.role === role && l.turn === number) ??
    s.lines.findLast((l) => l.role === role && l.outcome === "open");
  if (event === "turn-interrupted" && role === "agent") s = { ...s, interruptions: s.interruptions + 1 };
  if (!line) return s;
  if (event === "turn-abandoned") return drop(s, role, line.turn);
  const outcome = event === "turn-failed" ? "failed" : event === "turn-interrupted" ? "interrupted" : "completed";
  return put(s, line.at, role, line.turn, { outcome, final: true });
}

function notice(s: Shown, m: Message): Shown {
  const p = m.payload;
  const level = p.level === "error" || p.level === "warning" ? p.level : "info";
  if (p.code === "store.behind" || p.code === "store.caught_up") return { ...s, behind: p.code === "store.behind" };
  if (p.code === "sound.late" || p.code === "sound.steady") return { ...s, late: p.code === "sound.late" };
  const message = str(p.message) || str(p.localizedMessage) || str(p.text) || str(p.code);
  if (message === "") return s;
  const key = (s.notices.at(-1)?.key ?? 0) + 1;
  const notices = [...s.notices, { key, at: m.at, level, code: str(p.code), message } as Notice];
  return { ...s, notices: notices.slice(-maxNotices) };
}

/** restored: another process has taken the conversation up. What the one before had begun to say or to hear is cut off. */
function restored(s: Shown): Shown {
  const lines = s.lines
    .filter((l) => l.role === "agent" || l.final)
    .map((l) => (l.outcome === "open" && !l.final ? { ...l, final: true, outcome: "interrupted" as const, unheard: tail(l.text, l.heard) } : l));
  return { ...s, lines, behind: false, late: false };
}

const states: readonly string[] = ["running", "done", "failed", "cancelled", "left"] satisfies TaskState[];

function task(s: Shown, m: Message): Shown {
  const p = m.payload;
  const id = str(p.id);
  if (id === "" || !states.includes(str(p.state))) return s;
  // An answer's duration counts from its own time, on the conversation's clock.
  const before = s.tasks.find((t) => t.id === id);
  const start = before?.start ?? Math.max(0, m.at - num(p.durationMs));
  const t: Task = {
    id, name: str(p.name), state: str(p.state) as TaskState, text: str(p.text), code: str(p.code), start,
    turn: num(p.turn), background: p.background === true, told: num(p.told), adopted: p.adopted === true,
  };
  if (ended(t)) t.end = start + num(p.durationMs);
  const tasks = before ? s.tasks.map((k) => (k === before ? t : k)) : [...s.tasks, t];
  const over = tasks.length > maxTasks ? tasks.find(ended) : undefined;
  return { ...s, tasks: over ? tasks.filter((k) => k !== over) : tasks };
}

function put(s: Shown, at: number, role: Line["role"], turn: number, change: Partial<Line>): Shown {
  const i = s.lines.findIndex((l) => l.role === role && l.turn === turn);
  if (i >= 0) {
    const lines = s.lines.slice();
    lines[i] = { ...lines[i]!, ...change };
    return { ...s, lines };
  }
  const line: Line = {
    key: `${role}-${turn}`,
    role,
    turn,
    at,
    text: "",
    heard: "",
    unheard: "",
    final: false,
    outcome: "open",
    ...change,
  };
  // A conversation that goes on in another process begins with the agent's last words,
  // before what was said earlier is read back.
  const later = turn > 0 ? s.lines.findIndex((l) => l.turn > turn) : -1;
  const lines = later < 0 ? [...s.lines, line] : s.lines.toSpliced(later, 0, line);
  return { ...s, lines: lines.slice(-maxLines) };
}

function drop(s: Shown, role: Line["role"], turn: number): Shown {
  const lines = s.lines.filter((l) => l.role !== role || l.turn !== turn);
  return lines.length === s.lines.length ? s : { ...s, lines };
}
