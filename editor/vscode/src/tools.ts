// The tools of the editor, for the conversation's model and for others
// (vscode.lm.registerTool). They are there in trusted workspaces alone; what changes
// something is shown first, and done when the user says so.

import * as vscode from "vscode";
import { inside, InputError, replaced } from "./edits.ts";
import { failure } from "./model.ts";
import type { CallRequest, ToolSpec } from "./protocol.ts";
import { get } from "./settings.ts";

/** A tool as package.json declares it. */
interface Declared {
  name: string;
  modelDescription: string;
  inputSchema: object;
}

type Input = Record<string, unknown>;
type Run = (input: Input, token: vscode.CancellationToken) => Promise<string>;

/** The limits of a search. */
const most = { files: 2000, hits: 20, size: 256 << 10, line: 200 };

/** Tools are those of package.json. */
export class Tools implements vscode.Disposable {
  private readonly declared: readonly Declared[];
  private registered: vscode.Disposable[] = [];
  private readonly previews = new Previews();
  private readonly runs: Record<string, Run> = {
    agentvoice_open: (i) => open(i),
    agentvoice_search: (i, token) => search(i, token),
    agentvoice_edit: (i, token) => edit(i, this.previews, token),
    agentvoice_task: (i, token) => task(i, token),
    agentvoice_test: (_, token) => test(token),
  };

  constructor(declared: readonly Declared[]) {
    this.declared = declared;
  }

  /** offered are the tools that the conversation may use now. */
  offered(): ToolSpec[] {
    if (!vscode.workspace.isTrusted || !get("tools", true)) return [];
    const changing = ["agentvoice_edit", "agentvoice_task", "agentvoice_test"];
    return this.declared.map((t) => ({ name: t.name, description: t.modelDescription, schema: t.inputSchema, irreversible: changing.includes(t.name) }));
  }

  /** register offers the tools to others too. It does nothing in a workspace that is not trusted. */
  register(): void {
    if (!vscode.workspace.isTrusted || this.registered.length > 0) return;
    for (const t of this.declared) {
      const run = this.runs[t.name];
      if (!run) throw new Error(`package.json declares ${t.name}, which is not there`);
      this.registered.push(vscode.lm.registerTool<Input>(t.name, {
        invoke: async (o, token) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await this.run(t.name, o.input, token))]),
      }));
    }
  }

  /** call runs a tool for the conversation. */
  async call(c: CallRequest, token: vscode.CancellationToken): Promise<string> {
    try {
      return await this.run(c.name, c.input, token);
    } catch (err) {
      throw failure(err instanceof InputError ? "INVALID_ARGS" : "TOOL_ERROR", err instanceof Error ? err.message : String(err));
    }
  }

  private async run(name: string, input: Input, token: vscode.CancellationToken): Promise<string> {
    // Trust may have been taken back since the tools were announced.
    if (!vscode.workspace.isTrusted) throw new Error("the user does not trust this workspace: nothing was done");
    const run = this.runs[name];
    if (!run || !this.declared.some((t) => t.name === name)) throw new Error(`there is no tool ${name}`);
    return run(input, token);
  }

  dispose(): void {
    for (const d of this.registered.splice(0)) d.dispose();
    this.previews.dispose();
  }
}

function textOf(input: Input, name: string, otherwise?: string): string {
  const v = input[name] ?? otherwise;
  if (typeof v !== "string") throw new InputError(`${name} must be a text`);
  return v;
}

/** uriOf is the file of the workspace that a path names. */
function uriOf(path: string): vscode.Uri {
  const folders = vscode.workspace.workspaceFolders;
  if (!folders?.[0]) throw new Error("no folder is open");
  const clean = inside(path);
  // In a workspace of several folders paths begin with the folder's name.
  const [first, ...rest] = clean.split("/");
  const named = folders.length > 1 ? folders.find((f) => f.name === first) : undefined;
  return named && rest.length > 0 ? vscode.Uri.joinPath(named.uri, ...rest) : vscode.Uri.joinPath(folders[0].uri, clean);
}

async function open(input: Input): Promise<string> {
  const path = textOf(input, "path");
  const document = await vscode.workspace.openTextDocument(uriOf(path));
  const line = input.line === undefined ? undefined : Number(input.line);
  if (line !== undefined && !(line >= 1 && line <= document.lineCount)) throw new InputError(`line is ${String(input.line)}: the file has ${document.lineCount}`);
  const shown = await vscode.window.showTextDocument(document, { preview: true });
  if (line === undefined) return `${path} is open; it has ${document.lineCount} lines`;
  const range = document.lineAt(line - 1).range;
  shown.selection = new vscode.Selection(range.start, range.start);
  shown.revealRange(range, vscode.TextEditorRevealType.InCenter);
  const text = document.getText(new vscode.Range(Math.max(0, line - 6), 0, line + 20, 0));
  return `${path} is open at line ${line}:\n${text}`;
}

async function search(input: Input, token: vscode.CancellationToken): Promise<string> {
  const query = textOf(input, "query").toLowerCase();
  if (query === "") throw new InputError("query must not be empty");
  const files = await vscode.workspace.findFiles(textOf(input, "files", "**/*"), "**/{node_modules,.git,dist,out,build,vendor}/**", most.files, token);
  const hits: string[] = [];
  for (const uri of files) {
    if (token.isCancellationRequested || hits.length >= most.hits) break;
    const text = await read(uri);
    text?.split("\n").forEach((line, i) => {
      if (hits.length < most.hits && line.toLowerCase().includes(query)) hits.push(`${vscode.workspace.asRelativePath(uri)}:${i + 1}: ${line.trim().slice(0, most.line)}`);
    });
  }
  return hits.length > 0 ? hits.join("\n") : "nothing was found";
}

/** read is the text of a file; undefined if it is large, or no text. */
async function read(uri: vscode.Uri): Promise<string | undefined> {
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > most.size) return undefined;
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // it is gone
  }
}

/** edit shows a change beside what there is, and makes it if the user accepts. */
async function edit(input: Input, previews: Previews, token: vscode.CancellationToken): Promise<string> {
  const path = textOf(input, "path");
  const uri = uriOf(path);
  const before = textOf(input, "old");
  const after = textOf(input, "new");
  const document = await vscode.workspace.openTextDocument(uri);
  const version = document.version;
  const change = replaced(document.getText(), before, after);
  const preview = previews.add(path, change.text);
  await vscode.commands.executeCommand("vscode.diff", uri, preview, vscode.l10n.t("{0}: proposed change", path), { preview: true });
  const yes = await ask(vscode.l10n.t("Apply the proposed change to {0}?", path), vscode.l10n.t("Apply"), token);
  await previews.close(preview);
  if (!yes) return "the user has refused the change: nothing was changed";
  if (document.version !== version) return "the file has changed meanwhile: nothing was changed";
  const e = new vscode.WorkspaceEdit();
  e.replace(uri, new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length)), change.text);
  if (!(await vscode.workspace.applyEdit(e))) throw new Error("the editor has refused the change");
  await vscode.window.showTextDocument(document, { preview: true });
  return `${path} was changed, and is not saved yet`;
}

/** ask asks the user; no answer is no. */
async function ask(question: string, yes: string, token: vscode.CancellationToken): Promise<boolean> {
  const answer = vscode.window.showInformationMessage(question, yes, vscode.l10n.t("Refuse"));
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  return (await Promise.race([answer, cancelled])) === yes && vscode.workspace.isTrusted;
}

async function task(input: Input, token: vscode.CancellationToken): Promise<string> {
  const name = textOf(input, "name");
  const all = await vscode.tasks.fetchTasks();
  const found = all.find((t) => t.name === name) ?? all.find((t) => t.name.toLowerCase() === name.toLowerCase());
  if (!found) throw new InputError(`there is no task ${JSON.stringify(name)}: expected one of ${all.map((t) => t.name).slice(0, 30).join(", ") || "none"}`);
  if (!(await ask(vscode.l10n.t("Run the task {0}?", found.name), vscode.l10n.t("Run"), token))) return "the user has refused: the task was not run";
  const over = new Promise<number | undefined>((done) => {
    const listeners = [
      vscode.tasks.onDidEndTaskProcess((e) => e.execution.task.name === found.name && end(e.exitCode)),
      token.onCancellationRequested(() => end(undefined)),
    ];
    function end(code: number | undefined) {
      for (const l of listeners) l.dispose();
      done(code);
    }
  });
  await vscode.tasks.executeTask(found);
  const code = await over;
  return code === undefined ? `the task ${found.name} was started` : `the task ${found.name} has ended with the exit status ${code}`;
}

async function test(token: vscode.CancellationToken): Promise<string> {
  if (!(await ask(vscode.l10n.t("Run all tests?"), vscode.l10n.t("Run"), token))) return "the user has refused: no test was run";
  await vscode.commands.executeCommand("testing.runAll");
  return "the tests were started; their results are in the Testing view";
}

/** Previews are the texts of changes that are not made yet. */
class Previews implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider("agentvoice-preview", this);
  private next = 0;

  add(path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: "agentvoice-preview", path: `/${path}`, query: String(++this.next) });
    this.texts.set(uri.toString(), text);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** close closes the tabs that show a preview. */
  async close(uri: vscode.Uri): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((t) => t.input instanceof vscode.TabInputTextDiff && t.input.modified.toString() === uri.toString());
    await vscode.window.tabGroups.close(tabs);
    this.texts.delete(uri.toString());
  }

  dispose(): void {
    this.registration.dispose();
  }
}
