// The panel and the program, which is killed in the middle of a conversation and
// started again with the same store.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { until } from "./page.ts";
import { flights, house, said, skip, speaks } from "./real.ts";

/** stored is a panel at a server with a store. */
const stored = (t: TestContext) =>
  house(t, (dir) => {
    const config = join(dir, "config.yaml");
    writeFileSync(config, `store:\n  path: ${join(dir, "store.db")}\n`);
    return ["--agent", flights, "--config", config];
  });

const answered = (page: Page, words: RegExp) => page.locator(".line-agent[data-outcome=completed] .line-text").filter({ hasText: words }).waitFor();

async function say(page: Page, text: string, answer: RegExp): Promise<void> {
  await page.getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
  await answered(page, answer);
}

/** past looks at what the store has of the conversation, which three processes have held, and deletes it. */
async function past(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Past" }).click();
  await page.locator(".conversation").click();
  await page.locator(".line-user").filter({ hasText: "from boston" }).waitFor();
  await page.getByRole("button", { name: "Step through it" }).click();
  await page.waitForSelector(".timeline");
  await page.getByRole("button", { name: "Last step" }).click();
  const users = await page.locator(".line-user .line-text").allInnerTexts();
  assert.deepEqual(users, ["I want to book a flight", "from boston", "to denver", "next friday"], "one conversation, each line once");
  await page.getByRole("link", { name: "Past" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByText("Nothing is kept yet.").first().waitFor();
}

// Side by side: they wait more than they work.
describe("a server that dies", { concurrency: 2, skip }, () => {
  test("a server that is killed and started again is a short break, by text", async (t) => {
    const { page, server, kill, start } = await stored(t);
    await page.getByRole("button", { name: "Start by text" }).click();
    await answered(page, /Welcome to Hocket Airlines/);
    await say(page, "I want to book a flight", /from/);
    await say(page, "from boston", /Where/);
    const before = await said(page);
    await kill();
    await page.getByText("The connection to the server is lost").waitFor();
    await start();
    await page.getByText("The connection to the server is lost").waitFor({ state: "detached" });
    await page.waitForSelector(".state[data-state=listening]");
    assert.deepEqual((await said(page)).slice(0, before.length), before, "what was said stays, each line once");
    await say(page, "to denver", /on which day/);
    // A reload shows what was said to the process before.
    await kill();
    await start();
    await page.reload();
    await page.locator(".line").nth(before.length + 1).waitFor();
    const texts = (lines: string[]) => lines.map((l) => l.replace(/\d+:\d\d/, ""));
    assert.deepEqual(texts(await said(page)).slice(0, before.length), texts(before));
    await say(page, "next friday", /flying from Boston to Denver on Friday/);
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "Start talking" }).or(page.getByRole("button", { name: "Start by text" })).first().waitFor();
    // The page knows before the server is done with it.
    await until("the conversation goes on no more", async () => {
      const { conversations } = (await (await fetch(`${server().url}/v1/stored`)).json()) as { conversations: { live: boolean }[] };
      return conversations.length === 1 && !conversations[0]!.live;
    });
    await past(page);
  });

  test("so it is by voice, over a new connection", async (t) => {
    const { page, server, kill, start } = await stored(t);
    if (!(await speaks(server()))) return t.skip("this build has no recognizer or no voice, or no WebRTC");
    await page.getByRole("button", { name: "Start talking" }).click();
    await page.waitForSelector(".state[data-state=speaking]");
    await page.getByRole("radio", { name: "Push to talk" }).check();
    await say(page, "I want to book a flight", /from/);
    await kill();
    await page.getByText("The connection to the server is lost").waitFor();
    await start();
    await page.getByText("The connection to the server is lost").waitFor({ state: "detached" });
    await say(page, "from boston", /Where/);
    assert.equal(await page.getByText("The network").count(), 0);
    assert.equal(await page.locator(".line-user").filter({ hasText: "I want to book a flight" }).count(), 1);
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "Start talking" }).waitFor();
  });
});
