// The store of one conversation: what its source delivers, as signals that the
// components render.

import { batch, computed, signal } from "@preact/signals";
import { Deriver } from "./model/derive.ts";
import { Recording } from "./model/recording.ts";
import { nothing, show, type Shown } from "./model/talk.ts";
import type { Command, Header, Message, Step } from "./model/wire.ts";
import { Player, type Frame } from "./player.ts";
import type { Feed, Problem, Source, Status } from "./source/source.ts";
import { engineWords } from "./words/catalog.ts";

/** The recording is shown anew at most this often, in milliseconds. */
const redraw = 80;

/** ConversationStore holds one conversation. It belongs to one page. */
export class ConversationStore implements Feed {
  readonly source: Source;
  readonly connection = signal<Status>("connecting");
  readonly problem = signal<Problem | undefined>(undefined);
  /** When a lost connection is tried again (wall clock); undefined: when asked. */
  readonly next = signal<number | undefined>(undefined);
  /** Rises each time that a lost connection is there again. */
  readonly returned = signal(0);
  /** What is shown now; follows each message at once. */
  readonly now = signal<Shown>(nothing);
  readonly header = signal<Header | undefined>(undefined);
  /** Rises when the recording has grown. */
  readonly version = signal(0);
  /** The step that is looked at; undefined follows the last. */
  readonly cursor = signal<number | undefined>(undefined);
  /** Wall clock at the conversation's start, in milliseconds, where it is known. */
  readonly started = signal<number | undefined>(undefined);

  recording = new Recording();
  /** The last message: its time, and when it came. */
  private last = { at: 0, came: Date.now() };
  private player: Player;
  private readonly language: string;
  private readonly stopSource: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The conversation at the cursor. */
  readonly frame = computed<Frame>(() => {
    this.version.value;
    const at = this.cursor.value;
    const f = this.player.seek(at ?? this.recording.steps.length - 1);
    // Live, the server's own words are shown.
    return at === undefined && this.source.kind !== "file" ? { ...f, shown: this.now.value } : f;
  });

  /** It throws what the source throws when it cannot begin. */
  constructor(source: Source, language = "en") {
    this.source = source;
    this.language = language;
    this.player = this.newPlayer();
    this.stopSource = source.start(this);
  }

  private newPlayer(): Player {
    return new Player(this.recording.steps, () => engineWords(this.header.peek()?.language ?? this.language));
  }

  close(): void {
    clearTimeout(this.timer);
    this.stopSource();
  }

  /** clock is the time on the conversation's clock, in milliseconds since its start. */
  clock(): number {
    const started = this.started.peek();
    return started === undefined ? this.last.at + Date.now() - this.last.came : Math.max(this.last.at, Date.now() - started);
  }

  async command(c: Command): Promise<void> {
    if (!this.source.command) throw new Error("nobody takes commands here");
    await this.source.command(c);
  }

  /** lookAt moves the cursor; at the last step of a live conversation it follows. */
  lookAt(index: number | undefined): void {
    const last = this.recording.steps.length - 1;
    this.cursor.value = index === undefined ? undefined : Math.max(0, Math.min(index, last));
  }

  reset(): void {
    this.recording = new Recording();
    this.player = this.newPlayer();
    batch(() => {
      this.now.value = nothing;
      this.cursor.value = undefined;
      this.version.value++;
    });
  }

  past(header: Header, steps: Step[]): void {
    this.header.value = header;
    const started = Date.parse(header.started);
    if (Number.isFinite(started)) this.started.value = started;
    const deriver = new Deriver(engineWords(header.language));
    let shown = this.now.peek();
    for (const step of steps) {
      this.recording.apply(step);
      shown = deriver.messages(step).reduce(show, shown);
    }
    batch(() => {
      this.now.value = shown;
      this.version.value++;
    });
  }

  message(m: Message): void {
    this.last = { at: Math.max(this.last.at, m.at), came: Date.now() };
    if (m.type === "step") {
      const step = m.payload as unknown as Step;
      this.recording.apply(step);
      if (step.restored) this.restored(step);
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.version.value++;
      }, redraw);
      return;
    }
    this.now.value = show(this.now.peek(), m);
  }

  /** restored shows what was said before the stream continues. */
  private restored(step: Step): void {
    const messages = new Deriver(engineWords(this.language)).messages(step);
    this.now.value = messages.filter((m) => m.type !== "agentvoice.state").reduce(show, this.now.peek());
  }

  status(s: Status, problem?: Problem, next?: number): void {
    batch(() => {
      if (s === "open" && this.connection.peek() === "lost") this.returned.value++;
      this.next.value = next;
      this.connection.value = s;
      this.problem.value = problem;
    });
  }
}
