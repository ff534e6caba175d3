// A real call: the program as it is built, Chromium, a microphone that plays
// speech, and what is left of both behind the network.
//
//   make build && cd web && npm run e2e
//
// It needs bin/hocket (or HOCKET) with its speech engines, Chromium, and the flite
// command, which speaks for the person.

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { executable, launch, web } from "./browser.ts";

const program = process.env.HOCKET ?? join(web, "..", "bin", "hocket");

/** missing says what this machine lacks, or false. */
function missing(): string | false {
  if (!executable()) return "Chromium is not installed";
  if (!existsSync(program)) return `${program} is not there: make build`;
  try {
    execFileSync("flite", ["-lv"], { stdio: "ignore" });
  } catch {
    return "the flite command is not installed";
  }
  return false;
}

/** speak is a text as samples of 16 kHz. */
function speak(folder: string, text: string): Buffer {
  const file = join(folder, "said.wav");
  execFileSync("flite", ["-voice", "rms", "-t", text, "-o", file]);
  return readFileSync(file).subarray(44);
}

/** microphone is a file with pauses (seconds) and texts. */
function microphone(folder: string, script: (number | string)[]): string {
  const rate = 16000;
  const sound = Buffer.concat(script.map((s) => (typeof s === "number" ? Buffer.alloc(2 * rate * s) : speak(folder, s))));
  const head = Buffer.alloc(44);
  head.write("RIFF");
  head.writeUInt32LE(36 + sound.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(sound.length, 40);
  const file = join(folder, "microphone.wav");
  writeFileSync(file, Buffer.concat([head, sound]));
  return file;
}

/** serve starts the program and returns its address. */
async function serve(): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(program, ["serve", "--addr", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of child.stdout) {
    const url = /http:\S+/.exec(String(line))?.[0];
    if (url) return { url, process: child };
  }
  throw new Error("hocket serve ended");
}

/** What the page has, for the functions below, which run in it. */
interface Talk {
  pc: RTCPeerConnection;
  id: string;
  resume: string;
  loudest: number;
}
declare global {
  interface Window {
    talk: Talk;
  }
}

/** call begins a conversation, or goes on with one, in the page. */
async function call(extra: object): Promise<{ id: string; resume: string }> {
  const pc = new RTCPeerConnection();
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: plain });
  for (const track of microphone.getTracks()) pc.addTrack(track, microphone);
  pc.ontrack = (event) => {
    const stream = new MediaStream([event.track]);
    const player = new Audio(); // without one Chromium does not decode
    player.srcObject = stream;
    player.muted = true;
    void player.play();
    const context = new AudioContext();
    const meter = context.createAnalyser();
    context.createMediaStreamSource(stream).connect(meter);
    const samples = new Float32Array(meter.fftSize);
    setInterval(() => {
      meter.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, v) => sum + v * v, 0) / samples.length;
      window.talk.loudest = Math.max(window.talk.loudest, Math.sqrt(power));
    }, 50);
  };
  await pc.setLocalDescription(await pc.createOffer());
  const response = await fetch("/v1/conversations", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ transport: "webrtc", sdp: pc.localDescription?.sdp, ...extra }),
  });
  const made = await response.json();
  if (response.status !== 201) throw new Error(JSON.stringify(made));
  window.talk = { pc, id: made.id, resume: made.resume_token, loudest: 0 };
  const connected = new Promise<void>((done, fail) => {
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === "connected") done();
      if (pc.connectionState === "failed") fail(new Error("the connection has failed"));
    };
  });
  await pc.setRemoteDescription({ type: "answer", sdp: made.sdp });
  await connected;
  return { id: made.id, resume: made.resume_token };
}

/** restart has the connection look for another way, in the page. */
async function restart(): Promise<string> {
  const { pc, id } = window.talk;
  pc.restartIce();
  await pc.setLocalDescription(await pc.createOffer());
  const response = await fetch(`/v1/conversations/${id}/sdp`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ sdp: pc.localDescription?.sdp }),
  });
  const made = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(made));
  await pc.setRemoteDescription({ type: "answer", sdp: made.sdp });
  return made.sdp;
}

/** words are the final transcripts of the person, from the trace. */
async function words(url: string, id: string): Promise<string[]> {
  const trace = await (await fetch(`${url}/v1/conversations/${id}/trace`)).text();
  return trace
    .split("\n")
    .filter((line) => line.includes('"stt.final"'))
    .map((line) => /"text":"([^"]*)"/.exec(line)?.[1] ?? "")
    .filter((text) => text !== "");
}

async function until(what: string, ok: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await ok()) return;
    await new Promise((next) => setTimeout(next, 200));
  }
  assert.fail(`it does not come: ${what}`);
}

const phase = async (url: string, id: string) => (await (await fetch(`${url}/v1/conversations/${id}`)).json()).phase;
const loudest = (page: Page) => page.evaluate(() => window.talk.loudest);

test("a person in Chromium talks to the agent, changes the network, loads the page again", { skip: missing(), timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "hocket-"));
  const said = microphone(folder, [8, "I want to book a flight", 7, "from Boston", 60]);
  const server = await serve();
  const browser = await launch(`${said}%noloop`);
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/healthz`);
    const { id, resume } = await page.evaluate(call, { agent: "flights" });
    await until("the greeting is heard", async () => (await loudest(page)) > 0.05);
    await until("the first sentence is understood", async () => (await words(server.url, id)).includes("i want to book a flight"));

    await page.evaluate(restart);
    await until("what is said over the new way is understood", async () => (await words(server.url, id)).includes("from boston"));
    assert.equal(await page.evaluate(() => window.talk.pc.connectionState), "connected");

    await page.reload();
    await until("the line is lost", async () => (await phase(server.url, id)) === "reconnecting");
    await page.evaluate(call, { resume });
    await until("the conversation goes on", async () => (await phase(server.url, id)) !== "reconnecting");
    const before = (await words(server.url, id)).length;
    await until("the person is understood again", async () => (await words(server.url, id)).length > before);
    await until("the agent is heard again", async () => (await loudest(page)) > 0.05);
  } finally {
    await browser.close();
    server.process.kill("SIGINT");
    rmSync(folder, { recursive: true, force: true });
  }
});
