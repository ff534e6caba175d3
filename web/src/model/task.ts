// Delegated work, and a conversation that was taken up, as they stand: data alone. What
// makes them of steps imports this.

export type TaskState = "running" | "done" | "failed" | "cancelled" | "left";

/** Task is delegated work as it stands. */
export interface Task {
  id: string;
  name: string;
  state: TaskState;
  /** What it said last of itself; of one that failed, why. */
  text: string;
  code: string;
  /** When it began, in milliseconds since the conversation's start. */
  start: number;
  /** When it ended; absent while it runs. */
  end?: number;
  /** The agent's turn that asked for it. */
  turn: number;
  /** No reply waits for it: its result is told later. */
  background: boolean;
  /** The agent's turn that tells what came of it, where it is a turn of its own; 0 as long as there is none. */
  told: number;
  /** An earlier conversation has begun it. */
  adopted: boolean;
}

/** RestoredLine is a turn that was said before. Times are those of the trace. */
export interface RestoredLine {
  role: "user" | "agent";
  turn: number;
  at: number;
  text: string;
  /** Of the agent's words, the part that was heard. */
  heard: string;
}

/** Restored is what a conversation went on from. */
export interface Restored {
  lines: RestoredLine[];
  tasks: Task[];
}
