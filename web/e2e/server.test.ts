// The panel against the program itself.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { executable, launch, web } from "./browser.ts";
import { delays, watchStates } from "./delays.ts";
import { available, serve, spoken, type Served } from "./hocket.ts";
import { open } from "./page.ts";

const skip = executable() ? available() : "there is no Chromium on this machine";

/** Seed 000, section 10: the panel shows the state within 150 ms of the transition. */
const limit = 150;

const flights = `${web}../examples/flights`;

async function panel(t: TestContext, args: string[], microphone?: string): Promise<{ page: Page; server: Served; browser: Browser }> {
  const server = await serve(...args);
  const browser = await launch(microphone);
  const tab = await open(browser, server.url);
  t.after(async () => {
    await tab.close();
    await browser.close();
    await server.stop();
  });
  return { page: tab.page, server, browser };
}

/** conversationOf is the id of the only conversation. */
async function conversationOf(server: Served): Promise<string> {
  const list = (await (await fetch(`${server.url}/v1/conversations`)).json()) as { conversations: { id: string }[] };
  assert.equal(list.conversations.length, 1);
  return list.conversations[0]!.id;
}

/** prompt holds the page to the limit, and tells what it took. */
async function prompt(t: TestContext, page: Page, server: Served, least: number): Promise<void> {
  const list = await delays(page, server.url, await conversationOf(server), limit);
  assert.ok(list.length >= least, `the page has shown ${list.length} states`);
  const ms = list.map((d) => d.ms).sort((a, b) => a - b);
  t.diagnostic(`states shown after ${ms.map((v) => v.toFixed(0)).join(", ")} ms`);
  for (const d of list) assert.ok(d.ms <= limit, `${d.state} was shown after ${d.ms.toFixed(0)} ms, expected at most ${limit}`);
}

test("a flight is booked by text", { skip }, async (t) => {
  const { page, server } = await panel(t, ["--agent", flights]);
  await page.waitForSelector(".talk-button:not(:disabled)");
  await watchStates(page);
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.getByText("Welcome to Hocket Airlines").first().waitFor();
  const say = async (text: string, answer: RegExp) => {
    await page.getByRole("textbox").fill(text);
    await page.keyboard.press("Enter");
    await page.locator(".line-agent .line-text").filter({ hasText: answer }).waitFor();
    await page.waitForSelector(".state[data-state=listening]");
    await page.waitForTimeout(2 * limit);
  };
  await say("I want to book a flight", /fly from/);
  await say("from Boston", /fly to/);
  await say("to Denver", /which day/);
  await say("next friday", /flying from Boston to Denver on Friday/);
  await prompt(t, page, server, 4);
  await page.getByRole("link", { name: "Inspect" }).click();
  await page.waitForSelector(".now[data-phase='listening.ready']");
  assert.equal(await page.locator(".latency tbody tr").count(), 4);
  await page.getByRole("link", { name: "Talk" }).click();
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
});
