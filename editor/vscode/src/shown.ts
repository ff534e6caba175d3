// What the editor shows of a conversation: a fold of the engine's messages, which
// decides nothing. Without an editor, so that it can be tested.

import type { Message } from "./protocol.ts";

/** Shown is what the status bar, the context keys and the notifications show. */
export interface Shown {
  state: string;
  label: string;
  /** Of the page with the microphone. */
  muted: boolean;
}

export const nothing: Shown = { state: "idle", label: "", muted: false };

/** show returns what is shown after a message. */
export function show(s: Shown, m: Message): Shown {
  switch (m.type) {
    case "agentvoice.state":
      return { ...s, state: text(m.payload.state), label: text(m.payload.localizedLabel) };
    case "microphone":
      return { ...s, muted: m.payload.open !== true };
    default:
      return s;
  }
}

const text = (v: unknown) => (typeof v === "string" ? v : "");

/** The icon of each state. Other states have that of idle. */
const icons: Record<string, string> = {
  preparing: "loading~spin", listening: "mic", processing: "loading~spin", waitingForCopilot: "loading~spin",
  speaking: "unmute", interrupted: "debug-pause", suspended: "debug-pause", faulted: "error", terminating: "loading~spin",
};

/** statusText is the text of the status bar. */
export function statusText(s: Shown, active: boolean, idle: string): string {
  if (!active) return `$(mic) ${idle}`;
  const icon = s.muted && s.state === "listening" ? "mute" : (icons[s.state] ?? "mic");
  // The label begins with a dot or dots, which the icon stands for.
  return `$(${icon}) ${s.label.replace(/^[●⋯○■◌…\s]+/u, "")}`;
}

/** Announcer lets each notification through once, whatever streams it came by. */
export class Announcer {
  private conversation = "";
  private last = 0;

  /** fresh reports whether a message was not announced before. */
  fresh(conversation: string, seq: number): boolean {
    if (conversation !== this.conversation) [this.conversation, this.last] = [conversation, 0];
    if (seq <= this.last) return false;
    this.last = seq;
    return true;
  }
}

/** Spoken follows the answer to one typed line, for a chat: what is new of it, and its end. */
export class Spoken {
  private readonly said = new Map<number, string>();
  private worked = false;
  /** The turn of the typed line; undefined: it has not been read yet. */
  private line: number | undefined;
  private readonly after: number;

  /** after is the number of the last message before the line was sent. */
  constructor(after: number) {
    this.after = after;
  }

  /** take returns the new words of a message, and whether the answer is complete. */
  take(m: Message): { words: string; done: boolean } {
    if (m.seq <= this.after) return { words: "", done: false };
    // Before it there may be a greeting.
    if (m.type === "transcript" && m.payload.final === true) this.line ??= Number(m.payload.turn);
    if (this.line === undefined) return { words: "", done: m.type === "agentvoice.state" && ended(m) };
    if (m.type === "caption") {
      const turn = Number(m.payload.turn);
      if (turn <= this.line) return { words: "", done: false };
      const before = this.said.get(turn) ?? "";
      const now = text(m.payload.text);
      this.said.set(turn, now);
      return { words: now.startsWith(before) ? now.slice(before.length) : "", done: false };
    }
    // Why there is no answer, where there is none.
    if (m.type === "agentvoice.notification" && m.payload.level !== "info") return { words: `\n\n${text(m.payload.message)}\n\n`, done: false };
    if (m.type === "agentvoice.state") {
      const state = text(m.payload.state);
      const working = state === "processing" || state === "waitingForCopilot" || state === "speaking";
      if (working) this.worked = true;
      return { words: "", done: ended(m) || (this.worked && state === "listening") };
    }
    return { words: "", done: false };
  }
}

/** ended reports whether a state is one in which no answer comes. */
const ended = (m: Message) => ["idle", "faulted", "terminating"].includes(text(m.payload.state));
