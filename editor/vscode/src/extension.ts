// The extension: starts the engine and relays. It holds no state of a conversation that
// could disagree with the engine's: what it shows are the engine's last messages.

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { ResponseError, type CancellationToken } from "vscode-jsonrpc/node";
import { now, Watcher } from "./context.ts";
import { Engine, type Host } from "./engine.ts";
import { consent, reply } from "./model.ts";
import { Panel } from "./panel.ts";
import * as participant from "./participant.ts";
import { codes, version, type CallRequest, type Changed, type Command, type Initialized, type Message, type Part, type ReplyRequest, type Start, type Started, type Told } from "./protocol.ts";
import { affects, get, settingsOf } from "./settings.ts";
import { Announcer, nothing, show, statusText, type Shown } from "./shown.ts";
import { Tools } from "./tools.ts";

/** Api is what tests, and other extensions, see. */
export interface Api {
  shown(): Shown & { active: boolean; requests: number };
  readonly onMessage: vscode.Event<Message>;
  /** The last transitions and timings: conversation/show of the protocol. */
  details(): Promise<unknown>;
  /** command gives a command to the conversation that runs. */
  command(c: Command): Promise<void>;
}

export function activate(context: vscode.ExtensionContext): Api {
  own = new Extension(context);
  return own;
}

class Extension implements Host, Api, vscode.Disposable {
  private readonly context: vscode.ExtensionContext;
  private readonly output = vscode.window.createOutputChannel("Agent Voice", { log: true });
  private readonly status = vscode.window.createStatusBarItem("agentvoice.state", vscode.StatusBarAlignment.Right, 100);
  private readonly messages = new vscode.EventEmitter<Message>();
  readonly onMessage = this.messages.event;
  private readonly engine: Engine;
  private readonly panel: Panel;
  private readonly tools: Tools;
  private readonly watcher = new Watcher((changes) => void this.tell(changes));
  private readonly announcer = new Announcer();
  private current: Shown = nothing;
  private active = false;
  private requests = 0;
  private talking = false;
  private renewal: Promise<void> = Promise.resolve();
  /** It is over when the messages of a new engine are followed. */
  private following: Promise<void> = Promise.resolve();
  /** The number of the extension's own stream, and of the last message on it. */
  private stream = 0;
  private last = 0;

  constructor(context: vscode.ExtensionContext) {
    this.context = context;
    this.engine = new Engine(enginePath(context), this);
    this.panel = new Panel(context.extensionUri, { follow: (p) => this.follow(p), unfollow: (p) => this.unfollow(p), command: (c) => this.fromPanel(c) });
    this.tools = new Tools((context.extension.packageJSON as { contributes: { languageModelTools: [] } }).contributes.languageModelTools);
    this.tools.register();
    this.status.name = "Agent Voice";
    this.status.show();
    this.draw();
    context.subscriptions.push(
      this.output, this.status, this.messages, this.watcher, this.tools,
      vscode.window.registerWebviewViewProvider("agentvoice.panel", this.panel, { webviewOptions: { retainContextWhenHidden: true } }),
      participant.register({ say: (text) => this.say(text), interrupt: () => this.command({ type: "interrupt" }), onMessage: this.onMessage }, vscode.Uri.joinPath(context.extensionUri, "media", "view.svg")),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.tools.register();
        void this.renew();
      }),
      vscode.workspace.onDidChangeConfiguration((e) => affects(e) && void this.renew()),
    );
    this.registerCommands();
  }

  private registerCommands(): void {
    const on = (name: string, run: () => unknown) => {
      this.context.subscriptions.push(vscode.commands.registerCommand(`agentvoice.${name}`, async () => {
        try {
          return await run();
        } catch (err) {
          this.complain(err);
        }
      }));
    };
    on("start", () => this.start("voice"));
    on("startText", () => this.start("text"));
    on("stop", () => this.command({ type: "endConversation", reason: "user" }));
    on("interrupt", () => this.command({ type: "interrupt" }));
    on("mute", () => this.engine.request("conversation/mute", { muted: true }));
    on("unmute", () => this.engine.request("conversation/mute", { muted: false }));
    on("talk", () => this.hold(!this.talking));
    on("panel", () => vscode.commands.executeCommand("agentvoice.panel.focus"));
    on("context", () => this.showContext());
    on("log", () => this.output.show());
    on("restart", () => this.engine.restart());
  }

  /** start begins a conversation. By voice a page of the engine is opened, which has the microphone. */
  private async start(transport: Start["transport"]): Promise<void> {
    await this.renewal;
    await this.engine.start();
    await this.following; // what a conversation tells before is not seen
    if (get("model", "copilot") === "copilot") {
      await consent(this.context.languageModelAccessInformation, {
        none: vscode.l10n.t("There is no language model. Sign in to GitHub Copilot."),
        why: vscode.l10n.t("Agent Voice sends what you say, and the code you speak about, to the model, and reads its answers aloud."),
        refused: vscode.l10n.t("Agent Voice may not use Copilot. Allow it under Manage Language Model Access."),
      });
    }
    await vscode.commands.executeCommand("agentvoice.panel.focus");
    const hold = get<string>("microphone", "handsFree") === "holdToTalk";
    this.talking = false;
    const started = await this.request<Started>("conversation/start", {
      transport, hold, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...(transport === "text" && { context: now() }),
    } satisfies Start);
    if (!started.page) return;
    const [page = "", token = ""] = started.page.split("#");
    const external = await vscode.env.asExternalUri(vscode.Uri.parse(page));
    await vscode.env.openExternal(external.with({ fragment: token }));
  }

  /** request makes a request; it explains what is no fault. */
  private async request<R>(method: string, params: object): Promise<R> {
    try {
      return await this.engine.request<R>(method, params);
    } catch (err) {
      const code = err instanceof ResponseError ? err.code : 0;
      if (code === codes.active) throw new Error(vscode.l10n.t("A conversation is running in this window already."));
      if (code === codes.none) throw new Error(vscode.l10n.t("No conversation is running."));
      if (code === codes.noSpeech) throw new Error(vscode.l10n.t("This engine cannot hear or speak this language. Start by text, or name services of speech in a config."));
      throw err;
    }
  }

  command(c: Command): Promise<void> {
    return this.request("conversation/command", c);
  }

  /** hold opens the microphone and the user's turn, or ends both: the key is pressed once for each, since an editor tells of no key that is released. */
  private async hold(pressed: boolean): Promise<void> {
    await this.request("conversation/hold", { pressed });
    this.talking = pressed;
  }

  async say(text: string): Promise<number> {
    if (!this.active) await this.start("text");
    const before = this.last;
    await this.command({ type: "send_text", text });
    return before;
  }

  private async fromPanel(c: Command): Promise<void> {
    try {
      if (c.type === "send_text" && !this.active && typeof c.text === "string") await this.say(c.text);
      else await this.command(c);
    } catch (err) {
      this.complain(err);
    }
  }

  private async tell(changes: object): Promise<void> {
    try {
      await this.engine.request("conversation/context", changes);
    } catch (err) {
      this.output.debug(`context: ${String(err)}`); // the conversation has ended meanwhile
    }
  }

  private async showContext(): Promise<void> {
    const content = JSON.stringify(now(), null, 2);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "json", content }), { preview: true });
  }

  /** complain shows what went wrong, once. */
  private complain(err: unknown): void {
    const message = err instanceof Error ? err.message : String(err);
    this.output.error(message);
    void vscode.window.showErrorMessage(`Agent Voice: ${message}`, vscode.l10n.t("Show log")).then((more) => more && this.output.show());
  }

  /** renew applies other settings: with a new engine, when no conversation runs. */
  private async renew(): Promise<void> {
    if (!this.engine.running) return;
    if (this.active) {
      void vscode.window.showInformationMessage(vscode.l10n.t("The settings of Agent Voice apply to the next conversation after the engine is restarted."), vscode.l10n.t("Restart now")).then((yes) => yes && vscode.commands.executeCommand("agentvoice.restart"));
      return;
    }
    // Settings that change meanwhile have a turn of their own.
    this.renewal = this.renewal.then(() => (this.active ? undefined : this.engine.restart())).catch((err: unknown) => this.complain(err));
    await this.renewal;
  }

  private async follow(p: Panel): Promise<void> {
    try {
      this.unfollow(p);
      // The stream's first messages may come with the answer.
      const waiting: Told[] = [];
      this.early.set(p, waiting);
      const { stream } = await this.engine.request<{ stream: number }>("follow", { steps: true });
      p.stream = stream;
      this.early.delete(p);
      for (const m of waiting) if (m.stream === stream) p.post(m.conversation, m.message);
    } catch (err) {
      this.complain(err);
    }
  }

  private readonly early = new Map<Panel, Told[]>();

  private unfollow(p: Panel): void {
    if (p.stream !== 0 && this.engine.running) void this.engine.request("unfollow", { stream: p.stream });
    p.stream = 0;
  }

  // What the engine asks and tells.

  initialize() {
    return {
      version, editor: { name: vscode.env.appName, version: vscode.version }, language: vscode.env.language,
      trusted: vscode.workspace.isTrusted, settings: settingsOf(), tools: this.tools.offered(),
    };
  }

  reply(r: ReplyRequest, part: (p: Part) => void, token: CancellationToken): Promise<void> {
    this.requests++;
    return reply(r, part, token);
  }

  async call(c: CallRequest, token: CancellationToken): Promise<string> {
    const stop = new vscode.CancellationTokenSource();
    const heard = token.onCancellationRequested(() => stop.cancel());
    try {
      return await this.tools.call(c, stop.token);
    } finally {
      heard.dispose();
      stop.dispose();
    }
  }

  told(m: Told): void {
    for (const waiting of this.early.values()) waiting.push(m);
    if (m.stream === this.panel.stream) this.panel.post(m.conversation, m.message);
    if (m.stream !== this.stream) return;
    this.last = m.message.seq;
    this.current = show(this.current, m.message);
    this.messages.fire(m.message);
    if (m.message.type === "agentvoice.notification" && this.announcer.fresh(m.conversation, m.message.seq)) this.notify(m.message);
    this.draw();
  }

  /** notify tells what the panel does not show because nobody sees it. */
  private notify(m: Message): void {
    if (this.panel.visible || m.payload.level === "info") return;
    void vscode.window.showWarningMessage(`Agent Voice: ${String(m.payload.message)}`);
  }

  changed(c: Changed): void {
    this.active = c.event === "started";
    if (this.active) {
      this.current = nothing;
      this.last = 0;
      this.watcher.start();
      if (c.info.transport !== "text") void this.tell(now());
    } else {
      this.watcher.stop();
      this.talking = false;
    }
    this.draw();
  }

  up(i: Initialized): void {
    this.output.info(`engine ${i.engine}, ${i.url}, speech: ${i.speech}`);
    for (const note of i.notes) this.output.warn(note);
    this.panel.stream = 0;
    this.following = this.followAll().catch((err: unknown) => this.complain(err));
  }

  private async followAll(): Promise<void> {
    this.stream = (await this.engine.request<{ stream: number }>("follow")).stream;
    if (this.panel.visible) {
      this.panel.reset();
      await this.follow(this.panel);
    }
  }

  down(why: string | undefined): void {
    this.stream = 0;
    this.panel.stream = 0;
    this.active = false;
    this.current = nothing;
    this.watcher.stop();
    this.draw();
    if (why) this.complain(new Error(vscode.l10n.t("The engine has ended and is started again: {0}", why)));
  }

  log(line: string): void {
    if (line.trim() !== "") this.output.info(line);
  }

  private draw(): void {
    const { state, label, muted } = this.current;
    const idle = vscode.l10n.t("Voice");
    this.status.text = statusText(this.current, this.active, idle);
    this.status.tooltip = this.active ? label : vscode.l10n.t("Start a conversation with Agent Voice");
    this.status.accessibilityInformation = { label: `Agent Voice: ${this.active ? label : idle}`, role: "button" };
    this.status.command = !this.active ? "agentvoice.start" : state === "speaking" ? "agentvoice.interrupt" : "agentvoice.panel";
    const keys = { active: this.active, state, muted };
    for (const [key, value] of Object.entries(keys)) void vscode.commands.executeCommand("setContext", `agentvoice.${key}`, value);
  }

  // What tests see.

  shown() {
    return { ...this.current, active: this.active, requests: this.requests };
  }

  details(): Promise<unknown> {
    return this.engine.request("conversation/show");
  }

  async dispose(): Promise<void> {
    await this.engine.stop();
  }
}

/** enginePath is the program: that of the setting, or that of this package. */
function enginePath(context: vscode.ExtensionContext): string {
  const own = vscode.workspace.getConfiguration("agentvoice").get<string>("enginePath", "").trim();
  if (own !== "") return own;
  const bundled = vscode.Uri.joinPath(context.extensionUri, "bin", process.platform === "win32" ? "hocket.exe" : "hocket").fsPath;
  return existsSync(bundled) ? bundled : "hocket";
}

let own: Extension | undefined;
export async function deactivate(): Promise<void> {
  await own?.dispose();
}
