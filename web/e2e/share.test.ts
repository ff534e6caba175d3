// What is taken from the panel, and what leads into it: transcripts and links.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch, web } from "./browser.ts";
import { Fake, type FakeOptions } from "./fake.ts";
import { accessible, fits, open } from "./page.ts";
import { shelf } from "./stored.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

async function panel(t: TestContext, options: Partial<FakeOptions> = {}): Promise<{ page: Page; fake: Fake }> {
  const fake = new Fake({ dist, trace: `${web}test/fixtures/flights.jsonl`, words: engineWords("en"), speed: 20, stored: shelf(), ...options });
  const tab = await open(browser, await fake.listen(), { permissions: ["clipboard-read", "clipboard-write"] });
  tab.allow.push(/404|401/);
  t.after(async () => {
    await tab.close();
    await fake.close();
  });
  return { page: tab.page, fake };
}

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

const saved = async (page: Page, name: string) => {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name, exact: true }).click();
  const file = await download;
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
};

test("the transcript of a conversation that is over is copied, and saved as text and as JSON", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.waitForSelector(".line-agent[data-outcome=completed]");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("Copied.").waitFor();
  const text = "Hocket Airlines: Welcome to Hocket Airlines. I can book a flight for you. What would you like to do?\n";
  assert.equal(await clipboard(page), text);
  assert.deepEqual(await saved(page, "Save as text"), { name: "transcript-conv_1.txt", text });
  const json = await saved(page, "Save as JSON");
  assert.equal(json.name, "transcript-conv_1.json");
  assert.equal((JSON.parse(json.text) as { conversation: string }).conversation, "conv_1");
  await accessible(page, "a conversation that is over");
  await page.setViewportSize({ width: 360, height: 740 });
  await fits(page, "a conversation that is over");
});

test("a link to a kept conversation opens it, in another tab too", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  await page.goto("#past");
  await page.locator(".conversation").nth(1).click();
  await page.getByRole("button", { name: "Copy the link" }).click();
  await page.getByText("Copied.").waitFor();
  const link = await clipboard(page);
  assert.equal(link, `${fake.url}/#past/conv_kept_2`);
  assert.equal(page.url(), link, "the address names it too");
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("heading", { name: "Hocket Airlines" }).waitFor();
  assert.equal(await page.locator(".conversation[aria-current=true]").count(), 1);
  await page.goBack();
  await page.goto(`${fake.url}/#past/conv_gone`);
  await page.getByRole("alert").waitFor();
  // What is deleted has no address any more.
  await page.locator(".conversation").first().click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.waitForFunction(() => location.hash === "#past");
});

test("a link to a running conversation opens it, by its agent's name, after the key was given", { skip }, async (t) => {
  const agents = [{ name: "clinic", title: "The clinic" }, { name: "flights", title: "Hocket Airlines" }];
  const { page, fake } = await panel(t, { key: "secret", agents });
  fake.holdAt = (s) => s.at > 5000;
  fake.add("flights", "webrtc");
  await page.goto("about:blank");
  await page.goto(`${fake.url}/#inspect/conv_1`);
  await page.getByLabel("API key").fill("secret");
  await page.keyboard.press("Enter");
  await page.locator(".watched-head h2").waitFor();
  assert.equal(await page.locator(".watched-head h2").innerText(), "Hocket Airlines");
  await page.locator(".transcript .line").first().waitFor();
  await page.getByRole("button", { name: "Copy the link" }).click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await clipboard(page), `${fake.url}/#inspect/conv_1`);
});
