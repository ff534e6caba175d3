// A live conversation of a server. The stream is taken up again where it broke
// off; what the server's buffer no longer holds is read from the trace.

import { parseStep, parseTrace } from "../model/trace.ts";
import type { Command, Message, Step } from "../model/wire.ts";
import { ApiError, type Server } from "./server.ts";
import { problemOf, type Feed, type Source } from "./source.ts";

/** Waits between tries to take the stream up again, in milliseconds. */
const waits = [250, 500, 1000, 2000, 4000];

export class LiveSource implements Source {
  readonly kind = "live";
  readonly name: string;
  readonly id: string;
  private readonly server: Server;

  constructor(server: Server, id: string, name: string) {
    this.server = server;
    this.id = id;
    this.name = name;
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

  private async run(feed: Feed, signal: AbortSignal): Promise<void> {
    const follower = new Follower(this.server, this.id, feed);
    feed.status("connecting");
    for (let failures = 0; !signal.aborted; ) {
      try {
        for await (const m of this.server.events(this.id, follower.next, signal)) {
          failures = 0;
          if (m.type === "open") feed.status("open");
          else await follower.take(m);
        }
        if (follower.ended) return feed.status("ended");
      } catch (err) {
        if (signal.aborted) return;
        if (err instanceof ApiError && err.status >= 400 && err.status < 500) {
          return feed.status(follower.ended ? "ended" : "failed", problemOf(err));
        }
      }
      if (signal.aborted) return;
      feed.status("lost");
      await pause(waits[Math.min(failures++, waits.length - 1)]!, signal);
    }
  }
}

/** Follower keeps the place in the stream of one conversation. */
class Follower {
  /** The number of the next message; they are counted from 1. */
  next = 1;
  ended = false;
  private readonly server: Server;
  private readonly id: string;
  private readonly feed: Feed;
  /** The last step of a trace that was read into a gap: steps up to it are known. */
  private known?: Step;

  constructor(server: Server, id: string, feed: Feed) {
    this.server = server;
    this.id = id;
    this.feed = feed;
  }

  async take(m: Message): Promise<void> {
    // Neither has a number of its own.
    if (m.type === "gap") return this.fill();
    if (m.type === "end") {
      this.ended = true;
      return;
    }
    if (m.seq !== undefined) {
      if (m.seq < this.next) {
        // The server was started again and counts anew: all of it comes again.
        this.next = 1;
        this.known = undefined;
        this.feed.reset();
        throw new Error("the stream counts anew");
      }
      this.next = m.seq + 1;
    }
    if (m.type === "step") {
      const step = parseStep(m.payload);
      if (!step || this.isKnown(step)) return;
      if (step.event === "session.ended") this.ended = true;
      this.feed.message({ ...m, at: step.at, payload: step as unknown as Record<string, unknown> });
      return;
    }
    if (m.type === "agentvoice.state" && m.payload.state === "terminating") this.ended = true;
    this.feed.message(m);
  }

  /** fill reads what a gap has swallowed from the trace. */
  private async fill(): Promise<void> {
    try {
      const trace = parseTrace(await this.server.trace(this.id));
      this.feed.reset();
      this.feed.past(trace.header, trace.steps);
      this.known = trace.steps.at(-1);
    } catch {
      // A conversation that is not recorded has no trace; it goes on without.
    }
  }

  /** isKnown reports whether the trace already had a step that the stream brings. */
  private isKnown(step: Step): boolean {
    const last = this.known;
    if (!last) return false;
    if (step.at > last.at) {
      this.known = undefined;
      return false;
    }
    if (JSON.stringify(step) === JSON.stringify(last)) this.known = undefined;
    return true;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    // Back on the line: no need to wait any longer.
    globalThis.addEventListener?.("online", done, { once: true });
    signal.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      resolve();
    }
  });
}
