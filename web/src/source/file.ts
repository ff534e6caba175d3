// A trace from disk. Nothing of it leaves the page.

import { parseTrace } from "../model/trace.ts";
import type { Feed, Source } from "./source.ts";

/** A trace may be so large; a larger one is refused before it is read. */
export const maxFile = 256 << 20;

export class FileSource implements Source {
  readonly kind = "file";
  readonly name: string;
  readonly file: string;
  private readonly text: string;

  constructor(name: string, text: string, file = name) {
    this.name = name;
    this.file = file;
    this.text = text;
  }

  /** start delivers the whole trace at once. It throws a TraceError. */
  start(feed: Feed): () => void {
    const trace = parseTrace(this.text);
    feed.past(trace.header, trace.steps);
    feed.status("ended", trace.cutOff ? { code: "trace_cut_off", message: "" } : undefined);
    return () => undefined;
  }

  trace(): Promise<string> {
    return Promise.resolve(this.text);
  }
}
