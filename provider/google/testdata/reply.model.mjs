// Google's client for Node, unmodified, against the fake: prints what it understands.
import { createRequire } from "node:module";
const require = createRequire(process.env.CLIENT_HOME + "/");
const { GoogleGenAI } = require("@google/genai");

const seen = { text: "", calls: [], after: "", usage: [], stop: "", error: null };
const declared = { name: "book", description: "books", parametersJsonSchema: { type: "object", properties: { to: { type: "string" } } } };
const client = new GoogleGenAI({ apiKey: process.env.KEY, httpOptions: { baseUrl: process.env.URL } });
const ask = (contents, tools) =>
  client.models.generateContentStream({ model: "fake-1", contents, config: { systemInstruction: "Be brief.", maxOutputTokens: 100, tools } });
try {
  for await (const chunk of await ask("Hello?")) if (chunk.text) seen.text += chunk.text + "|";
  const tools = [{ functionDeclarations: [declared] }];
  const contents = [{ role: "user", parts: [{ text: "Book it." }] }];
  const parts = [];
  for await (const chunk of await ask(contents, tools)) {
    const c = chunk.candidates[0];
    parts.push(...(c.content?.parts ?? []).filter((p) => p.functionCall));
    if (c.finishReason) {
      const u = chunk.usageMetadata;
      seen.stop = c.finishReason;
      seen.usage = [u.promptTokenCount - u.cachedContentTokenCount, u.cachedContentTokenCount, u.candidatesTokenCount + u.thoughtsTokenCount];
    }
  }
  seen.calls = parts.map((p) => [p.functionCall.name, p.functionCall.args]);
  contents.push({ role: "model", parts });
  contents.push({
    role: "user",
    parts: parts.map(({ functionCall: c }) => ({ functionResponse: { id: c.id, name: c.name, response: { output: "done" } } })),
  });
  for await (const chunk of await ask(contents, tools)) seen.after += chunk.text ?? "";
} catch (e) {
  seen.error = `${e.status} ${e.constructor.name}`;
}
console.log(JSON.stringify(seen));
