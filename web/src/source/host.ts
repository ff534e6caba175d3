// The panel inside of another page: an editor's webview, an iframe. The host
// posts the messages of a conversation as they are (seed 000's UI contract:
// {"type": "agentvoice.state", "payload": {...}}); the panel posts commands back.

import type { Command, Message } from "../model/wire.ts";
import { parseStep } from "../model/trace.ts";
import type { Feed, Source } from "./source.ts";

/** Port is the way to a host and back. */
export interface Port {
  post(message: unknown): void;
  listen(handler: (data: unknown) => void): () => void;
}

interface WebviewApi {
  postMessage(message: unknown): void;
}

/**
 * hostPort is the port to the host around this page: a webview's (its API can
 * be acquired once), or the window that frames the page. Undefined where the
 * page stands alone.
 */
export function hostPort(): Port | undefined {
  const acquire = (globalThis as { acquireVsCodeApi?: () => WebviewApi }).acquireVsCodeApi;
  const listen = (from: unknown) => (handler: (data: unknown) => void) => {
    const on = (e: MessageEvent) => {
      if (from === undefined || e.source === from) handler(e.data);
    };
    window.addEventListener("message", on);
    return () => window.removeEventListener("message", on);
  };
  if (acquire) {
    const api = acquire();
    return { post: (m) => api.postMessage(m), listen: listen(undefined) };
  }
  if (window.parent !== window && new URLSearchParams(location.search).has("host")) {
    // The frame is served by the same origin as the page around it.
    return { post: (m) => window.parent.postMessage(m, location.origin), listen: listen(window.parent) };
  }
  return undefined;
}

export class HostSource implements Source {
  readonly kind = "host";
  readonly name: string;
  private readonly port: Port;

  constructor(port: Port, name: string) {
    this.port = port;
    this.name = name;
  }

  start(feed: Feed): () => void {
    feed.status("connecting");
    const began = Date.now();
    const stop = this.port.listen((data) => {
      if (isReset(data)) {
        feed.reset();
        return;
      }
      const m = messageOf(data, Date.now() - began);
      if (!m) return;
      feed.status("open");
      feed.message(m);
    });
    this.port.post({ type: "hocket.ready" });
    return stop;
  }

  command(c: Command): Promise<void> {
    this.port.post({ type: "hocket.command", payload: c });
    return Promise.resolve();
  }
}

/** isReset reports whether another conversation follows. */
function isReset(data: unknown): boolean {
  return typeof data === "object" && data !== null && (data as Partial<Message>).type === "hocket.reset";
}

/** messageOf checks what a host has posted; undefined if it is not a message. */
export function messageOf(data: unknown, at: number): Message | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const m = data as Partial<Message>;
  if (typeof m.type !== "string") return undefined;
  const payload = typeof m.payload === "object" && m.payload !== null ? m.payload : {};
  if (m.type === "step") {
    const step = parseStep(payload);
    return step && { type: "step", at: step.at, payload: step as unknown as Record<string, unknown> };
  }
  return { type: m.type, seq: m.seq, at: typeof m.at === "number" ? m.at : at, payload };
}
