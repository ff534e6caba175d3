// The page that the README's first agent ends with: TestPeerReadme has gone there, PAGE
// is its address, and CALLER is the recording of the call before, caller on the left.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.ts";
import { samples, wav } from "./hocket.ts";
import { open } from "./page.ts";
import { speaks } from "./real.ts";

const url = process.env.PAGE;

test("the README's agent answers what is said into the microphone", { skip: url ? false : "TestPeerReadme runs it" }, async (t) => {
  assert.ok(url && process.env.CALLER);
  const dir = mkdtempSync(join(tmpdir(), "readme-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const call = readFileSync(process.env.CALLER);
  const rate = call.readUInt32LE(24);
  const both = samples(call);
  // Silence first: the person begins when the greeting is over, not before. And after.
  const left = Buffer.alloc(2 * 2 * rate + both.length / 2 + 2 * 60 * rate);
  for (let i = 0; i < both.length / 4; i++) both.copy(left, 2 * (2 * rate + i), 4 * i, 4 * i + 2);
  const microphone = join(dir, "microphone.wav");
  writeFileSync(microphone, wav(left, rate));
  assert.ok(await speaks({ url, stop: async () => {}, kill: async () => {} }), "the server has no speech engines");
  const browser = await launch(microphone);
  t.after(() => browser.close());
  const tab = await open(browser, url);
  const { page } = tab;
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.locator(".line-agent .line-text").filter({ hasText: "Ada's bicycle shop." }).waitFor();
  await page.locator(".line-user .line-text").filter({ hasText: /open/i }).waitFor();
  await page.locator(".line-agent[data-outcome=completed] .line-text").filter({ hasText: "On Saturday we are open from 10 to 2." }).waitFor();
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
  await tab.close();
});
