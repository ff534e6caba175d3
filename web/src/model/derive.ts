// Turns the steps of a trace into the messages that the server would have sent
// for them, so that a trace and a live conversation are shown by the same code.

import { agentVoice } from "./phases.ts";
import { restoredEvent } from "./restored.ts";
import type { Restored } from "./task.ts";
import { tail } from "./text.ts";
import { Tasks } from "./tasks.ts";
import type { Effect, Message, Step, Turn } from "./wire.ts";

/** Words looks up words for people by code. */
export type Words = (code: string) => string;

interface Caption {
  text: string;
  heard: string;
}

/**
 * Deriver follows the steps of one conversation. It keeps what the messages
 * need from earlier steps: the words of the open turns, and which turn is whose.
 */
export class Deriver {
  private readonly words: Words;
  private state = "idle";
  private userTurn = 0;
  private agentTurn = 0;
  private finals: string[] = [];
  private partial = "";
  private captions = new Map<number, Caption>();
  private interruptions = 0;
  /** A turn that was cut off: what was heard of it is told with the next step. */
  private cut = 0;
  private tasks = new Tasks();

  constructor(words: Words) {
    this.words = words;
  }

  /** copy is a deriver at the same place, which goes on by itself. */
  copy(): Deriver {
    const d = new Deriver(this.words);
    d.state = this.state;
    d.userTurn = this.userTurn;
    d.agentTurn = this.agentTurn;
    d.finals = [...this.finals];
    d.partial = this.partial;
    d.interruptions = this.interruptions;
    d.cut = this.cut;
    d.tasks = this.tasks.copy();
    for (const [turn, c] of this.captions) d.captions.set(turn, { ...c });
    return d;
  }

  /** messages are those of one step, in their order. */
  messages(step: Step): Message[] {
    const out: Message[] = [];
    const put: Put = (type, payload, at = step.at) => out.push({ type, at, payload });
    if (step.restored) {
      this.restore(step, step.restored, put);
      return out;
    }
    if (this.cut !== 0 && !step.late) {
      this.caption(put, this.cut, true);
      this.cut = 0;
    }
    const ended: Turn[] = [];
    for (const t of step.turns ?? []) {
      if (t.type === "turn-started") {
        if (t.role === "user") this.userTurn = t.turn;
        else this.agentTurn = t.turn;
      }
      if (t.type !== "turn-started") ended.push(t);
    }
    if (!step.late) this.heardWords(step, put);
    for (const t of step.transitions) {
      put("transition", { from: t.from, to: t.to, cause: t.cause, event: step.event });
      this.enter(agentVoice(t.to), t.cause, put);
    }
    this.spoken(step, put);
    for (const t of step.turns ?? []) {
      if (t.type === "turn-interrupted" && t.role === "agent") this.interruptions++;
      put("agentvoice.turn", {
        event: t.type,
        turnId: `turn-${t.turn}`,
        role: t.role === "agent" ? "assistant" : t.role,
        kind: t.kind,
        durationMs: t.duration_ms,
        confidence: t.confidence,
      });
    }
    for (const t of ended) this.endTurn(t, put);
    for (const t of this.tasks.step(step)) {
      put("task", { ...t, durationMs: (t.end ?? step.at) - t.start });
    }
    this.tell(step, put);
    return out;
  }

  /** restore tells what was said before, and what runs; what the process before had begun is lost with it. */
  private restore(step: Step, r: Restored, put: Put): void {
    put("restored", {});
    for (const { role, turn, at, text, heard } of r.lines) {
      if (role === "user") put("transcript", { role, turn, text, final: true }, at);
      else put("caption", { turn, text, heard, unheard: tail(text, heard), final: true }, at);
    }
    this.userTurn = this.agentTurn = this.cut = 0;
    this.finals = [];
    this.partial = "";
    for (const t of this.tasks.resume(r.tasks)) put("task", { ...t, durationMs: step.at - t.start });
    this.enter(agentVoice(step.state), restoredEvent, put);
  }

  /** enter tells a change of state as seed 000 has it. */
  private enter(state: string, reason: string, put: Put): void {
    if (state === this.state) return;
    this.state = state;
    put("agentvoice.state", {
      state,
      localizedLabel: this.words(`state.${state}`),
      metadata: { reason, interruptionCount: this.interruptions },
    });
  }

  /** heardWords are the user's, and what of the agent's was heard. */
  private heardWords(step: Step, put: Put): void {
    const ev = step.in;
    switch (step.event) {
      case "stt.partial":
        this.partial = ev.text ?? "";
        this.transcript(put, false);
        break;
      case "stt.final":
        if (ev.text) this.finals.push(ev.text);
        this.partial = "";
        this.transcript(put, false);
        break;
      case "user.text": {
        const turn = step.turns?.find((t) => t.role === "user")?.turn;
        put("transcript", { role: "user", turn: turn ?? this.userTurn, text: ev.text ?? "", final: true });
        break;
      }
      case "playout.progress":
      case "playout.finished":
      case "playout.flushed": {
        // Without a number, an event means the turn that is open.
        const turn = ev.turn ?? this.agentTurn;
        const c = this.captions.get(turn);
        if (!c) break;
        if (ev.text !== undefined) c.heard = ev.text;
        this.caption(put, turn, step.event === "playout.flushed");
        break;
      }
    }
  }

  /** transcript tells the user's words so far, once it is known whose turn they are. */
  private transcript(put: Put, final: boolean): void {
    const text = [...this.finals, this.partial].filter((s) => s !== "").join(" ");
    if (this.userTurn === 0 || text === "") return;
    put("transcript", { role: "user", turn: this.userTurn, text, final });
  }

  /** spoken are the agent's words that went to the voice. */
  private spoken(step: Step, put: Put): void {
    const turns = new Set<number>();
    for (const e of step.effects) {
      if (e.type !== "speak" || !e.turn) continue;
      const c = this.captions.get(e.turn) ?? { text: "", heard: "" };
      c.text = join(c.text, e.text ?? "");
      this.captions.set(e.turn, c);
      // What was heard of a turn may be told after its end, but not long after.
      if (this.captions.size > 8) this.captions.delete(this.captions.keys().next().value!);
      turns.add(e.turn);
    }
    for (const turn of turns) this.caption(put, turn, false);
  }

  private caption(put: Put, turn: number, final: boolean): void {
    const c = this.captions.get(turn);
    if (!c) return;
    put("caption", { turn, text: c.text, heard: c.heard, unheard: final ? tail(c.text, c.heard) : "", final });
  }

  private endTurn(t: Turn, put: Put): void {
    if (t.role === "user") {
      this.transcript(put, true);
      this.userTurn = 0;
      this.finals = [];
      this.partial = "";
      return;
    }
    const c = this.captions.get(t.turn);
    if (!c) return;
    if (t.type !== "turn-completed") {
      this.cut = t.turn;
      return;
    }
    c.heard = c.text;
    this.caption(put, t.turn, true);
  }

  /** tell are the notifications of a step. */
  private tell(step: Step, put: Put): void {
    for (const e of step.effects) {
      if (e.type === "notify" || e.type === "reject") {
        put("agentvoice.notification", { level: level(e), code: e.code, message: this.words(e.code ?? "") });
      }
      if (e.type === "cue") put("agentvoice.notification", { level: "info", code: e.code, message: e.text });
    }
  }
}

type Put = (type: string, payload: Record<string, unknown>, at?: number) => void;

function level(e: Effect): string {
  return e.level ?? "warning";
}

function join(a: string, b: string): string {
  if (a === "" || b === "" || /\s$/.test(a) || /^\s/.test(b)) return a + b;
  return `${a} ${b}`;
}
