// The engine: `hocket editor` as a child process. It holds the conversation; this
// starts it, starts it again when it dies, and carries messages. It knows nothing of
// the editor, so that it can be tested without one.

import { spawn, type ChildProcess } from "node:child_process";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter, type CancellationToken, type MessageConnection } from "vscode-jsonrpc/node";
import { Backoff } from "./backoff.ts";
import type { CallRequest, Changed, Initialize, Initialized, Part, ReplyRequest, Told } from "./protocol.ts";

/** What the engine asks of the editor, and tells it. */
export interface Host {
  initialize(): Initialize;
  reply(r: ReplyRequest, part: (p: Part) => void, token: CancellationToken): Promise<void>;
  call(c: CallRequest, token: CancellationToken): Promise<string>;
  told(m: Told): void;
  changed(c: Changed): void;
  /** The engine runs, or does not any more. Streams are gone with it. */
  up(i: Initialized): void;
  down(why: string | undefined): void;
  log(line: string): void;
}

/** How long an engine that was asked to end may take, in milliseconds. */
const patience = 3000;

/** Engine is one engine at a time. */
export class Engine {
  private readonly command: string;
  private readonly host: Host;
  private readonly backoff = new Backoff();
  private process: ChildProcess | undefined;
  private connection: MessageConnection | undefined;
  private starting: Promise<MessageConnection> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  constructor(command: string, host: Host) {
    this.command = command;
    this.host = host;
  }

  /** running reports whether there is an engine, or one is being started. */
  get running(): boolean {
    return this.process !== undefined;
  }

  /** request makes a request; the engine is started if it does not run. */
  async request<R>(method: string, params: object = {}): Promise<R> {
    const c = this.connection ?? (await this.start());
    return c.sendRequest<R>(method, params);
  }

  /** start starts the engine. It throws what the engine says to its settings. */
  start(): Promise<MessageConnection> {
    if (this.connection) return Promise.resolve(this.connection);
    clearTimeout(this.timer);
    this.stopped = false;
    this.starting ??= this.open().finally(() => (this.starting = undefined));
    return this.starting;
  }

  /** restart ends the engine and starts another one, with the settings of now. */
  async restart(): Promise<void> {
    await this.stop();
    this.backoff.reset();
    await this.start();
  }

  /** stop ends the engine, and waits for its end. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const p = this.process;
    if (!p) return;
    const gone = new Promise<void>((done) => p.once("exit", () => done()));
    // The end of its input is what ends it, also when this process dies.
    p.stdin?.end();
    const timer = setTimeout(() => p.kill("SIGKILL"), patience);
    await gone;
    clearTimeout(timer);
    await this.starting?.catch(() => undefined);
  }

  private async open(): Promise<MessageConnection> {
    const began = Date.now();
    const p = spawn(this.command, ["editor"], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    this.process = p;
    let rest = "";
    p.stderr.setEncoding("utf8").on("data", (d: string) => {
      const lines = (rest + d).split("\n");
      rest = (lines.pop() ?? "").slice(-10_000);
      for (const line of lines) this.host.log(line);
    });
    p.stdin.on("error", () => undefined); // told by exit
    const c = createMessageConnection(new StreamMessageReader(p.stdout), new StreamMessageWriter(p.stdin));
    const died = new Promise<never>((_, reject) => {
      p.once("error", (err) => reject(new Error(`${this.command}: ${err.message}`)));
      p.once("exit", (code, signal) => reject(new Error(`the engine has ended (${signal ?? code ?? "?"})`)));
    });
    died.catch((err: Error) => this.ended(p, c, Date.now() - began, err.message));
    c.onError(([err]) => this.host.log(err.message));
    this.serve(c);
    c.listen();
    try {
      const done = await Promise.race([c.sendRequest<Initialized>("initialize", this.host.initialize()), died]);
      this.connection = c;
      this.host.up(done);
      return c;
    } catch (err) {
      this.stopped = true; // the same settings would fail again
      p.stdin.end();
      throw err;
    }
  }

  private serve(c: MessageConnection): void {
    c.onNotification("message", (m: Told) => this.host.told(m));
    c.onNotification("conversation", (m: Changed) => this.host.changed(m));
    c.onRequest("lm/request", async (r: ReplyRequest, token: CancellationToken) => {
      await this.host.reply(r, (part) => void c.sendNotification("lm/part", { request: r.request, part }), token);
      return {};
    });
    c.onRequest("tool/call", async (r: CallRequest, token: CancellationToken) => ({ output: await this.host.call(r, token) }));
  }

  private ended(p: ChildProcess, c: MessageConnection, lived: number, why: string): void {
    c.dispose();
    if (this.process !== p) return;
    const was = this.connection !== undefined;
    this.process = undefined;
    this.connection = undefined;
    const pause = this.stopped ? undefined : this.backoff.next(lived);
    if (was) this.host.down(this.stopped ? undefined : why);
    if (pause === undefined) return;
    this.host.log(`${why}; starting it again in ${pause} ms`);
    this.timer = setTimeout(() => void this.start().catch((err: Error) => this.host.log(err.message)), pause);
  }
}
