// The scenes of the panel: each page and state, shown with a stand-in for the server.
// views.test.ts checks them, and screenshots.ts takes their pictures.

import type { Page } from "playwright-core";
import { web } from "./browser.ts";
import type { Fake } from "./fake.ts";
import { shelf } from "./stored.ts";

export interface Scene {
  name: string;
  show: (page: Page, fake: Fake) => Promise<unknown>;
  /** The trace that the stand-in plays: a file of test/fixtures; flights.jsonl if absent. */
  trace?: string;
  /** Errors of the page that belong to the scene. */
  allow?: RegExp;
  /** The picture has the whole page. */
  full?: boolean;
}

const byText = (page: Page) => page.getByRole("button", { name: "Start by text" }).click();

/** hold stops the conversations at a time of their traces, in milliseconds. */
const hold = (fake: Fake, at: number) => {
  fake.holdAt = (s) => s.at > at;
};

/** held starts a conversation and stops it at a time of its trace, in milliseconds. */
const held = async (page: Page, fake: Fake, at: number, speed?: number) => {
  if (speed) fake.options.speed = speed;
  hold(fake, at);
  await byText(page);
};

const until = (state: string) => async (page: Page) => {
  await byText(page);
  await page.waitForSelector(`.state[data-state="${state}"]`, { timeout: 60_000 });
};

/** openTrace opens a trace at a step. */
const openTrace = async (page: Page, file: string, step: number) => {
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/${file}`);
  await page.waitForSelector(".timeline");
  await page.getByLabel("Position in the conversation").fill(String(step));
};

/** openPast opens a stored conversation, counted from 0. */
const openPast = async (page: Page, fake: Fake, nth = 0) => {
  fake.options.stored = shelf();
  await page.goto("#past");
  await page.locator(".conversation").nth(nth).click();
};

/** behind is a conversation whose server cannot reach its store. */
const behind = async (page: Page, fake: Fake) => {
  await held(page, fake, 8000, 20);
  await page.locator(".line").nth(2).waitFor();
  fake.tellAll({ type: "agentvoice.notification", at: 8000, payload: { code: "store.behind", level: "warning", message: "" } });
  await page.waitForSelector(".banner");
};

const noMicrophone = async (page: Page) => {
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
  });
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.waitForSelector(".banner");
};

export const scenes: Scene[] = [
  { name: "talk-ready", show: (page) => page.waitForSelector(".talk-button:not(:disabled)") },
  {
    name: "talk-described",
    show: async (page, fake) => {
      fake.options.agents = [{ name: "flights", title: "Hocket Airlines", language: "en", speech: true, recording: true, description: "Books, changes and cancels flights, for you and for up to eight others who fly with you." }];
      fake.options.recording = true;
      await page.reload();
      await page.getByText("Calls are recorded.").waitFor();
      await page.getByText("Books, changes and cancels flights").waitFor();
    },
  },
  {
    name: "talk-recorded",
    show: async (page, fake) => {
      fake.options.recording = true;
      await held(page, fake, 5000);
      await page.locator(".recorded").waitFor();
    },
  },
  {
    name: "talk-workbench",
    show: async (page, fake) => {
      const settings = { instructions: "You answer the telephone of Ada's bicycle shop. Answer in one or two short sentences.", model: true, voice: "", voices: ["slt", "rms"] };
      fake.options.agents = [{ name: "shop", title: "Shop", language: "en", speech: true, settings, description: "Answers the telephone of a bicycle shop." }];
      await page.reload();
      await page.getByText("Change the agent").click();
      await page.getByLabel("Voice").selectOption("rms");
    },
  },
  { name: "talk-speaking", show: until("speaking") },
  { name: "talk-listening", show: until("listening") },
  {
    name: "talk-thinking",
    show: async (page, fake) => {
      fake.holdAt = (s) => s.event === "stt.final";
      await until("processing")(page);
    },
  },
  {
    name: "talk-interrupted",
    show: async (page, fake) => {
      await held(page, fake, 30_000, 60);
      await page.waitForSelector(".unheard", { timeout: 60_000 });
      await page.waitForSelector(".state[data-state=speaking]");
    },
  },
  {
    name: "talk-tools",
    trace: "desk.jsonl",
    show: async (page, fake) => {
      await held(page, fake, 8000, 60);
      await page.locator(".call[data-state=done]", { hasText: "Boston" }).getByText("400 ms").waitFor();
      await page.locator(".call[data-state=running]", { hasText: "Austin" }).waitFor();
      hold(fake, 9000);
      await page.locator(".call[data-state=failed]").waitFor();
    },
  },
  {
    name: "talk-waiting",
    trace: "desk.jsonl",
    show: async (page, fake) => {
      await held(page, fake, 18_000, 20);
      await page.locator(".task").getByText("reading the archive").waitFor();
    },
  },
  {
    name: "talk-tasks",
    trace: "tasks.jsonl",
    show: async (page, fake) => {
      await held(page, fake, 9200, 60);
      await page.locator(".task[data-background=true]").getByText("12 have answered").waitFor();
      hold(fake, 22_000);
      await page.locator(".task[data-state=failed]").waitFor();
      hold(fake, 31_000);
      await page.locator(".task[data-state=running]").waitFor();
    },
  },
  {
    name: "talk-several-tasks",
    trace: "tasks.jsonl",
    show: async (page, fake) => {
      await held(page, fake, 60_900, 200);
      await page.locator(".task").getByRole("button", { name: /^Call it off/ }).nth(2).waitFor({ timeout: 60_000 });
    },
  },
  { name: "talk-no-microphone", show: noMicrophone },
  {
    name: "talk-key",
    allow: /401/,
    show: async (page, fake) => {
      fake.options.key = "secret";
      await page.reload();
      await page.waitForSelector("dialog[open]");
    },
  },
  {
    name: "talk-lost",
    allow: /ERR_|Failed to load/,
    show: async (page, fake) => {
      await behind(page, fake);
      fake.down = true;
      fake.drop();
      await page.getByRole("button", { name: "Try now" }).waitFor();
    },
  },
  { name: "talk-store-behind", show: behind },
  {
    name: "past",
    show: async (page, fake) => {
      await openPast(page, fake, 1);
      await page.getByRole("button", { name: "Step through it" }).waitFor();
    },
  },
  {
    name: "past-recording",
    full: true,
    show: async (page, fake) => {
      await openPast(page, fake);
      await page.getByRole("button", { name: "Listen" }).click();
      await page.waitForFunction(() => document.querySelector("audio")!.duration > 29);
      await page.locator("audio").evaluate((a: HTMLAudioElement) => (a.currentTime = 12));
    },
  },
  {
    name: "past-policy",
    full: true,
    show: async (page, fake) => {
      await openPast(page, fake);
      await page.getByRole("button", { name: "Compare" }).click();
      await page.locator(".flag").waitFor();
    },
  },
  {
    name: "past-delete",
    show: async (page, fake) => {
      await openPast(page, fake);
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.waitForSelector("dialog[open]");
    },
  },
  {
    name: "past-no-store",
    allow: /404/,
    show: async (page) => {
      await page.goto("#past");
      await page.waitForSelector("code.command");
    },
  },
  {
    name: "inspect-empty",
    show: async (page) => {
      await page.goto("#inspect");
      await page.waitForSelector(".conversations");
    },
  },
  {
    name: "inspect-live",
    show: async (page, fake) => {
      fake.options.speed = 4;
      fake.add("clinic", "webrtc");
      fake.add("flights", "text");
      await page.goto("#inspect");
      await page.locator(".conversation").first().click();
      await page.waitForSelector(".timeline");
    },
  },
  {
    name: "inspect-bad-file",
    show: async (page) => {
      await page.goto("#inspect");
      await page.setInputFiles("input[type=file]", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello\n") });
      await page.waitForSelector(".banner");
    },
  },
  { name: "inspect-trace", full: true, show: (page) => openTrace(page, "flights.jsonl", 130) },
  { name: "inspect-tools", full: true, show: (page) => openTrace(page, "desk.jsonl", 40) },
  { name: "inspect-tasks", full: true, show: (page) => openTrace(page, "tasks.jsonl", 30) },
];

/** trace is the path of the trace of a scene. */
export const traceOf = (scene: Scene) => `${web}test/fixtures/${scene.trace ?? "flights.jsonl"}`;
