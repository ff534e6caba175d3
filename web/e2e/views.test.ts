// Each view, in light and dark, on a desktop and on the smallest phone: no
// violation of axe's rules, nothing wider than the window, nothing refused by
// the Content-Security-Policy.

import { after, before, test } from "node:test";
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

interface View {
  name: string;
  show: (page: Page, fake: Fake) => Promise<unknown>;
  allow?: RegExp;
  /** What the stand-in plays. */
  trace?: string;
}

const openTrace = async (page: Page, file: string, step: number) => {
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/${file}`);
  await page.getByLabel("Position in the conversation").fill(String(step));
};

const views: View[] = [
  {
    name: "ready, with a description, where calls are recorded",
    show: async (page, fake) => {
      fake.options.agents = [{ name: "flights", title: "Hocket Airlines", language: "en", speech: true, recording: true, description: "Books, changes and cancels flights, for you and for up to eight others who fly with you." }];
      fake.options.recording = true;
      await page.reload();
      await page.getByText("Calls are recorded.").waitFor();
      await page.getByText("Books, changes and cancels flights").waitFor();
      fake.holdAt = (s) => s.at > 5000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".recorded").waitFor();
      await page.getByRole("button", { name: "End", exact: true }).click();
      await page.getByText("Books, changes and cancels flights").waitFor();
    },
  },
  { name: "ready", show: (page) => page.waitForSelector(".talk-button:not(:disabled)") },
  {
    name: "a conversation with words that were not heard",
    show: async (page, fake) => {
      fake.options.speed = 60;
      fake.holdAt = (s) => s.event === "session.ended" || s.at > 40_000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.waitForSelector(".unheard");
      await page.waitForSelector(".state[data-state=speaking]");
    },
  },
  {
    name: "no microphone",
    show: async (page) => {
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
      });
      await page.getByRole("button", { name: "Start talking" }).click();
      await page.waitForSelector(".banner");
    },
  },
  {
    name: "the key is asked for",
    allow: /401/,
    show: async (page, fake) => {
      fake.options.key = "secret";
      await page.reload();
      await page.waitForSelector("dialog[open]");
    },
  },
  {
    name: "nothing to inspect",
    show: async (page) => {
      await page.goto("#inspect");
      await page.waitForSelector(".conversations");
    },
  },
  {
    name: "delegated work",
    trace: "tasks.jsonl",
    show: async (page, fake) => {
      fake.options.speed = 60;
      let until = 9200;
      fake.holdAt = (s) => s.at > until;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".task[data-background=true]").getByText("12 have answered").waitFor();
      until = 22_000;
      await page.locator(".task[data-state=failed]").waitFor();
      until = 31_000;
      await page.locator(".task[data-state=running]").waitFor();
    },
  },
  {
    name: "calls of tools",
    trace: "desk.jsonl",
    show: async (page, fake) => {
      fake.options.speed = 60;
      let until = 8000;
      fake.holdAt = (s) => s.at > until;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".call[data-state=done]", { hasText: "Boston" }).getByText("400 ms").waitFor();
      await page.locator(".call[data-state=running]", { hasText: "Austin" }).waitFor();
      until = 9000;
      await page.locator(".call[data-state=failed]").waitFor();
    },
  },
  {
    name: "several pieces of delegated work",
    trace: "tasks.jsonl",
    show: async (page, fake) => {
      fake.options.speed = 200;
      fake.holdAt = (s) => s.at > 60_900;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".task").getByRole("button", { name: /^Call it off/ }).nth(2).waitFor();
    },
  },
  {
    name: "a line that is lost",
    allow: /ERR_|Failed to load/,
    show: async (page, fake) => {
      fake.holdAt = (s) => s.at > 5000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".line").first().waitFor();
      fake.down = true;
      fake.drop();
      await page.getByRole("button", { name: "Try now" }).waitFor();
    },
  },
  {
    name: "past conversations",
    show: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").first().click();
      await page.getByRole("button", { name: "Step through it" }).waitFor();
    },
  },
  {
    name: "the question before a deletion",
    show: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").first().click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.waitForSelector("dialog[open]");
    },
  },
  { name: "a trace with an interruption", show: (page) => openTrace(page, "flights.jsonl", 130) },
  { name: "a trace with tools and failures", show: (page) => openTrace(page, "desk.jsonl", 40) },
];

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };

for (const view of views) {
  test(view.name, { skip }, async () => {
    const fake = new Fake({ dist, trace: `${web}test/fixtures/${view.trace ?? "flights.jsonl"}`, words: engineWords("en") });
    const tab = await open(browser, await fake.listen(), { reducedMotion: "reduce" });
    if (view.allow) tab.allow.push(view.allow);
    try {
      await view.show(tab.page, fake);
      await tab.page.setViewportSize(sizes.phone);
      const language = tab.page.locator(".quiet-select");
      await language.selectOption("de", { force: true });
      await fits(tab.page, `${view.name}, phone, German`);
      await language.selectOption("en", { force: true });
      for (const [size, viewport] of Object.entries(sizes)) {
        await tab.page.setViewportSize(viewport);
        await fits(tab.page, `${view.name}, ${size}`);
        // Colours are the same on both; what is laid out otherwise is not.
        for (const colorScheme of size === "desktop" ? (["light", "dark"] as const) : (["dark"] as const)) {
          await tab.page.emulateMedia({ colorScheme });
          await accessible(tab.page, `${view.name}, ${size}, ${colorScheme}`);
        }
      }
    } finally {
      await tab.close();
      await fake.close();
    }
  });
}
