// A stand-in for GitHub Copilot: the model of vendor "copilot", whose manner a test
// chooses, and a port on which a test runs code in the extension host.

"use strict";
const http = require("node:http");
const vscode = require("vscode");

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** What a test sees and sets. */
const fake = { mode: "polite", requests: [], stopped: 0, finished: 0, answers: {}, gap: 40 };

const said = (message) => message.content.map((p) => p.value ?? "").join("");
const isResult = (message) => message.content.some((p) => p instanceof vscode.LanguageModelToolResultPart);

/** answer is one answer in the manner that the test has chosen. */
async function answer(messages, options, progress, token) {
  const last = messages[messages.length - 1];
  const text = said(last);
  fake.requests.push({ text, tools: (options.tools ?? []).map((t) => t.name), messages: messages.length, all: messages.map(said).join("\n") });
  if (/Answer with: ok$/.test(text)) return progress.report(new vscode.LanguageModelTextPart("ok"));
  const say = async (words, deaf) => {
    for (const word of words.split(/(?<= )/)) {
      if (token.isCancellationRequested && !deaf) {
        fake.stopped++;
        return;
      }
      progress.report(new vscode.LanguageModelTextPart(word));
      await pause(fake.gap);
    }
    fake.finished++;
  };
  const long = "This is a long answer. It goes on and on, about the function and what it returns. It tells of the loop in it, and how often that runs. It tells of the error that nobody checks. It tells of the test that is not there. It does not stop by itself for quite a while.";
  switch (fake.mode) {
    case "polite": return say(fake.answers.polite ?? "The loop never ends. Add a break.");
    case "long": return say(long);
    case "stubborn": await say(long, true); return say("Nobody hears this.", true);
    case "blocked": throw vscode.LanguageModelError.Blocked("the quota is used up");
    case "refused": throw vscode.LanguageModelError.NoPermissions("the user has said no");
    case "midfail": progress.report(new vscode.LanguageModelTextPart("It is ")); await pause(60); throw new Error("the stream broke");
    case "silent": while (!token.isCancellationRequested) await pause(20); return;
    case "tool": {
      if (isResult(last)) {
        const result = last.content.flatMap((p) => (p instanceof vscode.LanguageModelToolResultPart ? p.content.map((c) => c.value ?? "") : [])).join("");
        fake.result = result;
        return say(fake.answers.tool ?? "It is done.");
      }
      return progress.report(new vscode.LanguageModelToolCallPart(`call-${fake.requests.length}`, fake.call.name, fake.call.input));
    }
    default: throw new Error(`unknown mode ${fake.mode}`);
  }
}

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("copilot", {
    async provideLanguageModelChatInformation() {
      return [{ id: "stand-in", name: "Stand-in", family: "stand-in", version: "1", isDefault: true, isUserSelectable: true, maxInputTokens: 100_000, maxOutputTokens: 4000, capabilities: { toolCalling: true } }];
    },
    provideLanguageModelChatResponse: (_model, messages, options, progress, token) => answer(messages, options, progress, token),
    async provideTokenCount(_model, text) { return (typeof text === "string" ? text : said(text)).length >> 2; },
  }));
  // The port is of this machine, and only a test sets it.
  const port = Number(process.env.HOCKET_TEST_BRIDGE);
  if (!port) return;
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const server = http.createServer((request, response) => {
    let code = "";
    request.setEncoding("utf8").on("data", (d) => (code += d)).on("end", async () => {
      try {
        const extension = vscode.extensions.getExtension("hocketvoice.agent-voice");
        const run = new AsyncFunction("vscode", "fake", "extension", "pause", code);
        response.end(JSON.stringify({ result: (await run(vscode, fake, extension, pause)) ?? null }));
      } catch (err) {
        response.end(JSON.stringify({ error: String((err && err.stack) || err) }));
      }
    });
  });
  server.listen(port, "127.0.0.1");
  context.subscriptions.push({ dispose: () => server.close() });
};
