// A live conversation of a server. The stream is taken up again where it broke off;
// where the server has lost the conversation, whoever holds it may take that up too.

import type { Command } from "../model/wire.ts";
import { CountsAnew, Follower } from "./follower.ts";
import { ApiError, type Server } from "./server.ts";
import { problemOf, type Feed, type Source } from "./source.ts";

/** Patience is how a line that is lost is waited for, in milliseconds. */
export interface Patience {
  /** Waits between tries; the last one is repeated (seed 001, section 6). */
  waits: readonly number[];
  /** For so long it is tried without being asked: as long as a server keeps a conversation (server.resume). */
  window: number;
}

const patience: Patience = { waits: [1000, 3000, 10_000], window: 5 * 60_000 };

/** passes reports whether a refusal may be over by itself: nobody answered, too much at once, a server that begins or ends. */
export const passes = (err: unknown) => !(err instanceof ApiError) || err.status === 0 || err.status === 429 || err.status >= 500;

/** Waiting waits between tries, and knows when it has been long enough. */
export class Waiting {
  private readonly p: Patience;
  private tries = 0;
  private since: number | undefined;

  constructor(p: Patience = patience) {
    this.p = p;
  }

  /** over: the line is there again. */
  over(): void {
    this.tries = 0;
    this.since = undefined;
  }

  /** next is how long to wait now, at least as long as the server asks for; undefined when it has been tried long enough. */
  next(err: unknown): number | undefined {
    this.since ??= Date.now();
    if (Date.now() - this.since > this.p.window) return undefined;
    const own = this.p.waits[Math.min(this.tries++, this.p.waits.length - 1)]!;
    return Math.max(own, err instanceof ApiError ? (err.retryAfter ?? 0) : 0);
  }
}

/** pause waits; undefined: until it is woken. The network coming back ends it, and so does wake. */
export function pause(ms: number | undefined, signal?: AbortSignal, wake?: (end: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(done, ms);
    globalThis.addEventListener?.("online", done, { once: true });
    signal?.addEventListener("abort", done, { once: true });
    wake?.(done);
    function done() {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** Options of a live source. */
export interface LiveOptions {
  /**
   * again takes the conversation up where the server does not have it any more. It
   * throws what the server answers. Without it, such a conversation has failed.
   */
  again?: () => Promise<void>;
  patience?: Patience;
}

export class LiveSource implements Source {
  readonly kind = "live";
  readonly name: string;
  readonly id: string;
  private readonly server: Server;
  private readonly o: LiveOptions;
  private wake: () => void = () => undefined;

  constructor(server: Server, id: string, name: string, o: LiveOptions = {}) {
    this.server = server;
    this.id = id;
    this.name = name;
    this.o = o;
  }

  start(feed: Feed): () => void {
    const stop = new AbortController();
    void this.run(feed, stop.signal);
    return () => stop.abort();
  }

  command(c: Command): Promise<void> {
    return this.server.command(this.id, c);
  }

  trace(): Promise<string> {
    return this.server.trace(this.id);
  }

  /** retry tries at once what is waited for. */
  retry(): void {
    this.wake();
  }

  private async run(feed: Feed, signal: AbortSignal): Promise<void> {
    const follower = new Follower(this.server, this.id, feed);
    const waiting = new Waiting(this.o.patience);
    feed.status("connecting");
    while (!signal.aborted) {
      let err: unknown;
      try {
        await this.follow(follower, feed, waiting, signal);
        if (follower.over) return feed.status("ended");
        // The server had no more to say, and the conversation was not over: it ended there, not here.
        if (follower.closed) {
          await this.again(follower);
          if (follower.closed) return feed.status("ended");
          continue;
        }
      } catch (e) {
        err = e;
        if (signal.aborted) return;
        if (e instanceof CountsAnew) continue;
        if (!passes(e)) {
          if (follower.over || follower.closed) return feed.status("ended");
          return feed.status("failed", problemOf(e));
        }
      }
      if (signal.aborted) return;
      const wait = waiting.next(err);
      feed.status("lost", err === undefined ? undefined : problemOf(err), wait === undefined ? undefined : Date.now() + wait);
      await pause(wait, signal, (end) => (this.wake = end));
      if (wait === undefined) waiting.over();
    }
  }

  /** follow reads the stream to its end, once the conversation is there. */
  private async follow(follower: Follower, feed: Feed, waiting: Waiting, signal: AbortSignal): Promise<void> {
    try {
      await this.read(follower, feed, waiting, signal);
    } catch (err) {
      if (!(err instanceof ApiError) || err.status !== 404 || follower.over || !this.o.again) throw err;
      await this.again(follower);
      await this.read(follower, feed, waiting, signal);
    }
  }

  private async again(follower: Follower): Promise<void> {
    if (!this.o.again) return;
    await this.o.again();
    follower.restart();
  }

  private async read(follower: Follower, feed: Feed, waiting: Waiting, signal: AbortSignal): Promise<void> {
    for await (const m of this.server.events(this.id, follower.next, signal)) {
      if (m.type === "open") {
        feed.status("open");
        continue;
      }
      waiting.over();
      await follower.take(m);
    }
  }
}
