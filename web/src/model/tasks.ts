// Delegated work (seed 001, WAITING_AMPLIFIER), followed through the steps of a
// trace: what the server tells of it as messages of type "task".

import type { Task } from "./task.ts";
import type { Step } from "./wire.ts";

/** ended reports whether a task is over. */
export const ended = (t: Task) => t.state !== "running";

/** So many tasks whose telling is waited for are kept. */
const untoldKept = 16;

/** Tasks follows the delegated work of one conversation. */
export class Tasks {
  private running: Task[] = [];
  /** Ended, and told in a turn of their own, which has not ended yet. */
  private untold: Task[] = [];
  /** The agent's last turn, and the last of which anything was heard. */
  private turn = 0;
  private heard = 0;

  /** copy follows by itself from here on. */
  copy(): Tasks {
    const t = new Tasks();
    t.running = this.running.map((k) => ({ ...k }));
    t.untold = this.untold.map((k) => ({ ...k }));
    t.turn = this.turn;
    t.heard = this.heard;
    return t;
  }

  /** resume goes on in another process, with the tasks that run there: returns those that were not known. */
  resume(tasks: readonly Task[]): Task[] {
    const known = this.running;
    this.running = tasks.map((t) => known.find((k) => k.id === t.id) ?? { ...t });
    return this.running.filter((t) => !known.includes(t)).map((t) => ({ ...t }));
  }

  /** step returns the tasks that a step changes, as they are then. */
  step(step: Step): Task[] {
    if (step.late) return [];
    if (step.event === "playout.started") this.heard = step.in.turn ?? this.turn;
    const out: Task[] = [];
    const put = (t: Task) => out.push({ ...t });
    if (step.event === "task.progress" && step.in.text) {
      const t = this.find(step.in.id);
      if (t && t.text !== step.in.text) {
        t.text = step.in.text;
        put(t);
      }
    }
    // A reply that ends lets go of its tasks before the step is over.
    const gone = new Set((step.turns ?? []).filter((t) => t.role === "agent" && t.type !== "turn-started").map((t) => t.turn));
    this.end(step, gone, put);
    this.begin(step, gone, put);
    this.tell(step, put);
    return out;
  }

  private find(id: string | undefined): Task | undefined {
    return this.running.find((t) => !id || t.id === id);
  }

  private end(step: Step, gone: ReadonlySet<number>, put: (t: Task) => void): void {
    const over = new Map<string, Partial<Task>>();
    for (const e of step.effects) {
      if (e.type !== "cancel_tool" || !e.id) continue;
      over.set(e.id, step.event === "deadline" ? { state: "failed", text: "", code: "TASK_TIMEOUT" } : { state: "cancelled", text: "" });
    }
    const id = this.find(step.in.id)?.id;
    if (id && step.event === "task.done") over.set(id, { state: "done", text: "" });
    if (id && step.event === "task.failed") over.set(id, { state: "failed", text: step.in.message ?? "", code: step.in.code ?? "" });
    const leaves = step.transitions.some((t) => t.to === "terminating");
    const faulted = step.transitions.at(-1)?.to === "faulted";
    this.running = this.running.filter((t) => {
      const how = over.get(t.id) ?? (leaves ? { state: "left" as const, text: "" } : undefined);
      if (!how) return true;
      Object.assign(t, how, { end: step.at });
      put(t);
      // A failure that ends a model's reply is reported after the fault.
      const later = t.background ? t.state === "done" || t.state === "failed" : t.state === "failed" && faulted;
      if (later) this.untold = [...this.untold, t].slice(-untoldKept);
      return false;
    });
    for (const t of this.running) {
      if (t.background || !gone.has(t.turn)) continue;
      t.background = true;
      put(t);
    }
  }

  private begin(step: Step, gone: ReadonlySet<number>, put: (t: Task) => void): void {
    for (const e of step.effects) {
      const adopted = e.type === "follow_task";
      if ((e.type !== "start_task" && !adopted) || !e.id || this.running.some((t) => t.id === e.id)) continue;
      const turn = e.turn ?? 0;
      const t: Task = {
        id: e.id, name: (adopted ? step.in.name : e.name) ?? "", state: "running", text: "", code: "", start: step.at, turn, background: adopted || gone.has(turn), told: 0, adopted,
      };
      this.running.push(t);
      put(t);
    }
  }

  /** tell notes in which turn the results are told that have one of their own. */
  private tell(step: Step, put: (t: Task) => void): void {
    const tell = (t: Task, told: number) => {
      t.told = told;
      put(t);
    };
    for (const turn of step.turns ?? []) {
      if (turn.role !== "agent") continue;
      if (turn.type === "turn-started") {
        this.turn = turn.turn;
        if (turn.kind === "news") for (const t of this.untold) tell(t, turn.turn);
        continue;
      }
      // What was cut off before it was heard is told again, unless the person called it off.
      const again = turn.type !== "turn-completed" && this.heard !== turn.turn && !calledOff(step);
      const here = this.untold.filter((t) => t.told === turn.turn);
      if (again) for (const t of here) tell(t, 0);
      else this.untold = this.untold.filter((t) => !here.includes(t));
    }
  }
}

/** calledOff reports whether a step gives up the reply that is being made, by command. */
function calledOff(step: Step): boolean {
  if (step.event !== "user.cancel" && step.event !== "user.interrupt") return false;
  return step.transitions.some((t) => t.to === "listening.ready" && t.from !== "processing.delegated");
}
