// OpenAI's client for Node, unmodified, against the fake of the Responses API: prints what it understands.
import { createRequire } from "node:module";
const require = createRequire(process.env.CLIENT_HOME + "/");
const OpenAI = require("openai").default;

const seen = { text: "", calls: [], after: "", usage: [], stop: "", error: null };
const tools = [{ type: "function", name: "book", description: "books", strict: false, parameters: { type: "object", properties: { to: { type: "string" } } } }];
const client = new OpenAI({ apiKey: process.env.KEY, baseURL: process.env.URL + "/v1", maxRetries: 0 });
try {
  const common = { model: "fake-1", max_output_tokens: 100, instructions: "Be brief.", store: false };
  for await (const event of client.responses.stream({ ...common, input: "Hello?" })) {
    if (event.type === "response.output_text.delta") seen.text += event.delta + "|";
  }
  const input = [{ role: "user", content: "Book it." }];
  const r = await client.responses.stream({ ...common, input, tools }).finalResponse();
  const calls = r.output.filter((o) => o.type === "function_call");
  seen.calls = calls.map((c) => [c.name, JSON.parse(c.arguments)]);
  seen.stop = r.status;
  const u = r.usage;
  seen.usage = [u.input_tokens - u.input_tokens_details.cached_tokens, u.input_tokens_details.cached_tokens, u.output_tokens];
  for (const c of calls) {
    input.push({ type: "function_call", call_id: c.call_id, name: c.name, arguments: c.arguments });
    input.push({ type: "function_call_output", call_id: c.call_id, output: "done" });
  }
  seen.after = (await client.responses.stream({ ...common, input, tools }).finalResponse()).output_text;
} catch (e) {
  seen.error = `${e.status} ${e.constructor.name}`;
}
console.log(JSON.stringify(seen));
