// The messages between the extension and the engine: internal/editor/protocol.go of
// the engine defines them, its README.md describes them.

/** The version of the protocol; the engine refuses another. */
export const version = 1;

/** The codes of errors that are no faults. */
export const codes = { active: -32010, none: -32011, noSpeech: -32012 } as const;

export interface Settings {
  language?: string;
  model?: string;
  config?: string;
  instructions?: string;
  greeting?: string;
  timeoutMs?: number;
  retries?: number;
  recoveries?: number;
  endOfTurn?: string;
  silenceMs?: number;
  bargeIn?: string;
  voice?: string;
  privacy?: string;
}

export interface ToolSpec {
  name: string;
  description: string;
  schema?: object;
  irreversible?: boolean;
}

export interface Initialize {
  version: number;
  editor: { name: string; version: string };
  language: string;
  trusted: boolean;
  settings: Settings;
  tools: ToolSpec[];
}

export interface Initialized {
  version: number;
  engine: string;
  url: string;
  speech: boolean;
  language: string;
  notes: string[];
}

export interface Start {
  transport: "text" | "voice";
  timezone?: string;
  context?: object;
  hold?: boolean;
}

export interface Started {
  id?: string;
  page?: string;
}

/** A command of the engine's API. */
export interface Command {
  type: string;
  text?: string;
  reason?: string;
  id?: string;
}

/** A message of a conversation's event stream. */
export interface Message {
  type: string;
  seq: number;
  at: number;
  payload: Record<string, unknown>;
}

export interface Told {
  stream: number;
  conversation: string;
  message: Message;
}

export interface Changed {
  event: "started" | "ended";
  info: { id: string; transport: string; reason?: string };
  requests: number;
}

export interface Call {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** A part of a message to the model, or of its answer. */
export interface Part {
  text?: string;
  call?: Call;
  result?: { id: string; text: string };
}

/** A request to the editor's model. */
export interface ReplyRequest {
  /** The number that parts of the answer name. */
  request: number;
  turn?: number;
  messages: { role: "user" | "assistant"; parts: Part[] }[];
  tools?: ToolSpec[];
  required?: boolean;
}

export interface CallRequest extends Call {
  request: number;
}
