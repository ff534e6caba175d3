// The panel against the program itself: what its tests have in common.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { executable, launch, web } from "./browser.ts";
import { delays } from "./delays.ts";
import { available, serve, type Served } from "./hocket.ts";
import { open } from "./page.ts";

export const skip = executable() ? available() : "there is no Chromium on this machine";

/** Seed 000, section 10: the panel shows the state within 150 ms of the transition. */
export const limit = 150;

export const flights = `${web}../examples/flights`;

/** Options say what a panel is opened with. */
export interface Options {
  microphone?: string;
  env?: Record<string, string>;
  /** Errors of the page that the test expects. */
  allow?: RegExp[];
}

/** A browser whose microphone plays silence, for all tests of a file. */
let silent: Promise<Browser> | undefined;

const quiet = () => (silent ??= launch());

after(async () => (await silent)?.close());

/** panel opens the panel at a server of its own, for one test. */
export async function panel(t: TestContext, o: Options = {}): Promise<{ page: Page; server: Served; browser: Browser }> {
  const server = await serve(["--agent", flights], o.env);
  const browser = await (o.microphone ? launch(o.microphone) : quiet());
  const tab = await open(browser, server.url);
  tab.allow.push(...(o.allow ?? []));
  t.after(async () => {
    for (const line of await said(tab.page)) t.diagnostic(line);
    await tab.close();
    if (o.microphone) await browser.close();
    await server.stop();
  });
  return { page: tab.page, server, browser };
}

/** House is a panel at a server that can be killed, and started again at the same address. */
export interface House {
  page: Page;
  server: () => Served;
  kill: () => Promise<void>;
  start: () => Promise<void>;
}

/** house opens the panel at a server with a folder of its own, for one test; args are the server's. */
export async function house(t: TestContext, args: (dir: string) => string[]): Promise<House> {
  const dir = mkdtempSync(join(tmpdir(), "hocket-"));
  const all = args(dir);
  let server = await serve(all);
  const address = new URL(server.url).host;
  const tab = await open(await quiet(), server.url);
  tab.allow.push(/ERR_|Failed to load/);
  t.after(async () => {
    for (const line of await said(tab.page)) t.diagnostic(line);
    await tab.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    page: tab.page,
    server: () => server,
    kill: () => server.kill(),
    start: async () => {
      server = await serve(all, {}, address);
    },
  };
}

/** conversationOf is the id of the only conversation. */
export async function conversationOf(server: Served): Promise<string> {
  const list = (await (await fetch(`${server.url}/v1/conversations`)).json()) as { conversations: { id: string }[] };
  assert.equal(list.conversations.length, 1);
  return list.conversations[0]!.id;
}

/** prompt tells how long the page took to show each state. The limit is printed beside it: it is none of a test. */
export async function prompt(t: TestContext, page: Page, server: Served, least: number): Promise<void> {
  const list = await delays(page, server.url, await conversationOf(server), limit);
  assert.ok(list.length >= least, `the page has shown ${list.length} states`);
  const ms = list.map((d) => d.ms).sort((a, b) => a - b);
  t.diagnostic(`states shown after ${ms.map((v) => v.toFixed(0)).join(", ")} ms; the limit is ${limit} ms`);
  for (const d of list) assert.ok(Number.isFinite(d.ms), `${d.state} was not shown`);
}

/** said is the transcript, for whoever reads why a test has failed. */
export function said(page: Page): Promise<string[]> {
  return page.locator(".line").allInnerTexts().then((lines) => lines.map((l) => l.replace(/\s+/g, " ")), () => []);
}

/** speaks reports whether the server's agent can be talked to. */
export async function speaks(server: Served): Promise<boolean> {
  const { agents } = (await (await fetch(`${server.url}/v1/agents`)).json()) as { agents: { speech: boolean }[] };
  if (!agents[0]?.speech) return false;
  const res = await fetch(`${server.url}/v1/conversations`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ agent: "", transport: "webrtc" }),
  });
  // Without an offer nothing begins; what is missing tells whether one would be answered.
  return res.status !== 501;
}
