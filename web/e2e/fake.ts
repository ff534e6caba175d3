// A stand-in for the server: the HTTP contract of the control API, played from a
// recorded trace. For looks, keys and accessibility; what only the real server
// can show is tested against the real one.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { web } from "./browser.ts";
import { Deriver } from "../src/model/derive.ts";
import type { Chart } from "../src/model/explored.ts";
import { restoredStep } from "../src/model/restored.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Message, Step, StoredDetails } from "../src/model/wire.ts";

/** policy is what server/panel says that a server must send. */
function policy(): string {
  const source = readFileSync(`${web}../server/panel/doc.go`, "utf8");
  const value = /ContentSecurityPolicy = ([^\n]*\n[^\n]*)\n\n/.exec(source)?.[1] ?? "";
  return [...value.matchAll(/"([^"]*)"/g)].map((m) => m[1]).join("");
}

const csp = policy();

export interface FakeOptions {
  dist: string;
  /** The trace that each conversation plays. */
  trace: string;
  words: (code: string) => string;
  /** How many times as fast as recorded. */
  speed?: number;
  /** Refuses requests without this key. */
  key?: string;
  agents?: unknown[];
  /** What the exploration has met; the transitions of the trace if absent. */
  chart?: Chart;
  /** Conversations are recorded. */
  recording?: boolean;
  /** What the store keeps; without it there is none. */
  stored?: FakeStored[];
  /** The trace that a conversation plays which is taken up behind a restart. */
  restored?: string;
}

/** FakeStored is a conversation of the store, with its trace as JSON lines. */
export type FakeStored = StoredDetails & { jsonl?: string; wav?: { bytes: Buffer; started: string } };

interface Conversation {
  id: string;
  agent: string;
  transport: string;
  started: number;
  messages: Message[];
  watchers: Set<ServerResponse>;
  state: string;
  phase: string;
  label: string;
  ended: boolean;
  /** How many steps it has played, and of which trace. */
  steps: number;
  trace: Played;
  token: string;
  timer?: ReturnType<typeof setTimeout>;
}

interface Played {
  lines: string[];
  steps: Step[];
  /** What a conversation that was taken up went on from. */
  restored?: Step;
}

/** chartOf is a machine whose exploration has met just these steps. */
const chartOf = (steps: readonly Step[]): Chart => ({
  transitions: steps.flatMap((s) => s.transitions.map(({ from, to, cause }) => ({ from, to, causes: [cause] }))),
});

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Fake serves until close. */
export class Fake {
  readonly commands: Record<string, unknown>[] = [];
  readonly begun: Record<string, unknown>[] = [];
  readonly conversations = new Map<string, Conversation>();
  url = "";
  /** Answers nothing while set: a server that is gone. */
  down = false;
  /** The least wait before a step; stops the play at a state. */
  holdAt: ((s: Step) => boolean) | undefined;
  options: FakeOptions;
  private readonly server: Server;
  /** So many requests to take a conversation up are answered with 503. */
  busy = 0;
  private readonly list = new Set<ServerResponse>();
  private readonly played: Played;
  /** Conversations that no process holds, by their ids. */
  private readonly kept = new Map<string, Conversation>();
  private tokens = 0;

  constructor(options: FakeOptions) {
    this.options = options;
    this.played = played(options.trace);
    this.server = createServer((req, res) => void this.handle(req, res).catch((err) => fail(res, 500, "fake", String(err))));
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    const address = this.server.address();
    this.url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    return this.url;
  }

  async close(): Promise<void> {
    for (const c of this.conversations.values()) clearTimeout(c.timer);
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** drop breaks all streams off, as a lost network does. */
  drop(): void {
    this.server.closeAllConnections();
  }

  /** tellAll sends a message in all conversations. */
  tellAll(m: Message): void {
    for (const c of this.conversations.values()) this.send(c, m);
  }

  /** restart is the death of the process, and another one in its place. */
  restart(): void {
    for (const c of this.conversations.values()) {
      clearTimeout(c.timer);
      this.kept.set(c.id, c);
    }
    this.conversations.clear();
    this.drop();
  }

  private async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", "http://x");
    if (this.down) return void req.socket.destroy();
    if (!url.pathname.startsWith("/v1/")) return this.file(url.pathname, res);
    if (this.options.key && req.headers.authorization !== `Bearer ${this.options.key}`) {
      return fail(res, 401, "unauthorized", "a key is needed");
    }
    const body = await read(req);
    const [, , what, id, part] = url.pathname.split("/");
    if (what === "agents") return json(res, 200, { agents: this.options.agents ?? [{ name: "flights", title: "Hocket Airlines", language: "en", speech: true }] });
    if (what === "statechart") return json(res, 200, this.options.chart ?? chartOf(this.played.steps));
    if (what === "events") return this.watchList(res);
    if (what === "stored") return this.stored(req.method ?? "", url, id, part, res);
    if (what !== "conversations") return fail(res, 404, "not_found", url.pathname);
    if (!id) {
      if (req.method === "POST") return this.begin(body, res);
      return json(res, 200, { conversations: [...this.conversations.values()].map(entry) });
    }
    if (part === "recording") return this.recording(id, res);
    const c = this.conversations.get(id);
    if (!c) return fail(res, 404, "not_found", "no such conversation");
    switch (part) {
      case "events":
        return this.watch(c, Number(url.searchParams.get("from") ?? 0), res);
      case "trace":
        res.writeHead(200, { "Content-Type": "application/x-ndjson" });
        return void res.end(c.trace.lines.slice(0, c.steps + 1).join("\n") + "\n");
      case "commands":
        return this.command(c, body, res);
      default:
        return json(res, 200, entry(c));
    }
  }

  private file(path: string, res: ServerResponse): void {
    const name = path === "/" ? "/index.html" : path;
    let data: Buffer;
    try {
      data = readFileSync(join(this.options.dist, name));
    } catch {
      return fail(res, 404, "not_found", name);
    }
    res.writeHead(200, { "Content-Type": types[extname(name)] ?? "text/plain", "Content-Security-Policy": csp });
    res.end(data);
  }

  private stored(method: string, url: URL, id: string | undefined, part: string | undefined, res: ServerResponse): void {
    const all = this.options.stored;
    if (!all) return fail(res, 404, "no_store", "this server keeps no conversations");
    if (!id) {
      const before = url.searchParams.get("before");
      const list = all.filter((c) => before === null || c.saved < before);
      const page = list.slice(0, 3).map(({ lines: _, jsonl: __, wav: ___, ...info }) => info);
      return json(res, 200, { conversations: page, ...(list.length > 3 && { next: page.at(-1)!.saved }) });
    }
    const c = all.find((k) => k.id === id);
    if (!c) return fail(res, 404, "no_such_conversation", "it is not kept");
    if (part === "trace") {
      if (!c.jsonl) return fail(res, 404, "no_trace", "no trace of it is kept");
      res.writeHead(200, { "Content-Type": "application/jsonl" });
      return void res.end(c.jsonl);
    }
    if (part === "alternatives") {
      // A recording of the policy hybrid.
      const cut = { at: "2026-03-02T12:00:23.500Z", event: "speech.started", recorded: ["duck_playout"], other: ["-> interrupted", "cancel_turn", "flush_playout"] };
      return json(res, 200, { alternatives: url.searchParams.get("barge_in") === "hybrid" ? [] : [cut] });
    }
    if (method === "DELETE") {
      this.options.stored = all.filter((k) => k !== c);
      return json(res, 200, {});
    }
    const { jsonl: _, wav: __, ...details } = c;
    json(res, 200, details);
  }

  private recording(id: string, res: ServerResponse): void {
    const c = this.options.stored?.find((k) => k.id === id);
    if (!c?.wav) return fail(res, 404, "no_recording", "no recording of it is kept");
    res.writeHead(200, { "Content-Type": "audio/wav", "Hocket-Recording-Started": c.wav.started });
    res.end(c.wav.bytes);
  }

  private begin(body: Record<string, unknown>, res: ServerResponse): void {
    this.begun.push(body);
    if (typeof body.resume === "string") return this.resume(body.resume, res);
    const c = this.add(String(body.agent), String(body.transport));
    json(res, 201, { id: c.id, resume_token: c.token, ...(this.options.recording && { recording: true }) });
  }

  /** resume takes a conversation up: here as it is, or where the process before has left it. Its token is good once. */
  private resume(token: string, res: ServerResponse): void {
    if (this.busy-- > 0) {
      res.setHeader("Retry-After", "1");
      return fail(res, 503, "shutting_down", "not now");
    }
    const of = (all: Map<string, Conversation>) => [...all.values()].find((c) => c.token === token && !c.ended);
    let c = of(this.conversations);
    const gone = c ? undefined : of(this.kept);
    if (gone && this.options.restored) {
      this.kept.delete(gone.id);
      c = this.add(gone.agent, gone.transport, gone.id, played(this.options.restored));
    }
    if (!c) return fail(res, 404, "no_such_conversation", "nothing to resume");
    c.token = this.token(c.id);
    json(res, 201, { id: c.id, resume_token: c.token });
  }

  private token(id: string): string {
    return `token-${id}-${++this.tokens}`;
  }

  /** add begins a conversation. */
  add(agent: string, transport: string, id = `conv_${this.conversations.size + this.kept.size + 1}`, trace = this.played): Conversation {
    const c: Conversation = {
      id, agent, transport, started: Date.now(), messages: [], watchers: new Set(),
      state: "idle", phase: "idle", label: "", ended: false, steps: 0, trace, token: this.token(id),
    };
    this.conversations.set(id, c);
    this.tell("conversation.started", c);
    const deriver = new Deriver(this.options.words);
    // A server tells of the tasks that run; of what was said before it tells nothing.
    if (trace.restored) for (const m of deriver.messages(trace.restored)) if (m.type === "task") this.send(c, m);
    this.play(c, deriver);
    return c;
  }

  private play(c: Conversation, deriver: Deriver): void {
    const step = c.trace.steps[c.steps];
    if (!step || c.ended) return;
    const speed = this.options.speed ?? 1;
    const due = c.started + step.at / speed - Date.now();
    if (due > 0 || this.holdAt?.(step)) {
      if (due <= 0) c.started += 20 / speed;
      c.timer = setTimeout(() => this.play(c, deriver), Math.max(due, 20));
      return;
    }
    c.steps++;
    c.phase = step.state;
    this.send(c, { type: "step", at: step.at, payload: JSON.parse(c.trace.lines[c.steps]!) as Record<string, unknown> });
    for (const m of deriver.messages(step)) this.send(c, m);
    this.play(c, deriver);
  }

  private send(c: Conversation, m: Message): void {
    const message = { ...m, seq: c.messages.length + 1 };
    c.messages.push(message);
    for (const w of c.watchers) put(w, message);
    if (m.type !== "agentvoice.state") return;
    c.state = String(m.payload.state);
    c.label = String(m.payload.localizedLabel);
    if (c.state === "terminating") c.ended = true;
    this.tell(c.ended ? "conversation.ended" : "conversation.updated", c);
  }

  private watch(c: Conversation, from: number, res: ServerResponse): void {
    stream(res);
    for (const m of c.messages) if ((m.seq ?? 0) >= from) put(res, m);
    c.watchers.add(res);
    res.on("close", () => c.watchers.delete(res));
  }

  private watchList(res: ServerResponse): void {
    stream(res);
    this.list.add(res);
    res.on("close", () => this.list.delete(res));
  }

  private tell(type: string, c: Conversation): void {
    for (const w of this.list) put(w, { type, at: 0, payload: entry(c) });
  }

  private command(c: Conversation, body: Record<string, unknown>, res: ServerResponse): void {
    this.commands.push(body);
    if (body.type === "endConversation") {
      clearTimeout(c.timer);
      const at = Date.now() - c.started;
      this.send(c, { type: "agentvoice.state", at, payload: { state: "terminating", localizedLabel: this.options.words("state.terminating") } });
      this.send(c, { type: "agentvoice.state", at, payload: { state: "idle", localizedLabel: this.options.words("state.idle") } });
      for (const w of c.watchers) w.end("event: end\ndata: {}\n\n");
    }
    json(res, 202, {});
  }
}

/** played reads a trace line by line: what was said before it is no step of the server's. */
function played(path: string): Played {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const header = JSON.parse(lines[0]!) as Record<string, unknown>;
  const { steps } = parseTrace([JSON.stringify({ ...header, restored: undefined }), ...lines.slice(1)].join("\n"));
  const started = Date.parse(String(header.started));
  return { lines, steps, restored: header.restored === undefined ? undefined : restoredStep(header.restored, 0, started) };
}

function entry(c: Conversation): Record<string, unknown> & { id: string } {
  return {
    id: c.id, agent: c.agent, transport: c.transport, state: c.state, phase: c.phase, label: c.label,
    started: new Date(c.started).toISOString(), turns: 0,
    ...(c.phase === "reconnecting" && { waits_until: new Date(c.started + 300_000).toISOString() }), ...(c.ended && { ended: new Date().toISOString() }),
  };
}

async function read(req: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of req) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function json(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(value));
}

function fail(res: ServerResponse, status: number, code: string, message: string): void {
  json(res, status, { error: { code, message } });
}

function stream(res: ServerResponse): void {
  res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  res.write(": open\n\n");
}

function put(res: ServerResponse, m: Message): void {
  res.write(`id: ${m.seq ?? 0}\nevent: ${m.type}\ndata: ${JSON.stringify(m)}\n\n`);
}
