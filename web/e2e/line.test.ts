// The line to a server that is started again, against a stand-in for it.

import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch, web } from "./browser.ts";
import { Fake } from "./fake.ts";
import { open, type Tab } from "./page.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** hotel is a conversation by text in which a search runs, up to its process' death. */
async function hotel(t: TestContext): Promise<{ tab: Tab; page: Page; fake: Fake }> {
  const trace = (n: number) => `${web}test/fixtures/restored.${n}.jsonl`;
  const fake = new Fake({ dist, trace: trace(1), restored: trace(2), words: engineWords("en"), speed: 20 });
  const tab = await open(browser, await fake.listen());
  tab.allow.push(/ERR_|Failed to load/);
  t.after(async () => {
    await tab.close();
    await fake.close();
  });
  await tab.page.getByRole("button", { name: "Start by text" }).click();
  await tab.page.locator(".task").getByText("asking 40 hotels").waitFor();
  await tab.page.locator(".line-agent").nth(1).getByText("Let me look into").waitFor();
  return { tab, page: tab.page, fake };
}

const whole = [
  "Hello.",
  "Find me a quiet hotel in Lisbon",
  "Let me look into not heard: that for you, it may take a little while. end of what was not heard.",
  "I have found a hotel: Casa do Jardim, for 90 euros.",
];

const lines = async (page: Page) => (await page.locator(".talk .line-text").allTextContents()).map((l) => l.trim());

/** told waits for the result, and holds the transcript to be whole, each line once. */
async function told(page: Page): Promise<void> {
  await page.locator(".line-agent").filter({ hasText: "Casa do Jardim, for 90 euros." }).getByText("result: Find hotel").waitFor();
  assert.deepEqual(await lines(page), whole);
}

const token = (page: Page) => page.evaluate(() => (JSON.parse(sessionStorage.getItem("hocket.conversation") ?? "{}") as { token?: string }).token);

// Side by side: they wait more than they work.
describe("the line", { concurrency: 2, skip }, () => {
  test("a server that is started again is a short break: the conversation is taken up by itself", async (t) => {
    const { page, fake } = await hotel(t);
    const before = await token(page);
    fake.down = true;
    fake.restart();
    await page.getByText("The connection to the server is lost").waitFor();
    assert.deepEqual((await lines(page)).slice(0, 2), whole.slice(0, 2), "what was said stays");
    // The server begins: it asks for a moment, which is respected.
    fake.busy = 1;
    fake.down = false;
    const asked = Date.now();
    await told(page);
    assert.ok(Date.now() - asked >= 1000, "Retry-After");
    assert.equal(await page.getByText("The connection to the server is lost").count(), 0);
    const after = await token(page);
    assert.ok(after && after !== before, "each answer brings the next token");
    assert.deepEqual(fake.begun.slice(1).map((b) => b.resume), [before, before]);
    assert.deepEqual([...fake.conversations.keys()], ["conv_1"]);
    // In Inspect it is one conversation, with the task in one piece.
    await page.getByRole("link", { name: "Inspect" }).click();
    await page.waitForSelector(".bar[data-lane=delegated][data-outcome=ok]");
    assert.equal(await page.locator(".bar[data-lane=delegated]").count(), 1);
  });

  test("so it is behind a reload of the page", async (t) => {
    const { page, fake } = await hotel(t);
    // Away from it meanwhile: the page takes the conversation up by itself too.
    await page.goto("about:blank");
    fake.restart();
    await page.goto("/");
    await told(page);
    assert.equal(fake.begun.length, 2);
    assert.equal((await lines(page)).length, whole.length);
  });

  test("what cannot be taken up again is told, and makes way for something new", async (t) => {
    const { page, fake } = await hotel(t);
    fake.options.restored = undefined;
    fake.restart();
    await page.getByText("The earlier conversation is over and cannot be taken up again.").waitFor();
    assert.deepEqual((await lines(page)).slice(0, 2), whole.slice(0, 2), "what was said stays");
    assert.equal(await token(page), undefined);
    await page.getByRole("button", { name: "Start by text" }).click();
    await page.locator(".line").first().waitFor();
    assert.equal(fake.begun.length, 3);
  });

  test("a conversation of somebody else's is watched again when they have taken it up", async (t) => {
    const { page, fake } = await hotel(t);
    const other = await fetch(`${fake.url}/v1/conversations`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ agent: "hotel", transport: "text" }),
    });
    const { id, resume_token } = (await other.json()) as { id: string; resume_token: string };
    await page.getByRole("link", { name: "Inspect" }).click();
    await page.locator(".conversation").filter({ hasText: "hotel" }).click();
    await page.locator(".line").nth(1).waitFor();
    fake.restart();
    await page.getByText("This conversation cannot be watched:").waitFor();
    await fetch(`${fake.url}/v1/conversations`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ resume: resume_token }),
    });
    await page.locator(".line-agent").filter({ hasText: "Casa do Jardim" }).waitFor();
    assert.equal(await page.getByText("This conversation cannot be watched:").count(), 0);
    assert.ok(fake.conversations.has(id));
  });

  test("a store that is behind is told calmly, until it has caught up", async (t) => {
    const { page, fake } = await hotel(t);
    const notify = (code: string) =>
      fake.tellAll({ type: "agentvoice.notification", at: 4000, payload: { level: "warning", code, message: code } });
    notify("store.behind");
    const banner = page.locator(".banner").filter({ hasText: "The server cannot reach its store at the moment." });
    await banner.waitFor();
    assert.equal(await banner.getAttribute("role"), "status", "nobody is interrupted by it");
    notify("store.caught_up");
    await banner.waitFor({ state: "detached" });
    assert.equal(await page.getByText("store.").count(), 0);
  });

  test("a server that is too slow for sound is told, until it keeps pace again", async (t) => {
    const { page, fake } = await hotel(t);
    const notify = (code: string) =>
      fake.tellAll({ type: "agentvoice.notification", at: 4000, payload: { level: "warning", code, message: code } });
    notify("sound.late");
    const banner = page.locator(".banner").filter({ hasText: "The server is busy at the moment" });
    await banner.waitFor();
    notify("sound.steady");
    await banner.waitFor({ state: "detached" });
    assert.equal(await page.getByText("sound.").count(), 0);
  });

  test("what is ended while the server is gone is over on the page", async (t) => {
    const { page, fake } = await hotel(t);
    fake.down = true;
    fake.drop();
    await page.getByText("The connection to the server is lost").waitFor();
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "Start by text" }).waitFor();
    assert.equal(await page.getByText("The connection to the server is lost").count(), 0);
  });
});
