// What the user has in front of them: told to the conversation as data, when it changes.

import * as vscode from "vscode";
import { contextOf, type Problem, type Seen } from "./bounds.ts";
import { get } from "./settings.ts";

/** The lines around the cursor that are told, above and below. */
const around = 20;
/** Changes are told when there has been none for so long, in milliseconds. */
const pause = 200;

/** Watcher tells what the user sees, while it is on. */
export class Watcher implements vscode.Disposable {
  private readonly tell: (changes: object) => void;
  private readonly listeners: vscode.Disposable[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = "";

  constructor(tell: (changes: object) => void) {
    this.tell = tell;
  }

  /** start tells what changes from now on. What there is now is told with the start of a conversation. */
  start(): void {
    this.stop();
    const soon = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), pause);
    };
    this.listeners.push(
      vscode.window.onDidChangeActiveTextEditor(soon),
      vscode.window.onDidChangeTextEditorSelection(soon),
      vscode.languages.onDidChangeDiagnostics(soon),
      vscode.workspace.onDidChangeTextDocument(soon),
    );
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const l of this.listeners.splice(0)) l.dispose();
    this.last = "";
  }

  dispose(): void {
    this.stop();
  }

  private look(): void {
    const changes = now();
    const text = JSON.stringify(changes);
    if (text === this.last) return;
    this.last = text;
    this.tell(changes);
  }
}

/** now is what the user sees; nothing where the setting forbids it. */
export function now(): object {
  return contextOf(get("context", true) ? seen() : undefined);
}

function seen(): Seen | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !["file", "vscode-remote", "untitled", "vscode-vfs"].includes(editor.document.uri.scheme)) return undefined;
  const { document, selection } = editor;
  const line = selection.active.line;
  const lines = new vscode.Range(Math.max(0, line - around), 0, Math.min(document.lineCount, line + around + 1), 0);
  return {
    path: vscode.workspace.asRelativePath(document.uri),
    language: document.languageId,
    line: line + 1,
    selection: document.getText(selection),
    around: document.getText(lines),
    problems: vscode.languages.getDiagnostics(document.uri).map(problemOf),
  };
}

const severities = ["error", "warning", "information", "hint"];

function problemOf(d: vscode.Diagnostic): Problem {
  return { line: d.range.start.line + 1, severity: severities[d.severity] ?? "error", message: d.message };
}
