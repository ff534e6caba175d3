// What feeds the panel: a live conversation of a server, a trace file, or the
// page or editor around the panel. Components know none of them.

import type { Command, Header, Message, Step } from "../model/wire.ts";

/** Status is that of a source's connection, not of the conversation. */
export type Status = "connecting" | "open" | "lost" | "ended" | "failed";

/** Feed takes what a source delivers, in order. */
export interface Feed {
  /** Everything so far is void: what the conversation was comes again. */
  reset(): void;
  /** Steps whose messages did not come: a trace, or what a gap has swallowed. */
  past(header: Header, steps: Step[]): void;
  /** One message of the event stream; type "step" carries a line of the trace. */
  message(m: Message): void;
  /**
   * The connection changed. The problem says why it is lost or has failed; next is
   * when a lost one is tried again (wall clock, milliseconds), absent: when asked.
   */
  status(s: Status, problem?: Problem, next?: number): void;
  /** The time on the conversation's clock, in milliseconds since its start, where it is known. */
  clock?(): number;
}

/** Problem is an error as the panel shows it: code looks up words, message is the cause. */
export interface Problem {
  code: string;
  message: string;
}

/** Source is one conversation, from wherever it comes. */
export interface Source {
  readonly kind: "live" | "file" | "host";
  /** What people know it by: an agent's or a file's name. */
  readonly name: string;
  /** What its trace is called on disk, where that is another name. */
  readonly file?: string;
  /** start begins to deliver; the function that it returns ends that. */
  start(feed: Feed): () => void;
  /** Sends a command; absent where there is nobody to take it. */
  command?(c: Command): Promise<void>;
  /** Tries at once what is waited for; absent where nothing ever is. */
  retry?(): void;
  /** The trace so far, as JSON lines; absent where there is none to download. */
  trace?(): Promise<string>;
}

/** problemOf words any error. */
export function problemOf(err: unknown, code = "unknown"): Problem {
  if (typeof err === "object" && err !== null && "code" in err && typeof err.code === "string") {
    return { code: err.code, message: err instanceof Error ? err.message : "" };
  }
  return { code, message: err instanceof Error ? err.message : String(err) };
}
