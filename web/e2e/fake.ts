// A stand-in for the server: the HTTP contract of the control API, played from a
// recorded trace. For looks, keys and accessibility; what only the real server
// can show is tested against the real one.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { web } from "./browser.ts";
import { Deriver } from "../src/model/derive.ts";
import { parseTrace } from "../src/model/trace.ts";
import type { Message, Step } from "../src/model/wire.ts";

/** policy is what internal/panel says that a server must send. */
function policy(): string {
  const source = readFileSync(`${web}../internal/panel/doc.go`, "utf8");
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
}

interface Conversation {
  id: string;
  agent: string;
  transport: string;
  started: number;
  messages: Message[];
  watchers: Set<ServerResponse>;
  state: string;
  label: string;
  ended: boolean;
  steps: number;
  lines: string[];
  timer?: ReturnType<typeof setTimeout>;
}

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
  private readonly list = new Set<ServerResponse>();
  private readonly steps: Step[];
  private readonly lines: string[];

  constructor(options: FakeOptions) {
    this.options = options;
    const text = readFileSync(options.trace, "utf8");
    this.lines = text.trimEnd().split("\n");
    this.steps = parseTrace(text).steps;
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
    if (what === "events") return this.watchList(res);
    if (what !== "conversations") return fail(res, 404, "not_found", url.pathname);
    if (!id) {
      if (req.method === "POST") return this.begin(body, res);
      return json(res, 200, { conversations: [...this.conversations.values()].map(entry) });
    }
    const c = this.conversations.get(id);
    if (!c) return fail(res, 404, "not_found", "no such conversation");
    switch (part) {
      case "events":
        return this.watch(c, Number(url.searchParams.get("from") ?? 0), res);
      case "trace":
        res.writeHead(200, { "Content-Type": "application/x-ndjson" });
        return void res.end(this.lines.slice(0, c.steps + 1).join("\n") + "\n");
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

  private begin(body: Record<string, unknown>, res: ServerResponse): void {
    this.begun.push(body);
    if (typeof body.resume === "string") {
      const c = this.conversations.get(body.resume.replace("token-", ""));
      if (!c || c.ended) return fail(res, 404, "not_found", "nothing to resume");
      return json(res, 201, { id: c.id, resume_token: body.resume });
    }
    const c = this.add(String(body.agent), String(body.transport));
    json(res, 201, { id: c.id, resume_token: `token-${c.id}` });
  }

  /** add begins a conversation. */
  add(agent: string, transport: string): Conversation {
    const id = `conv_${this.conversations.size + 1}`;
    const c: Conversation = {
      id, agent, transport, started: Date.now(), messages: [], watchers: new Set(),
      state: "idle", label: "", ended: false, steps: 0, lines: this.lines,
    };
    this.conversations.set(id, c);
    this.tell("conversation.started", c);
    this.play(c, new Deriver(this.options.words));
    return c;
  }

  private play(c: Conversation, deriver: Deriver): void {
    const step = this.steps[c.steps];
    if (!step || c.ended) return;
    const speed = this.options.speed ?? 1;
    const due = c.started + step.at / speed - Date.now();
    if (due > 0 || this.holdAt?.(step)) {
      if (due <= 0) c.started += 20 / speed;
      c.timer = setTimeout(() => this.play(c, deriver), Math.max(due, 20));
      return;
    }
    c.steps++;
    for (const m of deriver.messages(step)) this.send(c, m);
    this.send(c, { type: "step", at: step.at, payload: JSON.parse(this.lines[c.steps]!) as Record<string, unknown> });
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

function entry(c: Conversation): Record<string, unknown> & { id: string } {
  return {
    id: c.id, agent: c.agent, transport: c.transport, state: c.state, phase: c.state, label: c.label,
    started: new Date(c.started).toISOString(), turns: 0, ...(c.ended && { ended: new Date().toISOString() }),
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
