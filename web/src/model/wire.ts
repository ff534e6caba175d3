// What crosses the wire: the messages of a conversation's event stream, the
// lines of a trace, the server's answers. Fields are those of the control API
// and of package journal; what the panel does not read is left out.

import type { Restored } from "./task.ts";

/** Message is one message of a conversation's event stream. */
export interface Message {
  type: string;
  seq?: number;
  /** Milliseconds since the conversation's start. */
  at: number;
  payload: Record<string, unknown>;
}

/** StatePayload is the payload of `agentvoice.state`. */
export interface StatePayload {
  state: string;
  localizedLabel: string;
  turnId?: string;
  since?: string;
  metadata?: Record<string, unknown>;
}

/** EventFields are the fields that an event of the machine may carry. */
export interface EventFields {
  type: string;
  turn?: number;
  utterance?: number;
  request?: number;
  part?: number;
  id?: string;
  source?: string;
  cause?: string;
  reason?: string;
  text?: string;
  confidence?: number;
  name?: string;
  arguments?: string;
  long?: boolean;
  output?: string;
  code?: string;
  message?: string;
  retryable?: boolean;
  fatal?: boolean;
  heard_ms?: number;
  lag_ms?: number;
}

/** Effect is one effect of a step. */
export interface Effect {
  type: string;
  turn?: number;
  user_turn?: number;
  part?: number;
  request?: number;
  attempt?: number;
  id?: string;
  name?: string;
  text?: string;
  code?: string;
  level?: string;
  arguments?: string;
  heard_ms?: number;
  lag_ms?: number;
  [field: string]: unknown;
}

/** Transition is a change of phase in a step. */
export interface Transition {
  from: string;
  to: string;
  cause: string;
}

/** Turn is the beginning or the end of a turn in a step. */
export interface Turn {
  type: string;
  turn: number;
  role: string;
  kind?: string;
  confidence?: number;
  duration_ms?: number;
}

/** Step is one line of a trace. */
export interface Step {
  at: number;
  event: string;
  in: EventFields;
  state: string;
  transitions: Transition[];
  effects: Effect[];
  turns?: Turn[];
  late?: boolean;
  deferred?: boolean;
  /** Set in the step that stands for a conversation being taken up by another process. */
  restored?: Restored;
}

/** Header is the first line of a trace. */
export interface Header {
  format: string;
  version: number;
  started: string;
  language: string;
}

/** Agent is an entry of GET /v1/agents. */
export interface Agent {
  name: string;
  title?: string;
  language?: string;
  speech?: boolean;
  /** What a developer may change of it, for one conversation; absent for others. */
  settings?: AgentSettings;
  /** Its calls are recorded. */
  recording?: boolean;
  /** What it is, for people. */
  description?: string;
  /** The beginning of the digest of its files, in which new conversations are held. */
  version?: string;
}

/** AgentSettings are what a developer may change of an agent. */
export interface AgentSettings {
  instructions: string;
  /** There is a model, which gets them. */
  model: boolean;
  voice: string;
  voices: readonly string[];
}

/** Changes are those of an agent for one conversation. */
export interface Changes {
  instructions?: string;
  voice?: string;
}

/** Alternative is a step at which another policy decides otherwise. */
export interface Alternative {
  at: string;
  event: string;
  recorded: readonly string[];
  other: readonly string[];
}

/** The barge-in policies of the engine. */
export const policies = ["hybrid", "energy", "words", "none"] as const;
export type Policy = (typeof policies)[number];

/** Listed is an entry of GET /v1/conversations. */
export interface Listed {
  id: string;
  agent: string;
  agent_version?: string;
  transport?: string;
  phase?: string;
  state?: string;
  label?: string;
  started?: string;
  turns?: number;
  /** When it ends, where its client is gone and does not return. */
  waits_until?: string;
  /** When it ended; absent while it goes on. */
  ended?: string;
}

/** Command is the body of POST /v1/conversations/{id}/commands. */
export interface Command {
  type:
    | "startConversation"
    | "endConversation"
    | "interrupt"
    | "suspend"
    | "resume"
    | "cancel"
    | "recover"
    | "send_text"
    | "push_to_talk";
  text?: string;
  pressed?: boolean;
  reason?: string;
  /** cancel: the delegated work that is called off; without it all that is waited for. */
  id?: string;
}

/** Stored is an entry of GET /v1/stored. */
export interface Stored {
  id: string;
  agent?: string;
  transport?: string;
  ended: boolean;
  turns: number;
  started?: string;
  saved: string;
  /** Its trace is kept too. */
  trace: boolean;
  /** Its sound is kept too. */
  recording?: boolean;
  /** The server holds it now. */
  live: boolean;
  /** Why it cannot be read. */
  error?: string;
}

/** StoredDetails is the answer of GET /v1/stored/{id}. */
export interface StoredDetails extends Stored {
  lines: { turn: number; role: string; name?: string; text: string; interrupted?: boolean; failed?: boolean }[];
}
