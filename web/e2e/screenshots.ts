// Pictures of each state, light and dark, on a desktop and on a phone, into
// reports/panel (git ignores it). SHOTS names another folder.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, launch, web } from "./browser.ts";
import { Fake } from "./fake.ts";
import { shelf } from "./stored.ts";

const out = process.env.SHOTS ?? `${web}../reports/panel`;
const only = process.argv[2];
mkdirSync(out, { recursive: true });

const sizes = { desktop: { width: 1360, height: 860 }, phone: { width: 360, height: 740 } };

interface Shot {
  name: string;
  trace?: string;
  run: (page: Page, fake: Fake) => Promise<void>;
  full?: boolean;
}

const openTrace = async (page: Page, file: string) => {
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/${file}`);
  await page.waitForSelector(".timeline");
};

const until = (state: string) => async (page: Page) => {
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.waitForSelector(`.state[data-state="${state}"]`, { timeout: 60_000 });
};

/** behind is a conversation whose server cannot reach its store. */
const behind = async (page: Page, fake: Fake) => {
  fake.options.speed = 20;
  fake.holdAt = (s) => s.at > 8000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.locator(".line").nth(2).waitFor();
  fake.tellAll({ type: "agentvoice.notification", at: 8000, payload: { code: "store.behind", level: "warning", message: "" } });
  await page.waitForSelector(".banner");
};

const shots: Shot[] = [
  { name: "talk-ready", run: async (page) => void (await page.waitForSelector(".talk-button:not(:disabled)")) },
  { name: "talk-speaking", run: until("speaking") },
  { name: "talk-listening", run: until("listening") },
  {
    name: "talk-thinking",
    run: async (page, fake) => {
      fake.holdAt = (s) => s.event === "stt.final";
      await until("processing")(page);
    },
  },
  {
    name: "talk-waiting",
    trace: "desk.jsonl",
    run: async (page, fake) => {
      fake.options.speed = 20;
      fake.holdAt = (s) => s.at > 18_000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".task").getByText("reading the archive").waitFor();
    },
  },
  {
    name: "talk-tools",
    trace: "desk.jsonl",
    run: async (page, fake) => {
      fake.options.speed = 40;
      fake.holdAt = (s) => s.at > 9000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".call[data-state=failed]").waitFor();
    },
  },
  {
    name: "talk-tasks",
    trace: "tasks.jsonl",
    run: async (page, fake) => {
      fake.options.speed = 60;
      let until = 22_000;
      fake.holdAt = (s) => s.at > until;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".task[data-state=failed]").waitFor();
      until = 31_000;
      await page.locator(".task[data-state=running]").waitFor();
    },
  },
  {
    name: "talk-several-tasks",
    trace: "tasks.jsonl",
    run: async (page, fake) => {
      fake.options.speed = 100;
      fake.holdAt = (s) => s.at > 60_900;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.locator(".task").nth(2).waitFor({ timeout: 60_000 });
    },
  },
  {
    name: "talk-interrupted",
    run: async (page, fake) => {
      fake.options.speed = 30;
      fake.holdAt = (s) => s.at > 30_000;
      await page.getByRole("button", { name: "Start by text" }).click();
      await page.waitForSelector(".unheard", { timeout: 60_000 });
      await page.waitForSelector(".state[data-state=speaking]");
    },
  },
  {
    name: "talk-no-microphone",
    run: async (page) => {
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
      });
      await page.getByRole("button", { name: "Start talking" }).click();
      await page.waitForSelector(".banner");
    },
  },
  {
    name: "talk-key",
    run: async (page, fake) => {
      fake.options.key = "secret";
      await page.reload();
      await page.waitForSelector("dialog[open]");
    },
  },
  {
    name: "talk-lost",
    run: async (page, fake) => {
      await behind(page, fake);
      fake.down = true;
      fake.drop();
      await page.getByRole("button", { name: "Try now" }).waitFor();
    },
  },
  {
    name: "talk-store-behind",
    run: behind,
  },
  {
    name: "past",
    run: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").nth(1).click();
      await page.getByRole("button", { name: "Step through it" }).waitFor();
    },
  },
  {
    name: "past-recording",
    full: true,
    run: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").first().click();
      await page.getByRole("button", { name: /Listen|Anhören/ }).click();
      await page.waitForFunction(() => document.querySelector("audio")!.duration > 29);
      await page.locator("audio").evaluate((a: HTMLAudioElement) => (a.currentTime = 12));
    },
  },
  {
    name: "talk-workbench",
    run: async (page, fake) => {
      const settings = { instructions: "You answer the telephone of Ada's bicycle shop. Answer in one or two short sentences.", model: true, voice: "", voices: ["slt", "rms"] };
      fake.options.agents = [{ name: "shop", title: "Shop", language: "en", speech: true, settings, description: "Answers the telephone of a bicycle shop." }];
      await page.reload();
      await page.getByText("Change the agent").click();
      await page.getByLabel("Voice").selectOption("rms");
    },
  },
  {
    name: "talk-described",
    run: async (page, fake) => {
      fake.options.agents = [{ name: "flights", title: "Hocket Airlines", language: "en", speech: true, recording: true, description: "Books, changes and cancels flights, for you and for up to eight others who fly with you." }];
      fake.options.recording = true;
      await page.reload();
      await page.waitForSelector(".stage-note");
    },
  },
  {
    name: "past-policy",
    full: true,
    run: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").first().click();
      await page.getByRole("button", { name: "Compare" }).click();
      await page.locator(".flag").waitFor();
    },
  },
  {
    name: "past-delete",
    run: async (page, fake) => {
      fake.options.stored = shelf();
      await page.goto("#past");
      await page.locator(".conversation").first().click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.waitForSelector("dialog[open]");
    },
  },
  { name: "past-no-store", run: async (page) => void (await page.goto("#past"), await page.waitForSelector("code.command")) },
  { name: "inspect-empty", run: async (page) => void (await page.goto("#inspect")) },
  {
    name: "inspect-trace",
    full: true,
    run: async (page) => {
      await openTrace(page, "flights.jsonl");
      await page.getByLabel("Position in the conversation").fill("124");
    },
  },
  {
    name: "inspect-tools",
    full: true,
    run: async (page) => {
      await openTrace(page, "desk.jsonl");
      await page.getByLabel("Position in the conversation").fill("38");
    },
  },
  {
    name: "inspect-tasks",
    full: true,
    run: async (page) => {
      await openTrace(page, "tasks.jsonl");
      await page.getByLabel("Position in the conversation").fill("30");
    },
  },
  {
    name: "inspect-live",
    run: async (page, fake) => {
      fake.options.speed = 4;
      fake.add("clinic", "webrtc");
      fake.add("flights", "text");
      await page.goto("#inspect");
      await page.locator(".conversation").first().click();
      await page.waitForTimeout(2500);
    },
  },
  {
    name: "inspect-bad-file",
    run: async (page) => {
      await page.goto("#inspect");
      await page.setInputFiles("input[type=file]", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello\n") });
      await page.waitForSelector(".banner");
    },
  },
];

// A picture of a whole page has no room for its scroll bar.
const browser = await launch(undefined, "--hide-scrollbars");
for (const shot of shots.filter((s) => !only || s.name.includes(only))) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const fake = new Fake({ dist, trace: `${web}test/fixtures/${shot.trace ?? "flights.jsonl"}`, words: engineWords("en"), speed: 3 });
      const context = await browser.newContext({ baseURL: await fake.listen(), viewport, colorScheme, locale: "en" });
      const page = await context.newPage();
      page.on("pageerror", (err) => console.error(`${shot.name}: ${err.message}`));
      page.on("console", (m) => m.type() === "error" && !/ERR_|Failed to load/.test(m.text()) && console.error(`${shot.name}: ${m.text()}`));
      await page.goto("/");
      await shot.run(page, fake);
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${out}/${shot.name}-${size}-${colorScheme}.png`, fullPage: shot.full ?? false });
      await context.close();
      await fake.close();
    }
  }
}
await browser.close();
console.log(`pictures in ${out}`);
