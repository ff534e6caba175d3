// A voice call from a browser behind a firewall that blocks UDP: over coturn, by TCP alone.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.ts";
import { serve } from "./hocket.ts";
import { open, until } from "./page.ts";
import { flights, skip, speaks } from "./real.ts";

const turnserver = spawnSync("turnserver", ["--help"]).error ? "coturn is not installed: 'make deps' installs it where apt-get can" : false;

/** free is a TCP port that nobody has. */
function free(): Promise<number> {
  return new Promise((done, fail) => {
    const s = createServer();
    s.on("error", fail);
    s.listen(0, "127.0.0.1", () => {
      const at = s.address();
      s.close(() => done(typeof at === "object" && at ? at.port : 0));
    });
  });
}

/** listens reports whether somebody takes connections at a port. */
function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const c = connect(port, "127.0.0.1");
    c.on("connect", () => (c.destroy(), done(true)));
    c.on("error", () => done(false));
  });
}

test("a voice call through coturn where UDP is blocked", { skip: skip || turnserver }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "hocket-turn-"));
  const port = await free();
  const secret = "north-0123456789";
  // The file of docs/nat.md, for the loopback interface and without a log.
  writeFileSync(
    join(dir, "turnserver.conf"),
    [
      `listening-port=${port}`, "listening-ip=127.0.0.1", "relay-ip=127.0.0.1", "realm=voice.example.com", "use-auth-secret",
      `static-auth-secret=${secret}`, "allow-loopback-peers", "no-tls", "no-dtls", "no-cli", "no-udp", "log-file=stdout", "simple-log",
      `pidfile=${join(dir, "pid")}`, `userdb=${join(dir, "turndb")}`, "",
    ].join("\n"),
  );
  const turn = spawn("turnserver", ["-c", join(dir, "turnserver.conf")], { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const out of [turn.stdout, turn.stderr]) out.on("data", (b: Buffer) => (log += b.toString()));
  const gone = new Promise((done) => turn.on("exit", done));
  const config = join(dir, "hocket.yaml");
  writeFileSync(
    config,
    `server:\n  webrtc:\n    ice_servers:\n      - urls: ["turn:127.0.0.1:${port}?transport=tcp"]\n        secret_env: TURN_SECRET\n`,
  );
  const server = await serve(["--agent", flights, "--config", config], { TURN_SECRET: secret });
  // The browser's own switch for networks where UDP must not leave but through a proxy.
  const browser = await launch(undefined, "--webrtc-ip-handling-policy=disable_non_proxied_udp");
  const tab = await open(browser, server.url);
  t.after(async () => {
    await tab.close();
    await browser.close();
    await server.stop();
    turn.kill("SIGTERM");
    await gone;
    rmSync(dir, { recursive: true, force: true });
  });
  await until("coturn listens", () => listens(port));
  if (!(await speaks(server))) return t.skip("this build has no recognizer or no voice, or no WebRTC");
  await tab.page.evaluate(() => {
    const all: RTCPeerConnection[] = ((window as unknown as { calls: RTCPeerConnection[] }).calls = []);
    window.RTCPeerConnection = class extends RTCPeerConnection {
      constructor(c?: RTCConfiguration) {
        super(c);
        all.push(this);
      }
    };
  });
  await tab.page.getByRole("button", { name: "Start talking" }).click();
  await tab.page.waitForSelector(".state[data-state=speaking]");
  const used = await tab.page.evaluate(async () => {
    const pc = (window as unknown as { calls: RTCPeerConnection[] }).calls[0]!;
    const stats = [...(await pc.getStats()).values()] as Record<string, unknown>[];
    const pair = stats.find((s) => s.type === "candidate-pair" && s.nominated === true);
    const local = stats.find((s) => s.id === pair?.localCandidateId);
    return { type: local?.candidateType, relay: local?.relayProtocol };
  });
  assert.deepEqual(used, { type: "relay", relay: "tcp" }, log);
  await tab.page.getByRole("button", { name: "End", exact: true }).click();
  await tab.page.getByRole("button", { name: "Start talking" }).waitFor();
});
