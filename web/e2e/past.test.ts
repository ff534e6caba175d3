// The Past view, against a stand-in for the server and against the program.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch, web } from "./browser.ts";
import { Fake } from "./fake.ts";
import { accessible, fits, open } from "./page.ts";
import { shelf } from "./stored.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

async function panel(t: TestContext, stored = true): Promise<{ page: Page; fake: Fake }> {
  const fake = new Fake({
    dist, trace: `${web}test/fixtures/flights.jsonl`, words: engineWords("en"), speed: 20, stored: stored ? shelf() : undefined,
  });
  const tab = await open(browser, await fake.listen());
  tab.allow.push(/404/);
  t.after(async () => {
    await tab.close();
    await fake.close();
  });
  await tab.page.getByRole("link", { name: "Past" }).click();
  return { page: tab.page, fake };
}

const names = (page: Page) => page.locator(".conversation-meta").allInnerTexts();

test("what is kept is listed, page by page, and read", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.locator(".conversation").nth(2).waitFor();
  assert.equal(await page.locator(".conversation").count(), 3);
  await page.getByRole("button", { name: "Show older ones" }).click();
  await page.locator(".conversation").nth(4).waitFor();
  assert.equal(await page.getByRole("button", { name: "Show older ones" }).count(), 0);
  const list = await names(page);
  assert.deepEqual(list.map((l) => l.split("\n")[1]), ["over · 11 turns", "not ended · 4 turns", "unreadable", "live · 2 turns", "over · 1 turn"]);
  await page.locator(".conversation").first().click();
  await page.getByRole("heading", { name: "Hocket Airlines" }).waitFor();
  assert.deepEqual(await page.locator(".line-text").allInnerTexts(), [
    "Welcome to Hocket Airlines. What would you like to do?",
    "Find me a quiet hotel in Lisbon",
    "Let me look into that. I have found a hotel: Casa do Jardim, for 90 euros.",
  ]);
  await page.locator(".conversation").nth(2).click();
  await page.getByText("the conversation is encrypted").waitFor();
  assert.ok(await page.getByRole("button", { name: "Step through it" }).isDisabled());
  await page.locator(".conversation").nth(3).click();
  await page.getByRole("link", { name: "Watch it" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Delete…" }).isDisabled(), "what goes on is not deleted");
});

test("what is kept is searched, and filtered by where it stands", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.locator(".conversation").nth(2).waitFor();
  const ids = async () => (await names(page)).map((n) => n.split("\n")[1]);
  await page.getByRole("combobox", { name: "Which" }).selectOption({ label: "not ended" });
  assert.deepEqual(await ids(), ["not ended · 4 turns"]);
  await page.getByText("1 of 3").waitFor();
  await page.getByRole("combobox", { name: "Which" }).selectOption({ label: "All" });
  await page.getByRole("searchbox", { name: "Search" }).fill("airlines nov 19");
  assert.deepEqual(await ids(), ["over · 11 turns"]);
  // What is older is looked through when it is there.
  await page.getByRole("searchbox", { name: "Search" }).fill("kept_5");
  await page.getByText("None of the 3 that are listed.").waitFor();
  await page.getByRole("button", { name: "Show older ones" }).click();
  await page.locator(".conversation").waitFor();
  assert.deepEqual(await ids(), ["over · 1 turn"]);
});

test("its trace is stepped through, of several processes too", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.locator(".conversation").nth(1).click();
  await page.getByRole("button", { name: "Step through it" }).click();
  await page.waitForSelector(".timeline");
  assert.ok(page.url().endsWith("#inspect"));
  await page.getByRole("button", { name: "Last step" }).click();
  await page.locator(".line-agent").filter({ hasText: "Casa do Jardim" }).getByText("result: Find hotel").waitFor();
  assert.equal(await page.locator(".bar[data-lane=delegated]").count(), 1, "the task in one piece");
  await page.getByRole("button", { name: "Step back" }).click();
});

test("its recording is played with the timeline in step, and saved", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.locator(".conversation").nth(1).click();
  await page.getByRole("button", { name: "Delete…" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Recording" }).count(), 0, "this one has none");
  await page.locator(".conversation").first().click();
  await page.getByRole("button", { name: "Listen" }).focus();
  await page.keyboard.press("Enter");
  const audio = page.locator("audio");
  await page.waitForFunction(() => document.activeElement?.tagName === "AUDIO"); // the keyboard goes on there
  await page.waitForFunction(() => document.querySelector("audio")!.duration > 29);
  // A place on the timeline is a place in the sound, which began half a second later.
  const seconds = 30;
  const width = await page.locator(".lanes-inner").evaluate((e) => e.clientWidth - 8);
  const length = Number(/Timeline of ([\d.]+) seconds/.exec((await page.locator(".lanes").getAttribute("aria-label"))!)![1]);
  await page.locator(".lanes").click({ position: { x: (10 / length) * width, y: 60 } });
  await page.waitForFunction(() => document.querySelector("audio")!.currentTime > 5);
  const at = await audio.evaluate((a: HTMLAudioElement) => a.currentTime);
  assert.ok(at > 8 && at < 9.6, `the sound is at ${at} s`);
  const head = () => page.locator(".playhead").evaluate((e) => new DOMMatrix(getComputedStyle(e).transform).e);
  const before = await head();
  assert.ok(Math.abs(before - ((at + 0.5) / length) * width) < 3, `the playhead is at ${before} px of ${width}`);
  // It moves while the sound plays, up to its end.
  await audio.evaluate((a: HTMLAudioElement) => ((a.muted = true), a.play()));
  await page.waitForFunction((from) => new DOMMatrix(getComputedStyle(document.querySelector(".playhead")!).transform).e > from + 5, before);
  await audio.evaluate((a: HTMLAudioElement) => a.pause());
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as WAV" }).click();
  assert.equal((await download).suggestedFilename(), "conv_kept_1.wav");
  assert.equal(readFileSync(await (await download).path()).length, 44 + seconds * 16_000);
  await accessible(page, "a recording");
  await page.setViewportSize({ width: 360, height: 740 });
  await fits(page, "a recording");
});

test("it is decided again by another policy, and what differs is marked on the timeline", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.locator(".conversation").first().click();
  const compare = page.getByRole("button", { name: "Compare" });
  await compare.focus();
  await page.keyboard.press("Enter");
  await page.getByText("energy would have decided otherwise, steps: 1.").waitFor();
  assert.match(await page.locator(".alternatives li").innerText(), /0:23\.500\s+speech\.started\s+recorded: duck_playout\s+instead: -> interrupted, cancel_turn, flush_playout/);
  assert.equal(await page.locator(".flag").count(), 1);
  await accessible(page, "another policy");
  await page.setViewportSize({ width: 360, height: 740 });
  await fits(page, "another policy");
  await page.getByLabel("Barge-in").selectOption("hybrid");
  await compare.click();
  await page.getByText("hybrid would have decided nothing otherwise.").waitFor();
  assert.equal(await page.locator(".flag").count(), 0);
});

test("it is deleted after a question, with the keyboard alone", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  await page.locator(".conversation").first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Delete this conversation?" }).waitFor();
  // What is nearest keeps it; so does Escape.
  assert.equal(await page.evaluate(() => (document.activeElement as HTMLElement).innerText), "Keep it");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(fake.options.stored!.length, 5);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("The conversation was deleted.").waitFor({ state: "attached" });
  assert.equal(fake.options.stored!.length, 4);
  assert.equal(await page.locator(".conversation").count(), 2);
  await page.waitForFunction(() => document.activeElement?.tagName === "H2"); // the keyboard is at the list
});

test("a server without a store says so", { skip }, async (t) => {
  const { page } = await panel(t, false);
  await page.getByText("This server keeps no conversations.").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});
