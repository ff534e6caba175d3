// Server-sent events over fetch, so that the key can go in a header
// (HTML Living Standard, 9.2.6, "Interpreting an event stream").

/** Sent is one event. */
export interface Sent {
  event: string;
  data: string;
  id: string;
}

/** An event may be so long; a longer one is an error. */
const maxEvent = 4 << 20;

/** sentEvents parses a stream of events; it ends when the stream ends. */
export async function* sentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Sent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let sent: Sent = { event: "", data: "", id: "" };
  let id = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      if (rest.length > maxEvent || sent.data.length > maxEvent) throw new Error("an event is too long");
      for (const line of lines) {
        if (line === "") {
          if (sent.data !== "") yield { ...sent, data: sent.data.slice(0, -1), id };
          sent = { event: "", data: "", id: "" };
          continue;
        }
        if (line.startsWith(":")) continue;
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "data") sent.data += text + "\n";
        else if (field === "event") sent.event = text;
        else if (field === "id") id = text;
      }
    }
  } finally {
    // A reader that stops early closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}
