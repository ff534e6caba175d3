// The state of the whole panel: where it is, what it knows of the server, which
// conversation is watched.

import { effect, signal, type Signal } from "@preact/signals";
import { ConversationStore } from "./conversation.ts";
import { keep, kept, set, setting } from "./kept.ts";
import { Explored } from "./model/explored.ts";
import type { Agent, Changes, Listed, Message, Stored } from "./model/wire.ts";
import { Past } from "./past.ts";
import { Session, type Audio } from "./session.ts";
import { FileSource, maxFile } from "./source/file.ts";
import { HostSource, type Port } from "./source/host.ts";
import { LiveSource } from "./source/live.ts";
import { ApiError, Server } from "./source/server.ts";
import { problemOf, type Problem, type Source } from "./source/source.ts";
import { TraceError } from "./model/trace.ts";

export type Route = "talk" | "inspect" | "past";
export const routes: readonly Route[] = ["talk", "inspect", "past"];
export type Theme = "auto" | "light" | "dark";
export type Language = "en" | "de";

/** Waits between looks at the server when it does not answer, in milliseconds. */
const retryAfter = 3000;

/** App is made once per page. A host port makes it the panel inside of that host. */
export class App {
  readonly route = signal<Route>("talk");
  readonly theme = signal<Theme>((setting("theme") as Theme | undefined) ?? "auto");
  readonly language: Signal<Language>;
  readonly agents = signal<readonly Agent[] | undefined>(undefined);
  readonly agent = signal("");
  /** What a developer has changed, by agent, for the next conversations from this page. */
  readonly changes = signal<Readonly<Record<string, Changes>>>({});
  readonly conversations = signal<readonly Listed[]>([]);
  /** What the exploration of the machine has met; undefined where the server has not told. */
  readonly explored = signal<Explored | undefined>(undefined);
  /** The conversation that Inspect shows. */
  readonly watched = signal<ConversationStore | undefined>(undefined);
  readonly watchedId = signal("");
  readonly problem = signal<Problem | undefined>(undefined);
  /** A trace that could not be opened. */
  readonly fileProblem = signal<(Problem & { file: string; line?: number }) | undefined>(undefined);
  readonly keyAsked = signal(false);
  readonly key = signal(kept<string>("key") ?? "");
  readonly server: Server;
  readonly session: Session;
  readonly past: Past;
  readonly host: ConversationStore | undefined;

  private readonly stop = new AbortController();
  private wake: () => void = () => undefined;

  constructor(audio: Audio | undefined, port?: Port) {
    const browser = navigator.language.toLowerCase().startsWith("de") ? "de" : "en";
    this.language = signal<Language>((setting("language") as Language | undefined) ?? browser);
    this.server = new Server(".", () => this.key.peek());
    this.session = new Session(this.server, audio);
    this.past = new Past(this.server);
    if (port) {
      this.host = new ConversationStore(new HostSource(port, ""), this.language.peek());
      this.watched.value = this.host;
    }
    this.followTheme();
    this.followRoute();
    // The audio ends with the conversation, whoever ended it.
    effect(() => {
      if (!this.session.active.value && this.session.call.peek()) this.session.hangUp();
    });
  }

  /** run speaks to the server until close. In a host there is none. */
  async run(): Promise<void> {
    if (this.host) return;
    await this.load();
    await this.follow();
  }

  close(): void {
    this.stop.abort();
    this.watched.peek()?.close();
  }

  /** useKey tries a key: it is kept in this tab alone. */
  async useKey(key: string): Promise<void> {
    this.key.value = key;
    keep("key", key === "" ? undefined : key);
    this.keyAsked.value = false;
    await this.load();
    this.wake();
  }

  /** load asks for the agents, until the server answers. */
  private async load(): Promise<void> {
    for (let first = true; !this.stop.signal.aborted; first = false) {
      try {
        const agents = await this.server.agents();
        this.agents.value = agents;
        void this.lookUp();
        if (!agents.some((a) => a.name === this.agent.peek())) this.agent.value = agents[0]?.name ?? "";
        this.problem.value = undefined;
        if (await this.session.resume(agents)) {
          this.watch(this.session.id.peek());
          this.agent.value = this.session.store.peek()?.source.name ?? this.agent.peek();
        }
        const [route, id] = placeOf(location.hash);
        if (id !== "") this.visit(route, id);
        return;
      } catch (err) {
        this.problem.value = problemOf(err);
        if (err instanceof ApiError && err.status === 401) {
          if (err.code === "no_keys" && this.key.peek() !== "") {
            // The server has no keys any more: what this tab kept is of no use.
            this.key.value = "";
            keep("key", undefined);
            continue;
          }
          this.keyAsked.value = true;
          return;
        }
        if (first && err instanceof ApiError && err.status !== 0) return;
        await new Promise((r) => setTimeout(r, retryAfter));
      }
    }
  }

  /** lookUp asks what the exploration has met, once: a trace that is opened later needs no server. */
  private async lookUp(): Promise<void> {
    if (this.explored.peek()) return;
    try {
      this.explored.value = new Explored(await this.server.statechart());
    } catch {
      // Then no step is said to be met or not.
    }
  }

  /** follow keeps the list of conversations. */
  private async follow(): Promise<void> {
    while (!this.stop.signal.aborted) {
      let wait = retryAfter;
      try {
        for await (const m of this.server.changes(this.stop.signal)) {
          // The list is read when its changes are already followed, so that none is missed.
          if (m.type === "open" && this.problem.peek()?.code === "offline") this.problem.value = undefined;
          if (m.type === "open" || m.type === "gap") this.conversations.value = await this.server.conversations();
          else this.conversations.value = listed(this.conversations.peek(), m);
          const watched = this.watchedId.peek();
          if (watched !== "" && this.conversations.peek().some((c) => c.id === watched && !c.ended)) this.watch(watched);
        }
      } catch (err) {
        // The stream is taken up again below.
        wait = Math.max(retryAfter, (err instanceof ApiError && err.retryAfter) || 0);
        if (err instanceof ApiError && err.status === 0) this.problem.value = problemOf(err);
      }
      // Without a key there is nothing to follow.
      do await this.pause(wait);
      while (this.keyAsked.peek());
    }
  }

  /** pause waits before the server is asked again; a new key ends it. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** titleOf is what an agent is called, on each view: its title, as long as there is one of that name. */
  titleOf(name: string): string {
    return this.agents.value?.find((a) => a.name === name)?.title || name;
  }

  /** change records a change of an agent. A value that equals that of the agent is not a change. */
  change(agent: Agent, c: Changes): void {
    const { instructions = agent.settings?.instructions, voice = agent.settings?.voice } = { ...this.changes.peek()[agent.name], ...c };
    const changed: Changes = {
      ...(instructions !== agent.settings?.instructions && { instructions }), ...(voice !== agent.settings?.voice && { voice }),
    };
    const { [agent.name]: _, ...others } = this.changes.peek();
    this.changes.value = Object.keys(changed).length === 0 ? others : { ...others, [agent.name]: changed };
  }

  /** unchange gives an agent its own settings back. */
  unchange(agent: Agent): void {
    const { [agent.name]: _, ...others } = this.changes.peek();
    this.changes.value = others;
  }

  /** watch shows a conversation of the server's. The page's own is not opened twice. */
  watch(id: string): void {
    const shown = this.watched.peek();
    // One that was gone may be there again: another process has taken it up.
    if (this.watchedId.peek() === id && shown && shown.connection.peek() !== "failed") return;
    const own = this.session.id.peek() === id ? this.session.store.peek() : undefined;
    const known = this.conversations.peek().find((c) => c.id === id);
    const agent = known?.agent ?? this.agent.peek();
    const language = this.agents.peek()?.find((a) => a.name === agent)?.language;
    const store = own ?? new ConversationStore(new LiveSource(this.server, id, agent), language);
    this.show(store, id);
    void this.date(store, id);
  }

  /** date finds out when a conversation began; without it the clock stands still. */
  private async date(store: ConversationStore, id: string): Promise<void> {
    try {
      const started = Date.parse(String((await this.server.conversation(id)).started));
      if (Number.isFinite(started)) store.started.value ??= started;
    } catch {
      // It is told by the conversation's own problem.
    }
  }

  /** openFile shows a trace from disk. */
  async openFile(file: File): Promise<void> {
    this.fileProblem.value = undefined;
    if (file.size > maxFile) {
      this.fileProblem.value = { code: "large", message: "", file: file.name };
      return;
    }
    try {
      this.open(new FileSource(file.name, await file.text()));
    } catch (err) {
      const line = err instanceof TraceError ? err.line : undefined;
      this.fileProblem.value = { ...problemOf(err, "trace"), file: file.name, line };
    }
  }

  /** openStored shows the trace of a conversation that is kept, under Inspect. */
  async openStored(c: Stored, name: string): Promise<void> {
    const trace = await this.past.trace(c.id);
    if (trace === undefined) return;
    try {
      this.open(new FileSource(name, trace, `${c.id}.jsonl`));
      location.hash = "#inspect";
    } catch (err) {
      const { code, message } = problemOf(err, "trace");
      this.past.problem.value = { code: `file.${code}`, message };
    }
  }

  /** open shows any source. It throws what the source throws. */
  open(source: Source): void {
    const store = new ConversationStore(source);
    if (source.kind === "file") store.lookAt(0);
    this.show(store, "");
  }

  private show(store: ConversationStore, id: string): void {
    const before = this.watched.peek();
    if (before && before !== this.session.store.peek() && before !== this.host) before.close();
    this.watchedId.value = id;
    this.watched.value = store;
    this.fileProblem.value = undefined;
  }

  /** go shows a conversation on a view; the address names it from then on. */
  go(route: Route, id: string): void {
    const hash = `#${route}/${encodeURIComponent(id)}`;
    if (location.hash === hash) this.visit(route, id);
    else location.hash = hash;
  }

  private visit(route: Route, id: string): void {
    if (route === "past") void this.past.choose(id);
    // Before the agents are known nobody knows its language; it is visited again then.
    else if (route === "inspect" && this.agents.peek()) void this.find(id);
  }

  /** find watches a conversation that may not be listed yet: its agent is told with it. */
  private async find(id: string): Promise<void> {
    const listed = () => this.conversations.peek().some((c) => c.id === id);
    if (!listed()) {
      try {
        this.conversations.value = await this.server.conversations();
      } catch {
        // Why it cannot be watched is told by the conversation's own problem.
      }
    }
    if (placeOf(location.hash)[1] === id) this.watch(id);
  }

  private followTheme(): void {
    effect(() => {
      const theme = this.theme.value;
      if (theme === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      set("theme", theme === "auto" ? undefined : theme);
    });
    effect(() => {
      document.documentElement.lang = this.language.value;
    });
  }

  private followRoute(): void {
    const read = () => {
      const [route, id] = placeOf(location.hash);
      this.route.value = route;
      if (id !== "" && !this.host) this.visit(route, id);
    };
    read();
    window.addEventListener("hashchange", read, { signal: this.stop.signal });
  }
}

/** placeOf is the view that an address names, and the conversation on it; without one, the empty id. */
export function placeOf(hash: string): [Route, string] {
  const [name = "", id = ""] = hash.replace(/^#/, "").split("/");
  const route = routes.find((r) => r === name) ?? "talk";
  try {
    return [route, decodeURIComponent(id)];
  } catch {
    return [route, ""]; // cut off where it was copied
  }
}

/** listed is the list of conversations after a message of the stream of all. */
export function listed(list: readonly Listed[], m: Message): readonly Listed[] {
  const c = m.payload as unknown as Listed;
  if (typeof c.id !== "string") return list;
  const at = list.findIndex((l) => l.id === c.id);
  if (at < 0) return [c, ...list];
  const next = list.slice();
  // What is left out is not so any more.
  next[at] = { ...list[at]!, waits_until: undefined, ...c };
  return next;
}
