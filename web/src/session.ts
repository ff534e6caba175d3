// The conversation that is held from this page: begins it, ends it, takes it up
// again after a reload or a lost network.

import { batch, computed, signal } from "@preact/signals";
import { ConversationStore } from "./conversation.ts";
import type { AudioCall, Link } from "./audio/call.ts";
import type { Agent } from "./model/wire.ts";
import { LiveSource } from "./source/live.ts";
import { ApiError, type Server } from "./source/server.ts";
import { problemOf, type Problem } from "./source/source.ts";
import { keep, kept } from "./kept.ts";

/** Transport is how the words get to the server. */
export type Transport = "webrtc" | "text";

/** Audio opens calls; absent where the page must not have a microphone. */
export type Audio = typeof AudioCall;

interface Resumable {
  id: string;
  token: string;
  agent: string;
  transport: Transport;
}

/** Session is the page's own conversation. There is at most one at a time. */
export class Session {
  readonly store = signal<ConversationStore | undefined>(undefined);
  /** Begins, and is not there yet. */
  readonly opening = signal(false);
  readonly transport = signal<Transport>("webrtc");
  readonly link = signal<Link>("connecting");
  readonly problem = signal<Problem | undefined>(undefined);
  readonly call = signal<AudioCall | undefined>(undefined);
  /** Push to talk: the microphone is open only while the button is held. */
  readonly pushToTalk = signal(false);
  readonly pressed = signal(false);
  readonly network = signal<number | undefined>(undefined);
  readonly id = signal("");

  /** A conversation goes on, or is about to. */
  readonly active = computed(() => {
    const s = this.store.value;
    return this.opening.value || (!!s && !s.now.value.ended && s.connection.value !== "ended" && s.connection.value !== "failed");
  });

  private readonly server: Server;
  private readonly audio: Audio | undefined;
  private probe: ReturnType<typeof setInterval> | undefined;

  constructor(server: Server, audio: Audio | undefined) {
    this.server = server;
    this.audio = audio;
  }

  /** hasAudio reports whether this page can hold a conversation by voice. */
  get hasAudio(): boolean {
    return this.audio !== undefined;
  }

  /** begin starts a conversation. What goes wrong is told by problem. */
  async begin(agent: Agent, transport: Transport): Promise<void> {
    await this.open(agent.name, transport, agent.language ?? "en");
  }

  /** resume takes up the conversation that a reload has broken off; false if there is none. */
  async resume(agents: readonly Agent[]): Promise<boolean> {
    const last = kept<Resumable>("conversation");
    if (!last || (last.transport === "webrtc" && !last.token)) return false;
    const agent = agents.find((a) => a.name === last.agent);
    // What is written has no connection that could be lost: it goes on as it is.
    if (last.transport === "text") return this.attach(last, agent?.language);
    return this.open(last.agent, last.transport, agent?.language ?? "en", last.token);
  }

  /** attach follows a conversation that goes on without this page. */
  private async attach(last: Resumable, language: string | undefined): Promise<boolean> {
    try {
      const known = await this.server.conversation(last.id);
      if (known.ended) throw new ApiError(404, "resume_gone", "");
    } catch (err) {
      if (err instanceof ApiError && err.status === 404) keep("conversation", undefined);
      return false;
    }
    batch(() => {
      this.transport.value = last.transport;
      this.id.value = last.id;
      this.store.value = new ConversationStore(new LiveSource(this.server, last.id, last.agent), language);
    });
    return true;
  }

  private async open(agent: string, transport: Transport, language: string, resume?: string): Promise<boolean> {
    if (this.opening.peek()) return false;
    this.release();
    batch(() => {
      this.opening.value = true;
      this.problem.value = undefined;
      this.transport.value = transport;
      this.link.value = "connecting";
    });
    let id = "";
    try {
      const begin = async (sdp?: string) => {
        const started = await this.server.begin({ agent, transport, ...(sdp && { sdp }), ...(resume && { resume }) });
        id = started.id;
        keep("conversation", { id, token: started.resume_token ?? "", agent, transport });
        return started.sdp ?? "";
      };
      if (transport === "text") await begin();
      else await this.openCall(begin, () => id);
      batch(() => {
        this.id.value = id;
        this.store.value = new ConversationStore(new LiveSource(this.server, id, agent), language);
      });
      return true;
    } catch (err) {
      this.release();
      // A conversation that is gone cannot be taken up again; nothing is lost by that.
      const gone = resume !== undefined && err instanceof ApiError && err.status >= 400 && err.status < 500;
      if (gone && err.status !== 401) keep("conversation", undefined);
      this.problem.value = gone && err.status !== 401 ? { code: "resume_gone", message: err.message } : problemOf(err);
      return false;
    } finally {
      this.opening.value = false;
    }
  }

  private async openCall(begin: (sdp: string) => Promise<string>, id: () => string): Promise<void> {
    if (!this.audio) throw new Error("this page has no audio");
    const call = await this.audio.open(begin, (l) => (this.link.value = l));
    call.later((sdp) => this.server.renegotiate(id(), sdp));
    call.listen(!this.pushToTalk.peek());
    this.call.value = call;
    this.probe = setInterval(() => {
      void call.network().then((ms) => (this.network.value = ms));
    }, 2000);
  }

  /** end ends the conversation; what was said stays on the page. */
  async end(): Promise<void> {
    const store = this.store.peek();
    keep("conversation", undefined);
    try {
      await store?.command({ type: "endConversation", reason: "user" });
    } catch (err) {
      // It may be over already.
      if (!(err instanceof ApiError && (err.status === 404 || err.status === 409))) this.problem.value = problemOf(err);
    }
    this.hangUp();
  }

  /** hangUp closes the audio: the conversation is over, whoever ended it. */
  hangUp(): void {
    clearInterval(this.probe);
    this.call.peek()?.close();
    batch(() => {
      this.call.value = undefined;
      this.pressed.value = false;
      this.network.value = undefined;
    });
    if (!this.active.peek()) keep("conversation", undefined);
  }

  /** hold presses and releases the button of push to talk. */
  hold(pressed: boolean): void {
    if (this.pressed.peek() === pressed || !this.store.peek()) return;
    this.pressed.value = pressed;
    this.call.peek()?.listen(pressed || !this.pushToTalk.peek());
    void this.send({ type: "push_to_talk", pressed });
  }

  /** setPushToTalk closes the microphone but for the time that the button is held. */
  setPushToTalk(on: boolean): void {
    this.pushToTalk.value = on;
    this.call.peek()?.listen(!on);
  }

  /** send sends a command; what goes wrong is told by problem. */
  async send(c: Parameters<ConversationStore["command"]>[0]): Promise<boolean> {
    try {
      await this.store.peek()?.command(c);
      return true;
    } catch (err) {
      this.problem.value = problemOf(err);
      return false;
    }
  }

  private release(): void {
    this.hangUp();
    this.store.peek()?.close();
    this.store.value = undefined;
    this.id.value = "";
  }
}
