// The conversation that is held from this page: begins it, ends it, takes it up
// again after a reload or a lost network.

import { batch, computed, signal } from "@preact/signals";
import { ConversationStore } from "./conversation.ts";
import type { AudioCall, Devices, Link } from "./audio/call.ts";
import type { Shown } from "./model/talk.ts";
import type { Agent, Changes } from "./model/wire.ts";
import { LiveSource, passes, pause, Waiting } from "./source/live.ts";
import { answerOf, ApiError, type Answer, type Server } from "./source/server.ts";
import { problemOf, type Problem } from "./source/source.ts";
import { caller, keep, kept, set, setting, timezone } from "./kept.ts";

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
  /** The microphone is closed by the person. */
  readonly muted = signal(false);
  /** The devices that were chosen; empty: the browser's own choice. They stay chosen in this browser. */
  readonly microphone = signal(setting("microphone") ?? "");
  readonly speaker = signal(setting("speaker") ?? "");
  readonly volume = signal(loudness(setting("volume")));
  /** The sound of the conversation is recorded. */
  readonly recorded = signal(false);
  readonly network = signal<number | undefined>(undefined);
  readonly id = signal("");

  /** Lines that were sent, with the number of the last turn before them. */
  private readonly sent = signal<readonly { text: string; turn: number }[]>([]);

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
  async begin(agent: Agent, transport: Transport, changes?: Changes): Promise<void> {
    await this.open(agent.name, transport, agent.language ?? "en", undefined, changes);
  }

  /** resume takes up the conversation that a reload has broken off; false if there is none. */
  async resume(agents: readonly Agent[]): Promise<boolean> {
    const last = kept<Resumable>("conversation");
    if (!last || (last.transport === "webrtc" && !last.token)) return false;
    const language = agents.find((a) => a.name === last.agent)?.language ?? "en";
    // What is written has no connection that could be lost: it goes on as it is.
    if (last.transport === "text") return this.attach(last, language);
    return this.open(last.agent, last.transport, language, last);
  }

  /** attach follows a conversation that goes on without this page, or takes it up where nobody holds it. */
  private async attach(last: Resumable, language: string): Promise<boolean> {
    try {
      await this.takeUp(last);
    } catch (err) {
      // A server that does not answer now may still have it.
      if (!passes(err)) {
        if (err instanceof ApiError && err.status === 401) return false;
        this.lost(err);
        return false;
      }
    }
    batch(() => {
      this.transport.value = last.transport;
      this.show(last.id, last.agent, language);
    });
    return true;
  }

  /** takeUp makes sure that somebody holds the conversation; by voice it negotiates anew. It throws what the server answers. */
  private async takeUp(last: Resumable, offer?: string): Promise<Answer> {
    // The token is good once: it is not spent while the conversation is there.
    if (await this.holds(last.id)) return offer === undefined ? { sdp: "" } : this.server.renegotiate(last.id, offer);
    // Forgotten meanwhile: the person has ended it.
    const token = kept<Resumable>("conversation")?.token ?? "";
    if (token === "") throw new ApiError(404, "resume_gone", "");
    const { agent, transport } = last;
    const started = await this.server.begin({ agent, transport, ...(offer && { sdp: offer }), resume: token });
    this.recorded.value = started.recording === true;
    keep("conversation", { id: started.id, token: started.resume_token ?? "", agent, transport });
    return answerOf(started);
  }

  /** holds reports whether the server has the conversation, and it goes on. */
  private async holds(id: string): Promise<boolean> {
    try {
      const c = await this.server.conversation(id);
      this.recorded.value = c.recording === true;
      return !c.ended;
    } catch (err) {
      if (err instanceof ApiError && err.status === 404) return false;
      throw err;
    }
  }

  /** again takes the page's own conversation up where its server has lost it. */
  private async again(id: string): Promise<void> {
    const last = kept<Resumable>("conversation");
    if (!last || last.id !== id) throw new ApiError(404, "resume_gone", "");
    try {
      const call = this.call.peek();
      if (call) await call.renew((sdp) => this.takeUp(last, sdp));
      else if (last.transport === "text") await this.takeUp(last);
      else throw new ApiError(404, "resume_gone", ""); // its audio is gone
    } catch (err) {
      if (!passes(err)) this.lost(err);
      throw err;
    }
  }

  /** lost: a conversation that is gone cannot be taken up again; nothing is lost by that. One that the person has ended is not missed. */
  private lost(err: unknown): void {
    if ((err instanceof ApiError && err.status === 401) || !kept<Resumable>("conversation")) return;
    keep("conversation", undefined);
    this.problem.value = { code: "resume_gone", message: err instanceof Error ? err.message : "" };
  }

  private show(id: string, agent: string, language: string): void {
    this.id.value = id;
    this.store.value = new ConversationStore(new LiveSource(this.server, id, agent, { again: () => this.again(id) }), language);
  }

  private async open(agent: string, transport: Transport, language: string, resume?: Resumable, changes?: Changes): Promise<boolean> {
    if (this.opening.peek()) return false;
    this.release();
    batch(() => {
      this.opening.value = true;
      this.problem.value = undefined;
      this.transport.value = transport;
      this.link.value = "connecting";
    });
    let id = resume?.id ?? "";
    try {
      const begin = async (sdp?: string) => {
        const who = caller();
        const zone = timezone();
        const started = await this.server.begin({ agent, transport, ...(sdp && { sdp }), ...(who && { caller: who }), ...(zone && { timezone: zone }), ...(changes && { changes }) });
        id = started.id;
        this.recorded.value = started.recording === true;
        keep("conversation", { id, token: started.resume_token ?? "", agent, transport });
        return answerOf(started);
      };
      const takeUp = (sdp: string) => patiently(() => this.takeUp(resume!, sdp));
      if (transport === "text") await begin();
      else await this.openCall(resume ? takeUp : begin, () => id);
      batch(() => this.show(id, agent, language));
      return true;
    } catch (err) {
      this.release();
      if (resume && !passes(err) && err instanceof ApiError && err.status !== 401) this.lost(err);
      else this.problem.value = problemOf(err);
      return false;
    } finally {
      this.opening.value = false;
    }
  }

  private async openCall(begin: (sdp: string) => Promise<Answer>, id: () => string): Promise<void> {
    if (!this.audio) throw new Error("this page has no audio");
    const call = await this.audio.open(begin, (l) => (this.link.value = l), {
      microphone: this.microphone.peek(), speaker: this.speaker.peek(), volume: this.volume.peek(),
    });
    call.later((sdp) => this.server.renegotiate(id(), sdp));
    this.call.value = call;
    this.listen();
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
      // It may be over already, or out of reach: whoever holds it will end it.
      if (!(err instanceof ApiError && [0, 404, 409].includes(err.status))) this.problem.value = problemOf(err);
      store?.close();
      store?.status("ended");
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
      this.muted.value = false;
      this.network.value = undefined;
    });
    if (!this.active.peek()) keep("conversation", undefined);
  }

  /** hold presses and releases the button of push to talk. */
  hold(pressed: boolean): void {
    if (this.pressed.peek() === pressed || !this.store.peek()) return;
    this.pressed.value = pressed;
    this.listen();
    void this.send({ type: "push_to_talk", pressed });
  }

  /** setPushToTalk closes the microphone but for the time that the button is held. */
  setPushToTalk(on: boolean): void {
    batch(() => {
      this.pushToTalk.value = on;
      this.muted.value = false; // the button is what opens it
    });
    this.listen();
  }

  /** mute closes the microphone, or opens it again. */
  mute(on: boolean): void {
    this.muted.value = on;
    this.listen();
  }

  /** listen opens the microphone, or closes it, as was chosen. */
  private listen(): void {
    this.call.peek()?.listen(!this.muted.peek() && (this.pressed.peek() || !this.pushToTalk.peek()));
  }

  /** devices are those that the call may use. */
  async devices(): Promise<Devices> {
    return (await this.call.peek()?.devices()) ?? { microphones: [], speakers: [] };
  }

  /** useMicrophone goes on with another microphone, which stays chosen; what goes wrong is told by problem. */
  async useMicrophone(id: string): Promise<void> {
    try {
      await this.call.peek()?.useMicrophone(id);
      this.microphone.value = id;
      set("microphone", id);
    } catch (err) {
      this.problem.value = problemOf(err);
    }
  }

  /** useSpeaker plays on another speaker, which stays chosen. */
  async useSpeaker(id: string): Promise<void> {
    if (!(await this.call.peek()?.useSpeaker(id))) return;
    this.speaker.value = id;
    set("speaker", id);
  }

  /** setVolume sets how loud the agent is, from 0 to 1. */
  setVolume(v: number): void {
    this.volume.value = v;
    this.call.peek()?.setVolume(v);
    set("volume", v === 1 ? undefined : String(v));
  }

  /** send sends a command; what goes wrong is told by problem. */
  async send(c: Parameters<ConversationStore["command"]>[0], to = this.store.peek()): Promise<boolean> {
    try {
      const turn = to?.now.peek().lines.at(-1)?.turn ?? 0;
      await to?.command(c);
      if (c.type === "send_text" && c.text) this.sent.value = [...this.sent.peek().slice(-9), { text: c.text, turn }];
      return true;
    } catch (err) {
      this.problem.value = problemOf(err);
      return false;
    }
  }

  /** callOff calls delegated work off; false if that did not go through. */
  async callOff(id: string, of: ConversationStore): Promise<boolean> {
    try {
      await of.command({ type: "cancel", id });
    } catch (err) {
      // It has ended meanwhile; its card is about to say so.
      if (err instanceof ApiError && err.code === "bad_command") return true;
      this.problem.value = problemOf(err);
      return false;
    }
    return true;
  }

  /** waiting are the lines that were sent and are not part of the conversation yet, because work is in progress. */
  waiting(shown: Shown): readonly string[] {
    if (!shown.tasks.some((t) => t.state === "running" && !t.background)) return [];
    const said = (text: string, turn: number) =>
      shown.lines.some((l) => l.role === "user" && l.turn > turn && plain(l.text).includes(plain(text)));
    return this.sent.value.filter((s) => !said(s.text, s.turn)).map((s) => s.text);
  }

  private release(): void {
    this.recorded.value = false;
    this.sent.value = [];
    this.hangUp();
    this.store.peek()?.close();
    this.store.value = undefined;
    this.id.value = "";
  }
}

/** loudness is a volume that was kept; full where there is none. */
const loudness = (kept: string | undefined): number => {
  const v = Number(kept ?? 1);
  return v >= 0 && v <= 1 ? v : 1;
};

const plain = (text: string) => text.replace(/\s+/g, " ").trim();

/** patiently does what a server may refuse for a while, until it is done or refused for good. */
async function patiently<V>(run: () => Promise<V>): Promise<V> {
  const waiting = new Waiting();
  for (;;) {
    try {
      return await run();
    } catch (err) {
      const wait = passes(err) ? waiting.next(err) : undefined;
      if (wait === undefined) throw err;
      await pause(wait);
    }
  }
}
