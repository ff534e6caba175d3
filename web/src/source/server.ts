// The server's control API.

import type { Chart } from "../model/explored.ts";
import type { Agent, Alternative, Changes, Command, Listed, Message, Policy, Stored, StoredDetails } from "../model/wire.ts";
import { sentEvents } from "./sse.ts";

/** ApiError is a failed request, or one without an answer (code "offline"). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** How long the server asks to wait (Retry-After), in milliseconds. */
  readonly retryAfter?: number;
  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Started is the answer to a conversation that began or was taken up again. */
export interface Started {
  id: string;
  sdp?: string;
  ice_servers?: RTCIceServer[];
  resume_token?: string;
  /** Its sound is recorded. */
  recording?: boolean;
}

/** Answer is the server's answer to an offer. */
export interface Answer {
  sdp: string;
  iceServers?: RTCIceServer[] | undefined;
}

/** answerOf is the answer to the offer of a conversation that began, or was taken up again. */
export function answerOf(s: Started): Answer {
  return { sdp: s.sdp ?? "", iceServers: s.ice_servers };
}

/** Server speaks to one server. It holds the key, and nothing else. */
export class Server {
  private readonly base: string;
  private readonly key: () => string;

  constructor(base: string, key: () => string) {
    this.base = base.replace(/\/$/, "");
    this.key = key;
  }

  agents(): Promise<Agent[]> {
    return this.json("GET", "/v1/agents").then((v) => (v.agents as Agent[] | undefined) ?? []);
  }

  /** statechart is the machine: the transitions that its exploration has met, with their causes. */
  statechart(): Promise<Chart> {
    return this.json("GET", "/v1/statechart") as Promise<unknown> as Promise<Chart>;
  }

  conversations(): Promise<Listed[]> {
    return this.json("GET", "/v1/conversations").then((v) => (v.conversations as Listed[] | undefined) ?? []);
  }

  conversation(id: string): Promise<Record<string, unknown>> {
    return this.json("GET", at(id));
  }

  /** begin starts a conversation, or with a resume token takes one up again. */
  begin(body: { agent: string; transport: "webrtc" | "text"; sdp?: string; caller?: string; timezone?: string; resume?: string; changes?: Changes }): Promise<Started> {
    return this.json("POST", "/v1/conversations", body) as Promise<unknown> as Promise<Started>;
  }

  /** renegotiate exchanges descriptions again: ICE restart after a change of network. */
  renegotiate(id: string, sdp: string): Promise<Answer> {
    return this.json("POST", `${at(id)}/sdp`, { sdp }).then((v) => answerOf(v as unknown as Started));
  }

  async command(id: string, c: Command): Promise<void> {
    await this.json("POST", `${at(id)}/commands`, c);
  }

  async trace(id: string): Promise<string> {
    return (await this.fetch("GET", `${at(id)}/trace`)).text();
  }

  /** stored are conversations that are kept: the last, or those that were saved before (next of an earlier answer). */
  stored(before?: string): Promise<{ conversations: Stored[]; next?: string }> {
    const query = before === undefined ? "" : `?before=${encodeURIComponent(before)}`;
    return this.json("GET", `/v1/stored${query}`).then((v) => ({
      conversations: (v.conversations as Stored[] | undefined) ?? [],
      next: v.next as string | undefined,
    }));
  }

  storedOne(id: string): Promise<StoredDetails> {
    return this.json("GET", kept(id)).then((v) => ({ lines: [], ...v }) as unknown as StoredDetails);
  }

  async storedTrace(id: string): Promise<string> {
    return (await this.fetch("GET", `${kept(id)}/trace`)).text();
  }

  /** recording is the sound of a kept conversation, a WAV file, and when it began. */
  async recording(id: string): Promise<{ sound: Blob; started: number }> {
    const res = await this.fetch("GET", `${at(id)}/recording`, undefined, undefined, "audio/wav");
    const started = Date.parse(res.headers.get("Hocket-Recording-Started") ?? "");
    try {
      return { sound: await res.blob(), started };
    } catch (err) {
      throw new ApiError(0, "offline", err instanceof Error ? err.message : String(err));
    }
  }

  alternatives(id: string, policy: Policy): Promise<readonly Alternative[]> {
    return this.json("GET", `${kept(id)}/alternatives?barge_in=${policy}`).then((v) => (v.alternatives as Alternative[] | undefined) ?? []);
  }

  async deleteStored(id: string): Promise<void> {
    await this.json("DELETE", kept(id));
  }

  /**
   * events streams a conversation's messages from the given number on. Beside the
   * server's there are two: "open" when the stream is there, and "end" when the
   * server says that nothing more will come.
   */
  async *events(id: string, from: number, signal: AbortSignal): AsyncGenerator<Message> {
    yield* this.stream(`${at(id)}/events?steps=1&from=${from}`, signal);
  }

  /** changes streams the beginnings, changes and ends of all conversations. */
  async *changes(signal: AbortSignal): AsyncGenerator<Message> {
    yield* this.stream("/v1/events", signal);
  }

  private async *stream(path: string, signal: AbortSignal): AsyncGenerator<Message> {
    const res = await this.fetch("GET", path, undefined, signal, "text/event-stream");
    if (!res.body) throw new ApiError(res.status, "no_stream", "the answer has no body");
    yield { type: "open", at: 0, payload: {} };
    for await (const sent of sentEvents(res.body)) {
      if (sent.event === "end") {
        yield { type: "end", at: 0, payload: {} };
        continue;
      }
      let m: Message;
      try {
        m = JSON.parse(sent.data) as Message;
      } catch {
        continue; // a message of a newer server's
      }
      if (typeof m !== "object" || m === null || typeof m.type !== "string") continue;
      yield { ...m, at: typeof m.at === "number" ? m.at : 0, payload: m.payload ?? {} };
    }
  }

  private async json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const res = await this.fetch(method, path, body);
    const text = await res.text();
    try {
      return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    } catch {
      throw new ApiError(res.status, "no_json", `${method} ${path}: the answer is not JSON`);
    }
  }

  private async fetch(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    accept = "application/json",
  ): Promise<Response> {
    const headers: Record<string, string> = { Accept: accept };
    if (this.key() !== "") headers.Authorization = `Bearer ${this.key()}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let res: Response;
    try {
      res = await fetch(this.base + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        cache: "no-store",
      });
    } catch (err) {
      if (signal?.aborted) throw err;
      throw new ApiError(0, "offline", err instanceof Error ? err.message : String(err));
    }
    if (!res.ok) throw await errorOf(res);
    return res;
  }
}

const kept = (id: string) => `/v1/stored/${encodeURIComponent(id)}`;

const at = (id: string) => `/v1/conversations/${encodeURIComponent(id)}`;

async function errorOf(res: Response): Promise<ApiError> {
  let code = `http_${res.status}`;
  let message = res.statusText;
  try {
    const body = (await res.json()) as { error?: { code?: string; message?: string } };
    code = body.error?.code ?? code;
    message = body.error?.message ?? message;
  } catch {
    // The status says enough.
  }
  if (res.status === 401 && code !== "no_keys") code = "unauthorized";
  return new ApiError(res.status, code, message, wait(res.headers.get("Retry-After")));
}

/** wait reads a Retry-After: seconds, or a date (RFC 9110, 10.2.3). */
function wait(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 60_000) : undefined;
}
