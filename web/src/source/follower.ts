// Keeps the place in the event stream of one conversation, and its clock, through
// gaps and through processes that take the conversation up.

import { parseStep, parseTrace, type Trace } from "../model/trace.ts";
import type { Message, Step } from "../model/wire.ts";
import type { Server } from "./server.ts";
import type { Feed } from "./source.ts";

/** A time that goes back by more than this is that of a clock that began anew, in milliseconds. */
const anew = 2000;

/** CountsAnew is thrown for a stream that has to be read from its beginning. */
export class CountsAnew extends Error {}

/** Follower hands the messages of a stream to a feed, each once. */
export class Follower {
  /** The number of the next message; they are counted from 1. */
  next = 1;
  /** The conversation has come to its end. */
  over = false;
  /** The server has nothing more to say. */
  closed = false;
  private readonly server: Server;
  private readonly id: string;
  private readonly feed: Feed;
  /** No step of this stream was seen yet. */
  private fresh = true;
  /** The last step of a trace that was read into a gap: steps up to it are known. */
  private known?: Step;
  /** When this process took the conversation up, on the conversation's clock. */
  private leg = 0;
  private last = 0;
  /** What is added to the times of messages, and of steps. */
  private offsets = { message: 0, step: 0 };

  constructor(server: Server, id: string, feed: Feed) {
    this.server = server;
    this.id = id;
    this.feed = feed;
  }

  /** restart begins a stream that counts anew: another process holds the conversation. */
  restart(): void {
    this.next = 1;
    this.fresh = true;
    this.closed = false;
    this.known = undefined;
    this.leg = Math.max(this.last, this.last === 0 ? 0 : (this.feed.clock?.() ?? 0));
    this.offsets = { message: 0, step: 0 };
  }

  /** take takes the next message. It throws CountsAnew when another process tells. */
  async take(m: Message): Promise<void> {
    // Neither has a number of its own.
    if (m.type === "gap") return this.fill();
    if (m.type === "end") {
      this.closed = true;
      return;
    }
    if (m.seq !== undefined) {
      if (m.seq < this.next) {
        this.restart();
        throw new CountsAnew();
      }
      this.next = m.seq + 1;
    }
    if (m.type === "step") return this.step(m);
    if (m.type === "agentvoice.state" && m.payload.state === "terminating") this.over = true;
    this.feed.message({ ...m, at: this.time("message", m.at) });
  }

  /** time is a time on the conversation's clock, whichever clock the process has. */
  private time(of: "message" | "step", at: number): number {
    if (at + this.offsets[of] < this.last - anew) this.offsets[of] = Math.max(this.leg, this.last - at);
    const time = at + this.offsets[of];
    this.last = Math.max(this.last, time);
    return time;
  }

  private async step(m: Message): Promise<void> {
    const step = parseStep(m.payload);
    if (!step) return;
    if (this.fresh) {
      this.fresh = false;
      if (step.event === "user.start") this.whole();
      else if (await this.goesOn()) return this.step(m);
    }
    step.at = this.time("step", step.at);
    if (this.isKnown(step)) return;
    if (step.event === "session.ended") this.over = true;
    this.feed.message({ ...m, at: step.at, payload: step as unknown as Record<string, unknown> });
  }

  /** whole: the stream has all of the conversation. What is shown of it comes again. */
  private whole(): void {
    if (this.last === 0) return;
    this.feed.reset();
    this.last = this.leg = 0;
    this.offsets = { message: 0, step: 0 };
  }

  /** goesOn: the conversation began elsewhere. It reports whether all that was is there now. */
  private async goesOn(): Promise<boolean> {
    const trace = await this.trace();
    if (!trace) return false;
    if (this.last === 0) {
      this.refill(trace);
      return true;
    }
    const restored = trace.steps.findLast((s) => s.restored);
    if (!restored) return false;
    this.leg = Math.max(this.leg, trace.legs.at(-1) ?? 0);
    const at = Math.max(this.leg, this.last);
    this.last = at;
    this.offsets.step = at;
    this.feed.message({ type: "step", at, payload: { ...restored, at } as unknown as Record<string, unknown> });
    return false;
  }

  private async trace(): Promise<Trace | undefined> {
    try {
      return parseTrace(await this.server.trace(this.id));
    } catch {
      // A conversation that is not recorded has no trace; it goes on without.
      return undefined;
    }
  }

  /** fill reads what a gap has swallowed from the trace. */
  private async fill(): Promise<void> {
    const trace = await this.trace();
    if (trace) this.refill(trace);
  }

  private refill(trace: Trace): void {
    this.feed.reset();
    this.feed.past(trace.header, trace.steps);
    this.fresh = false;
    this.known = trace.steps.at(-1);
    // The stream may bring steps again that the trace had, from the beginning of this leg on.
    this.last = this.leg = trace.legs.at(-1) ?? 0;
    this.offsets = { message: 0, step: this.leg };
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
