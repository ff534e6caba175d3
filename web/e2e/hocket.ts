// The real server, as the tests start it.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { web } from "./browser.ts";

/** hocket is the program; HOCKET names it. */
export const hocket = process.env.HOCKET ?? `${web}../bin/hocket`;

/** available is why there can be no server, or false. */
export function available(): string | false {
  return existsSync(hocket) ? false : `there is no program at ${hocket}: 'make build' makes it`;
}

/** Served is a server that runs. */
export interface Served {
  url: string;
  stop(): Promise<void>;
  /** kill ends it at once (SIGKILL). */
  kill(): Promise<void>;
}

/** serve starts a server, on a free port where no address is given. */
export async function serve(args: string[] = [], env: Record<string, string> = {}, address = "127.0.0.1:0"): Promise<Served> {
  // Nothing is kept in the home of who runs the tests.
  const store = args.includes("--config") ? [] : ["--store", "off"];
  const child = spawn(hocket, ["serve", "--addr", address, ...store, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let log = "";
  const url = await new Promise<string>((done, fail) => {
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      const found = /https?:\/\/127\.0\.0\.1:\d+/.exec(log);
      if (found) done(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => fail(new Error(`hocket serve ended with status ${code}:\n${log}`)));
  });
  return { url, stop: () => stop(child), kill: () => kill(child) };
}

function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    child.on("exit", () => done());
    child.kill("SIGKILL");
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    const kill = setTimeout(() => child.kill("SIGKILL"), 5000);
    child.on("exit", () => {
      clearTimeout(kill);
      done();
    });
    // Twice: the first lets conversations end, the second does not wait for them.
    child.kill("SIGINT");
    setTimeout(() => child.kill("SIGINT"), 200);
  });
}

/** spoken writes what a caller says, with a pause in seconds before each line, as a WAV at 16 kHz; false without flite. */
export function spoken(file: string, lines: readonly (readonly [pause: number, text: string])[], dir: string): boolean {
  const parts: Buffer[] = [];
  for (const [i, [pause, text]] of lines.entries()) {
    parts.push(Buffer.alloc(Math.round(pause * 16000) * 2));
    if (text === "") continue;
    const out = `${dir}/line-${i}.wav`;
    const made = spawnSync("flite", ["-voice", "rms", "-t", text, "-o", out]);
    if (made.status !== 0) return false;
    parts.push(samples(readFileSync(out)));
  }
  writeFileSync(file, wav(Buffer.concat(parts)));
  return true;
}

/** samples are those of a WAV of 16 bits. */
export function samples(file: Buffer): Buffer {
  for (let at = 12; at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    if (file.toString("latin1", at, at + 4) === "data") return file.subarray(at + 8, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error("the WAV has no samples");
}

/** wav is a WAV of 16-bit mono. */
export function wav(data: Buffer, rate = 16000): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
