// The panel against the program itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { watchStates } from "./delays.ts";
import { open, until } from "./page.ts";
import { conversationOf, limit, panel, prompt, said, skip, speaks } from "./real.ts";

test("a flight is booked by text", { skip }, async (t) => {
  const { page, server } = await panel(t);
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
  // The server counts the same steps.
  await until("the badge shows what the server counts", async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const count = (explored: boolean) => Number(new RegExp(`^hocket_steps_total\\{explored="${explored}"\\} (\\d+)`, "m").exec(metrics)?.[1] ?? 0);
    const [met, others] = [count(true), count(false)];
    return met > 0 && (await page.locator(".transitions-card .tag").innerText()) === `explored ${met} of ${met + others}`;
  });
  await page.getByRole("link", { name: "Talk" }).click();
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
});

test("a server with keys: two pages with different ones see their own conversations", { skip }, async (t) => {
  const keys = ["first-key-0123456789", "second-key-0123456789"];
  const { page, server, browser } = await panel(t, { env: { HOCKET_API_KEYS: keys.join(",") }, allow: [/401/] });
  const other = await open(browser, server.url);
  other.allow.push(/401/);
  for (const [i, p] of [page, other.page].entries()) {
    await p.getByLabel("API key").fill(keys[i]!);
    await p.keyboard.press("Enter");
    await p.getByRole("button", { name: "Start by text" }).click();
    await p.locator(".line").first().waitFor();
    await p.getByRole("link", { name: "Inspect" }).click();
    await p.waitForSelector(".timeline");
  }
  for (const p of [page, other.page]) await p.locator(".conversation").first().waitFor();
  for (const p of [page, other.page]) assert.equal(await p.locator(".conversation").count(), 1);
  await other.close();
});

test("a server that has no keys any more: the one that the tab kept is forgotten", { skip }, async (t) => {
  const { page } = await panel(t, { allow: [/401/] });
  await page.evaluate(() => sessionStorage.setItem("hocket.key", JSON.stringify("first-key-0123456789")));
  await page.reload();
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.locator(".line").first().waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem("hocket.key")), null);
});

test("push to talk, another network, a reload", { skip }, async (t) => {
  const { page, server } = await panel(t);
  if (!(await speaks(server))) return t.skip("this build has no recognizer or no voice, or no WebRTC");
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.waitForSelector(".state[data-state=speaking]");
  await page.getByRole("radio", { name: "Push to talk" }).check();
  const phase = async () => ((await (await fetch(`${server.url}/v1/conversations`)).json()) as { conversations: { phase: string }[] }).conversations[0]!.phase;
  // The button breaks into the greeting.
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await page.keyboard.down("Space");
  await page.waitForSelector(".hold-button[aria-pressed=true]");
  await until("the button is heard", async () => (await phase()) === "listening.capturing");
  await page.keyboard.up("Space");
  await page.waitForSelector(".hold-button[aria-pressed=false]");
  await until("the button is let go of", async () => (await phase()) !== "listening.capturing");
  // A new network: the page offers again, and the server answers.
  const answered = page.waitForResponse((r) => r.url().endsWith("/sdp") && r.request().method() === "POST");
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  assert.equal((await answered).status(), 200);
  // A reload: the same conversation goes on, over a new connection.
  await page.locator(".line").first().locator("s.unheard").waitFor();
  const before = (await said(page))[0];
  await page.reload();
  await page.waitForSelector("canvas.duet");
  await until(`"${before}" is there again`, async () => (await said(page))[0] === before);
  await conversationOf(server);
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
});
