// The panel: that of the engine's server, in its host mode. It shows the conversation
// and has no microphone. What it shows comes from a stream of its own, which tells the
// conversation from its beginning.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Command, Message } from "./protocol.ts";

/** What the panel needs of the extension. */
export interface Owner {
  follow(panel: Panel): Promise<void>;
  unfollow(panel: Panel): void;
  command(c: Command): Promise<void>;
}

export class Panel implements vscode.WebviewViewProvider {
  private readonly uri: vscode.Uri;
  private readonly owner: Owner;
  private view: vscode.WebviewView | undefined;
  private conversation = "";
  /** The engine's number of the stream; 0: there is none. */
  stream = 0;

  constructor(uri: vscode.Uri, owner: Owner) {
    this.uri = uri;
    this.owner = owner;
  }

  get visible(): boolean {
    return this.view?.visible === true;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.uri, "dist"), vscode.Uri.joinPath(this.uri, "media")] };
    view.webview.onDidReceiveMessage((m: unknown) => this.received(m));
    view.onDidDispose(() => {
      this.view = undefined;
      this.owner.unfollow(this);
    });
    view.webview.html = this.page(view.webview);
  }

  /** post shows a message. */
  post(conversation: string, m: Message): void {
    if (conversation !== this.conversation) {
      if (this.conversation !== "") this.send({ type: "hocket.reset" });
      this.conversation = conversation;
    }
    this.send(m);
  }

  /** reset forgets what was shown: it comes again. */
  reset(): void {
    this.conversation = "";
    this.send({ type: "hocket.reset" });
  }

  private send(m: object): void {
    void this.view?.webview.postMessage(m);
  }

  private received(m: unknown): void {
    const { type, payload } = (m ?? {}) as { type?: unknown; payload?: unknown };
    if (type === "hocket.ready") {
      this.conversation = "";
      void this.owner.follow(this);
    } else if (type === "hocket.command" && typeof payload === "object" && payload !== null && typeof (payload as Command).type === "string") {
      void this.owner.command(payload as Command);
    }
  }

  private page(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString("base64url");
    const at = (...path: string[]) => String(webview.asWebviewUri(vscode.Uri.joinPath(this.uri, ...path)));
    const policy = `default-src 'none'; img-src ${webview.cspSource}; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
    return `<!doctype html>
<html lang="${vscode.env.language}">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Agent Voice</title>
    <link rel="stylesheet" href="${at("dist", "panel.css")}">
    <link rel="stylesheet" href="${at("media", "host.css")}">
    <script type="module" nonce="${nonce}" src="${at("dist", "panel.js")}"></script>
  </head>
  <body><div id="panel"></div></body>
</html>`;
  }
}
