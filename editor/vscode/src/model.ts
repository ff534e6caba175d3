// The model of the editor's user: vscode.lm, which Copilot provides.

import * as vscode from "vscode";
import { ResponseError, type CancellationToken } from "vscode-jsonrpc/node";
import type { Part, ReplyRequest } from "./protocol.ts";
import { get } from "./settings.ts";

/** The code of an error whose code is in its data. */
const failed = -32000;

/** A failure with the code of a LanguageModelError. */
export const failure = (code: string, message: string) => new ResponseError(failed, message, { code });

/** choose returns the model to ask; undefined: there is none. */
async function choose(): Promise<vscode.LanguageModelChat | undefined> {
  const family = get("modelFamily", "").trim();
  const [model] = await vscode.lm.selectChatModels({ vendor: "copilot", ...(family && { family }) });
  return model;
}

/**
 * consent asks the user for the model where the editor has not done so yet: it does
 * with the first request, and only for what the user has just done. It throws what the
 * editor answers.
 */
export async function consent(access: vscode.LanguageModelAccessInformation, words: { none: string; why: string; refused: string }): Promise<void> {
  const model = await choose();
  if (!model) throw failure("NotFound", words.none);
  const may = access.canSendRequest(model);
  if (may === true) return;
  if (may === false) throw failure("NoPermissions", words.refused);
  const stop = new vscode.CancellationTokenSource();
  try {
    const answer = await model.sendRequest([vscode.LanguageModelChatMessage.User("Answer with: ok")], { justification: words.why }, stop.token);
    for await (const _ of answer.stream) break;
  } finally {
    stop.cancel();
    stop.dispose();
  }
}

/** reply asks the model and hands on the parts of its answer. */
export async function reply(r: ReplyRequest, part: (p: Part) => void, token: CancellationToken): Promise<void> {
  const model = await choose();
  if (!model) throw failure("NotFound", vscode.l10n.t("There is no language model. Sign in to GitHub Copilot."));
  // The editor sends a request whose token is cancelled already.
  if (token.isCancellationRequested) return;
  const stop = new vscode.CancellationTokenSource();
  const heard = token.onCancellationRequested(() => stop.cancel());
  try {
    const answer = await model.sendRequest(r.messages.map(messageOf), optionsOf(r), stop.token);
    for await (const p of answer.stream) {
      // A provider may go on; nobody listens any more.
      if (token.isCancellationRequested) return;
      if (p instanceof vscode.LanguageModelTextPart) part({ text: p.value });
      else if (p instanceof vscode.LanguageModelToolCallPart) part({ call: { id: p.callId, name: p.name, input: p.input as Record<string, unknown> } });
    }
  } catch (err) {
    if (token.isCancellationRequested) return;
    if (err instanceof vscode.LanguageModelError) throw failure(err.code, err.message);
    throw failure("", err instanceof Error ? err.message : String(err));
  } finally {
    heard.dispose();
    stop.dispose();
  }
}

function messageOf(m: ReplyRequest["messages"][number]): vscode.LanguageModelChatMessage {
  if (m.role === "assistant") {
    const parts = m.parts.map((p) => (p.call ? new vscode.LanguageModelToolCallPart(p.call.id, p.call.name, p.call.input) : new vscode.LanguageModelTextPart(p.text ?? "")));
    return vscode.LanguageModelChatMessage.Assistant(parts);
  }
  const parts = m.parts.map((p) => (p.result ? new vscode.LanguageModelToolResultPart(p.result.id, [new vscode.LanguageModelTextPart(p.result.text)]) : new vscode.LanguageModelTextPart(p.text ?? "")));
  return vscode.LanguageModelChatMessage.User(parts);
}

function optionsOf(r: ReplyRequest): vscode.LanguageModelChatRequestOptions {
  if (!r.tools || r.tools.length === 0) return {};
  return {
    tools: r.tools.map((t) => ({ name: t.name, description: t.description, ...(t.schema && { inputSchema: t.schema }) })),
    toolMode: r.required ? vscode.LanguageModelChatToolMode.Required : vscode.LanguageModelChatToolMode.Auto,
  };
}
