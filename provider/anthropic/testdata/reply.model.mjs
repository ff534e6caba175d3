// Anthropic's client for Node, unmodified, against the fake: prints what it understands.
import { createRequire } from "node:module";
const require = createRequire(process.env.CLIENT_HOME + "/");
const Anthropic = require("@anthropic-ai/sdk").default;

const seen = { text: "", calls: [], after: "", usage: [], stop: "", error: null };
const tools = [{ name: "book", description: "books", input_schema: { type: "object", properties: { to: { type: "string" } } } }];
const client = new Anthropic({ apiKey: process.env.KEY, baseURL: process.env.URL, maxRetries: 0 });
try {
  const common = { model: "fake-1", max_tokens: 100, system: "Be brief." };
  const stream = client.messages.stream({ ...common, messages: [{ role: "user", content: "Hello?" }] });
  stream.on("text", (t) => (seen.text += t + "|"));
  await stream.finalMessage();
  const messages = [{ role: "user", content: "Book it." }];
  const m = await client.messages.stream({ ...common, messages, tools }).finalMessage();
  const calls = m.content.filter((b) => b.type === "tool_use");
  seen.calls = calls.map((b) => [b.name, b.input]);
  seen.stop = m.stop_reason;
  seen.usage = [m.usage.input_tokens, m.usage.cache_read_input_tokens, m.usage.output_tokens];
  const own = m.content.map(({ type, text, id, name, input }) => ({ type, text, id, name, input }));
  messages.push({ role: "assistant", content: own });
  messages.push({ role: "user", content: calls.map((b) => ({ type: "tool_result", tool_use_id: b.id, content: "done" })) });
  seen.after = await client.messages.stream({ ...common, messages, tools }).finalText();
} catch (e) {
  seen.error = `${e.status} ${e.constructor.name}`;
}
console.log(JSON.stringify(seen));
