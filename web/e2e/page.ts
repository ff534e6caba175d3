// A page of the panel under test: it fails on any error, on any request to
// elsewhere, and on anything that the Content-Security-Policy refuses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Tab is a page and what it must not have done. */
export interface Tab {
  page: Page;
  /** Requests so far, by method and path. */
  requests: string[];
  /** Errors that the test expects. */
  allow: RegExp[];
  close(): Promise<void>;
}

/** open opens the panel at a server. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ baseURL: url, locale: "en", viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  const tab: Tab = {
    page,
    requests: [],
    allow: [],
    close: async () => {
      await context.close();
      assert.equal(problems.filter((p) => !tab.allow.some((a) => a.test(p))).join("\n"), "");
    },
  };
  page.on("pageerror", (err) => problems.push(err.message));
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("request", (r) => {
    const to = new URL(r.url());
    if (to.protocol === "blob:" || to.protocol === "data:") return;
    tab.requests.push(`${r.method()} ${to.pathname}`);
    if (to.origin !== new URL(url).origin) problems.push(`a request to elsewhere: ${r.url()}`);
  });
  await page.goto("./");
  return tab;
}

/** until waits for what no page shows. */
export async function until(what: string, ok: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await ok()); ) {
    assert.ok(Date.now() < end, `it does not come: ${what}`);
    await new Promise((next) => setTimeout(next, 20));
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** accessible holds the page to all rules of axe. */
export async function accessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations)`,
  );
  const told = violations.flatMap((v) => v.nodes.map((n) => `${v.id} at ${n.target.join(" ")}: ${n.failureSummary}`));
  assert.equal(told.join("\n"), "", what);
}

/** What scrolls up and down must not have to be scrolled to the side. */
const boxes = "html, .talk, .transcript, .tasks, .kept";

/** fits holds the page to its width. */
export async function fits(page: Page, what: string): Promise<void> {
  const wide = await page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(boxes)})].filter((e) => e.scrollWidth > e.clientWidth)
      .map((e) => e.tagName + "." + e.className + ": " + e.scrollWidth + " px wide in " + e.clientWidth)`,
  );
  assert.equal(wide.join("\n"), "", what);
}
