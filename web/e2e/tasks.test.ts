// Delegated work in the panel, done by a program of this test's for the server itself.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { house, said, skip, type House } from "./real.ts";

const agent = `version: "1.0"
settings:
  greeting: "Hello. I find hotels."
actions:
  search:
    outputs: [hotel]
    command: {name: find_hotel, outputs: {hotel: hotel}}
flows:
  find:
    description: find a hotel
    trigger: {intents: ["find me a hotel"]}
    steps:
      - {step: look, type: action, call: search}
      - {step: tell, type: say, message: "I have found {hotel}."}
  time:
    description: tell the time
    trigger: {intents: ["what is the time"]}
    steps:
      - {step: tell, type: say, message: "It is noon."}
`;

/** It notes that it was begun, and waits for a file before it has its result. */
const program = `
const { appendFileSync, existsSync } = require("node:fs");
const dir = process.argv[2];
const say = (m) => process.stdout.write(JSON.stringify(m) + "\\n");
appendFileSync(dir + "/begun", "x");
say({ type: "progress", text: "asking 40 hotels" });
const timer = setInterval(() => {
  if (!existsSync(dir + "/answered")) return;
  clearInterval(timer);
  say({ type: "result", output: { hotel: "Casa do Jardim" } });
}, 50);
`;

interface Office extends House {
  /** How many searches were begun. */
  begun: () => number;
  /** answer lets the searches come to their results. */
  answer: () => void;
}

/** office is a panel at a server whose agent has hotels searched for. */
async function office(t: TestContext): Promise<Office> {
  let folder = "";
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const opened = await house(t, (dir) => {
    folder = dir;
    mkdirSync(join(dir, "hotels"));
    const config = {
      store: { path: join(dir, "store.db") },
      tools: {
        command: [{
          name: "find_hotel", description: "finds a hotel", command: process.execPath, args: [file("finder.cjs", program), dir],
          stdin: "none", repeatable: true,
        }],
      },
    };
    // JSON is YAML.
    return ["--agent", file("hotels/agent.yaml", agent), "--config", file("config.yaml", JSON.stringify(config))];
  });
  return {
    ...opened,
    begun: () => readFileSync(join(folder, "begun"), "utf8").length,
    answer: () => void file("answered", ""),
  };
}

const answered = (page: Page, words: string) => page.locator(".line-agent[data-outcome=completed]").filter({ hasText: words }).last();

async function begin(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start by text" }).click();
  await answered(page, "Hello").waitFor();
}

/** leave hangs up while the search runs, and comes back. */
async function leave(page: Page): Promise<void> {
  await begin(page);
  await say(page, "find me a hotel");
  await page.locator(".task[data-state=running]").getByText("asking 40 hotels").waitFor();
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.locator(".task[data-state=left]").getByText("The result is kept for the next one.").waitFor();
  await begin(page);
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
}

// Side by side: they wait more than they work.
describe("delegated work", { concurrency: 2, skip }, () => {
  test("work is shown while it runs, called off, and done", async (t) => {
    const { page, begun, answer } = await office(t);
    await begin(page);
    await say(page, "find me a hotel");
    const card = page.locator(".task[data-state=running]");
    await card.getByText("asking 40 hotels").waitFor();
    const time = await card.locator(".task-time").innerText();
    await page.waitForFunction((t) => document.querySelector(".task-time")?.textContent !== t, time);
    await page.getByRole("button", { name: "Call it off: Search" }).click();
    await page.locator(".task[data-state=cancelled]").getByText("Called off.").waitFor();
    await page.waitForSelector(".state[data-state=listening]");
    await say(page, "find me a hotel");
    await card.getByText("asking 40 hotels").waitFor();
    assert.equal(begun(), 2);
    // What is written meanwhile is answered behind it, and is not lost from sight until then.
    await say(page, "what is the time");
    const waiting = page.getByText("will be answered with the result");
    await waiting.waitFor();
    answer();
    await answered(page, "I have found Casa do Jardim.").waitFor();
    await answered(page, "It is noon.").waitFor();
    assert.equal(await waiting.count(), 0);
    assert.equal((await said(page)).filter((l) => l.includes("what is the time")).length, 1);
    assert.equal(await card.count(), 0);
    await page.getByRole("link", { name: "Inspect" }).click();
    await page.waitForSelector(".bar[data-lane=delegated][data-outcome=ok]");
    assert.equal(await page.locator(".bar[data-lane=delegated][data-outcome=cut]").count(), 1);
  });

  test("it outlives its server, and its result is told once", async (t) => {
    const { page, answer, kill, start } = await office(t);
    await begin(page);
    await say(page, "find me a hotel");
    const card = page.locator(".task[data-state=running]");
    await card.getByText("asking 40 hotels").waitFor();
    await kill();
    await start();
    await page.getByText("The connection is back.").waitFor();
    await card.waitFor();
    answer();
    await answered(page, "I have found Casa do Jardim.").waitFor();
    await page.waitForSelector(".state[data-state=listening]");
    assert.equal((await said(page)).filter((l) => l.includes("Casa do Jardim")).length, 1);
  });

  test("who hangs up is told the result in the next conversation", async (t) => {
    const { page, begun, answer } = await office(t);
    await leave(page);
    await page.locator(".task[data-state=running]").getByText("from an earlier conversation").waitFor();
    answer();
    await answered(page, "What you asked for earlier is done.").getByText("result: Search").waitFor();
    assert.equal(begun(), 1, "it was not begun again");
  });

  test("work of an earlier conversation is called off by its button, and the other goes on", async (t) => {
    const { page, begun, answer } = await office(t);
    await leave(page);
    await say(page, "find me a hotel");
    await page.getByRole("button", { name: "Call it off: Search", exact: true }).waitFor();
    await page.getByRole("button", { name: "Call it off: Search, from an earlier conversation" }).press("Enter");
    await page.locator(".task[data-state=cancelled]").getByText("Called off.").waitFor();
    assert.equal(await page.locator(".task[data-state=running]").count(), 1);
    answer();
    await answered(page, "I have found Casa do Jardim.").waitFor();
    assert.equal(begun(), 2);
    assert.equal(await page.getByText("What you asked for earlier").count(), 0);
  });
});
