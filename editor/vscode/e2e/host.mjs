// A real VS Code, behind a proxy that gives webviews an origin of their own, as the
// desktop does; a browser that shows it; and the way into its extension host.

import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../../..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

const need = (name) => {
  const v = process.env[name];
  if (!v) throw new Error(`${name} is not set`);
  return v;
};

/** free is a port that nobody listens on. */
const free = () => new Promise((done, failed) => {
  const s = net.createServer().once("error", failed);
  s.listen(0, "127.0.0.1", () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

/** until waits for what is; it fails with what it has waited for. */
export async function until(what, is, ms = 60_000) {
  const over = Date.now() + ms;
  for (;;) {
    const v = await is();
    if (v) return v;
    if (Date.now() > over) throw new Error(`waited in vain for ${what}`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

/** proxy serves another server's workbench, whose webviews have origins of their own. */
function proxy(up, port) {
  const widen = (x) => x.replaceAll("https://*.vscode-cdn.net", `https://*.vscode-cdn.net http://*.vs.localhost:${port}`);
  const workbench = (html) => widen(html).replace(/(id="vscode-workbench-web-configuration" data-settings=")([^"]*)/, (_, a, json) => {
    const config = JSON.parse(json.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
    const endpoint = config.webviewEndpoint;
    delete config.webviewEndpoint;
    config.productConfiguration.webviewContentExternalBaseUrlTemplate = `http://{{uuid}}.vs.localhost:${port}/${endpoint}/`;
    return a + JSON.stringify(config).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  });
  const server = http.createServer((q, s) => {
    // As code-server does, which this stands for: a port of its machine, under a path.
    const [, other, path] = /^\/proxy\/(\d+)(\/.*)$/.exec(q.url) ?? [];
    const p = http.request({ host: "127.0.0.1", port: other ?? up, method: q.method, path: path ?? q.url, headers: { ...q.headers, "accept-encoding": "identity" } }, (r) => {
      if (!/^\/(\?|$)/.test(q.url) || !/html/.test(r.headers["content-type"] ?? "")) {
        s.writeHead(r.statusCode, r.headers);
        r.pipe(s);
        return;
      }
      let body = "";
      r.setEncoding("utf8").on("data", (d) => (body += d)).on("end", () => {
        const head = { ...r.headers };
        delete head["content-length"];
        delete head["transfer-encoding"];
        for (const k of Object.keys(head)) if (/content-security/i.test(k)) head[k] = widen(String(head[k]));
        s.writeHead(r.statusCode, head);
        s.end(workbench(body));
      });
    });
    p.on("error", () => s.destroy());
    q.pipe(p);
  });
  server.on("upgrade", (q, socket, head) => {
    const u = net.connect(up, "127.0.0.1", () => {
      u.write(`${q.method} ${q.url} HTTP/1.1\r\n${q.rawHeaders.reduce((a, v, i) => a + v + (i % 2 ? "\r\n" : ": "), "")}\r\n`);
      u.write(head);
      u.pipe(socket);
      socket.pipe(u);
    });
    u.on("error", () => socket.destroy());
    socket.on("error", () => u.destroy());
  });
  return new Promise((done) => server.listen(port, "127.0.0.1", () => done(server)));
}

/** open starts an editor with the extension of a VSIX and the stand-in for Copilot. */
export async function open({ vsix, microphone, settings = {}, trust = true, locale = "en" }) {
  const dir = mkdtempSync(join(tmpdir(), "agentvoice-"));
  const folder = join(dir, "ws");
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  writeFileSync(join(folder, "loop.js"), "function flurgle() {\n  for (;;) {}\n}\n");
  writeFileSync(join(folder, ".vscode/tasks.json"), JSON.stringify({ version: "2.0.0", tasks: [{ label: "greet", type: "shell", command: "true" }] }));
  mkdirSync(join(dir, "server/data/Machine"), { recursive: true });
  writeFileSync(join(dir, "server/data/Machine/settings.json"), JSON.stringify({ "extensions.autoUpdate": false, "workbench.startupEditor": "none", ...settings }));
  cpSync(join(here, "copilot"), join(dir, "copilot"), { recursive: true });
  const [up, port, bridge] = [await free(), await free(), await free()];
  const node = join(need("NODE24"), "bin/node");
  const main = join(need("CODE_SERVER"), "lib/vscode/out/server-main.js");
  const env = { ...process.env, HOCKET_TEST_BRIDGE: String(bridge), XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir, XDG_CACHE_HOME: dir };
  const places = ["--server-data-dir", join(dir, "server"), "--extensions-dir", join(dir, "extensions"), "--accept-server-license-terms"];
  const installed = spawnSync(node, [main, ...places, "--install-extension", vsix], { env, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`the extension was not installed: ${installed.stdout}${installed.stderr}`);
  const server = spawn(node, [main, ...places, "--host", "127.0.0.1", "--port", String(up), "--without-connection-token", "--enable-smoke-test-driver",
    "--reconnection-grace-time", "2", "--disable-telemetry", ...(trust ? ["--disable-workspace-trust"] : [])], { env, stdio: process.env.VERBOSE ? "inherit" : "ignore" });
  const between = await proxy(up, port);
  const browser = await chromium.launch({
    executablePath: need("CHROMIUM"), headless: false,
    args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", ...(microphone ? [`--use-file-for-fake-audio-capture=${microphone}%noloop`] : [])],
  });
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, locale });
  const page = await context.newPage();
  const address = `wb.vs.localhost:${port}`;
  const payload = JSON.stringify([["extensionDevelopmentPath", `vscode-remote://${address}${join(dir, "copilot")}`]]);
  await until("the server", () => fetch(`http://127.0.0.1:${up}/version`).then((r) => r.ok, () => false));
  await page.goto(`http://${address}/?folder=${folder}&payload=${encodeURIComponent(payload)}`);
  /** run runs code in the extension host. */
  const run = async (code) => {
    const r = await fetch(`http://127.0.0.1:${bridge}`, { method: "POST", body: code });
    const { result, error } = await r.json();
    if (error) throw new Error(error);
    return result;
  };
  await until("the extension host", () => run("return true").catch(() => false), 120_000);
  const close = async () => {
    await browser.close();
    between.close();
    between.closeAllConnections();
  };
  const end = async () => {
    await close().catch(() => undefined);
    server.kill();
    await new Promise((r) => (server.exitCode === null && server.signalCode === null ? server.once("exit", r) : r()));
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  const panel = () => page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  return { page, context, run, close, end, panel, folder, dir, server };
}

/** engines are the processes `hocket editor` whose program is in a folder. */
export function engines(dir) {
  const { stdout } = spawnSync("pgrep", ["-af", "hocket editor"], { encoding: "utf8" });
  return stdout.split("\n").filter((l) => l.includes(dir) && !l.includes("pgrep"));
}

/** recorded is a WAV of somebody who speaks, after silence; undefined where nothing can make one. */
export function recorded(file, text, before = 6) {
  const made = `${file}.said.wav`;
  const flite = spawnSync("flite", ["-voice", "rms", "-t", text, "-o", made]);
  if (flite.status !== 0 && spawnSync("espeak-ng", ["-v", "en-us", "-s", "140", "-w", made, text]).status !== 0) return undefined;
  const heard = readFileSync(made);
  let at = 12;
  while (heard.toString("latin1", at, at + 4) !== "data") at += 8 + heard.readUInt32LE(at + 4);
  const rate = heard.readUInt32LE(24);
  const samples = heard.subarray(at + 8);
  const data = Buffer.concat([Buffer.alloc(2 * rate * before), samples.subarray(0, samples.length & ~1), Buffer.alloc(2 * rate * 60)]);
  const head = Buffer.from(heard.subarray(0, 44));
  head.write("fmt ", 12);
  head.writeUInt32LE(16, 16);
  head.write("data", 36);
  head.writeUInt32LE(36 + data.length, 4);
  head.writeUInt32LE(data.length, 40);
  writeFileSync(file, Buffer.concat([head, data]));
  return file;
}
