// The panel under a path, behind a proxy that removes the path or leaves it.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.ts";
import { serve } from "./hocket.ts";
import { open } from "./page.ts";
import { flights, said, skip, speaks } from "./real.ts";

/** proxy forwards what is below /voice/ to a server, and answers 404 to all else. */
async function proxy(to: string, strip: boolean): Promise<{ url: string; close(): void }> {
  const server = createServer((req, res) => {
    const path = req.url ?? "/";
    if (!path.startsWith("/voice/")) {
      res.writeHead(404).end();
      return;
    }
    const headers = { ...req.headers, "x-forwarded-host": req.headers.host, "x-forwarded-for": "192.0.2.1", host: new URL(to).host };
    const out = request(new URL(strip ? path.slice("/voice".length) : path, to), { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    out.on("error", () => res.destroy());
    res.on("close", () => out.destroy());
    req.pipe(out);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/voice/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

for (const strip of [false, true]) {
  test(`the panel under a path that the proxy ${strip ? "removes" : "leaves"}`, { skip }, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "hocket-"));
    const config = join(dir, "hocket.yaml");
    writeFileSync(config, `server: {path: /voice/, trusted_proxies: [127.0.0.1]}\nstore: {path: ${join(dir, "kept")}}\n`);
    const server = await serve(["--agent", flights, "--config", config]);
    const browser = await launch();
    const front = await proxy(server.url, strip);
    const tab = await open(browser, front.url, { permissions: ["clipboard-read", "clipboard-write"] });
    const page = tab.page;
    t.after(async () => {
      for (const line of await said(page)) t.diagnostic(line);
      await tab.close();
      await browser.close();
      front.close();
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    });
    if (await speaks(server)) {
      await page.getByRole("button", { name: "Start talking" }).click();
      await page.getByText("Welcome to Hocket Airlines").first().waitFor();
      await page.getByRole("button", { name: "End", exact: true }).click();
      await page.getByRole("button", { name: "Start by text" }).waitFor();
    } else t.diagnostic("this build has no speech: there is no call by voice");
    await page.getByRole("button", { name: "Start by text" }).click();
    await page.getByText("Welcome to Hocket Airlines").first().waitFor();
    await page.getByRole("textbox").fill("I want to book a flight");
    await page.keyboard.press("Enter");
    await page.locator(".line-agent .line-text").filter({ hasText: /fly from/ }).waitFor();
    await page.getByRole("link", { name: "Inspect" }).click();
    await page.waitForSelector(".now[data-phase='listening.ready']");
    await page.getByRole("button", { name: "Copy the link" }).click();
    await page.getByText("Copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(new URL(link).pathname, /^\/voice\/$/);
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator(".transcript .line").first().waitFor();
    const elsewhere = tab.requests.filter((r) => !/ \/voice\//.test(r));
    assert.deepEqual(elsewhere, [], "every request is below the path");
    const names = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
    assert.ok(names.length > 0 && names.every((n) => n.startsWith("hocket./voice/.")), `kept in the browser: ${names.join(", ")}`);
  });
}
