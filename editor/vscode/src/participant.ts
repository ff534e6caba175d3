// @voice: the conversation in the Chat view.

import * as vscode from "vscode";
import type { Message } from "./protocol.ts";
import { Spoken } from "./shown.ts";

/** What the participant needs of the extension. */
export interface Conversation {
  /** say sends a line; a conversation by text begins if there is none. It returns the number of the last message before it. */
  say(text: string): Promise<number>;
  interrupt(): Promise<void>;
  onMessage: vscode.Event<Message>;
}

/** register registers @voice. */
export function register(c: Conversation, icon: vscode.Uri): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant("agentvoice.voice", async (request, _context, response, token) => {
    const prompt = request.prompt.trim();
    if (prompt === "") {
      response.markdown(vscode.l10n.t("Say or write something to the conversation, such as: @voice what is wrong here?"));
      return;
    }
    const early: Message[] = [];
    let take = (m: Message) => void early.push(m);
    const listening = c.onMessage((m) => take(m));
    try {
      const spoken = new Spoken(await c.say(prompt));
      await new Promise<void>((done) => {
        take = (m) => {
          const { words, done: over } = spoken.take(m);
          if (words !== "") response.markdown(words);
          if (over) done();
        };
        for (const m of early) take(m);
        token.onCancellationRequested(() => {
          void c.interrupt();
          done();
        });
      });
    } catch (err) {
      return { errorDetails: { message: err instanceof Error ? err.message : String(err) } };
    } finally {
      listening.dispose();
    }
    return {};
  });
  participant.iconPath = icon;
  return participant;
}
