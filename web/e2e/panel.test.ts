// What the panel does, against a stand-in for the server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { parseTrace } from "../src/model/trace.ts";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch, web } from "./browser.ts";
import { Fake, type FakeOptions } from "./fake.ts";
import { accessible, fits, open, until, type Tab } from "./page.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** panel opens the panel at a server of its own, for one test. */
async function panel(t: TestContext, options: Partial<FakeOptions> = {}): Promise<{ tab: Tab; page: Page; fake: Fake }> {
  const fake = new Fake({ dist, trace: `${web}test/fixtures/flights.jsonl`, words: engineWords("en"), speed: 20, ...options });
  const tab = await open(browser, await fake.listen());
  t.after(async () => {
    await tab.close();
    await fake.close();
  });
  return { tab, page: tab.page, fake };
}

const lines = (page: Page) => page.locator(".talk .line-text").allInnerTexts();

test("a conversation by text: states, words, commands, the end", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("button", { name: "Start by text" }).click();
  // It is listening for a moment before the greeting too.
  await page.waitForSelector(".line-agent[data-outcome=completed]");
  await page.waitForSelector(".state[data-state=listening]");
  assert.equal(await page.locator(".state-label").innerText(), "● Listening");
  assert.deepEqual(await lines(page), ["Welcome to Hocket Airlines. I can book a flight for you. What would you like to do?"]);
  await page.getByRole("textbox", { name: "Write to the agent" }).fill("I want to book a flight");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".compose input")?.value === "");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start by text" }).waitFor();
  assert.match(String(fake.begun[0]!.caller), /^[0-9a-z]{30}$/);
  const timezone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  assert.deepEqual(fake.begun, [{ agent: "flights", transport: "text", caller: fake.begun[0]!.caller, timezone }]);
  assert.deepEqual(fake.commands, [
    { type: "send_text", text: "I want to book a flight" },
    { type: "endConversation", reason: "user" },
  ]);
  // What was said stays, and can be looked into.
  assert.equal((await lines(page)).length, 1);
  await page.getByRole("link", { name: "Look into it" }).click();
  await page.waitForSelector(".timeline");
});

test("words that were not heard are struck through, and said so to a screen reader", { skip }, async (t) => {
  const { page, fake } = await panel(t, { speed: 100 });
  fake.holdAt = (s) => s.at > 26_000;
  await page.getByRole("button", { name: "Start by text" }).click();
  const line = page.locator(".line[data-outcome=interrupted]");
  await line.waitFor();
  assert.match(await line.locator("s").innerText(), /^Denver on Friday/);
  assert.match((await line.locator(".line-text").textContent()) ?? "", /Boston to not heard: Denver .* end of what was not heard\.$/);
});

test("Talk says how long each answer took, as the server measures it", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 12_200;
  await page.getByRole("button", { name: "Start by text" }).click();
  const { timings } = JSON.parse(readFileSync(`${web}test/fixtures/flights.told.json`, "utf8")) as { timings: { turn: number; total_ms: number }[] };
  const first = timings[0]!;
  await page.locator(`.line-agent[data-turn="${first.turn}"] .line-head`).getByText(`+${first.total_ms} ms`).waitFor();
  // Nobody waited for the greeting.
  assert.equal(await page.locator('.line-agent[data-turn="1"] .line-head').getByText("+").count(), 0);
});

test("the agent is stopped, and long work is called off", { skip }, async (t) => {
  const { page, fake } = await panel(t, { trace: `${web}test/fixtures/desk.jsonl` });
  let until = 2000;
  fake.holdAt = (s) => s.at > until;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.getByRole("button", { name: "Stop the agent" }).click();
  until = 18_000;
  await page.waitForSelector(".state[data-state=waitingForCopilot]");
  const card = page.locator(".task");
  await card.getByText("reading the archive").waitFor();
  assert.match(await card.locator(".task-head").innerText(), /^Report\s+0:0\d$/);
  // What is read out: the work and what it says, once, and nothing that only ticks.
  await page.locator("p[role=status]").filter({ hasText: "Report: " }).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Call it off: Report" }).click();
  await page.getByRole("button", { name: "Call it off: Report" }).and(page.locator(":disabled")).waitFor();
  until = 24_000;
  await page.waitForSelector(".state[data-state=speaking]");
  assert.equal(await card.count(), 0, "the reply says what came of it");
  assert.deepEqual(fake.commands, [{ type: "interrupt" }, { type: "cancel", id: "r1" }]);
});

test("work that nobody waits for any more is told later, and its turn says so", { skip }, async (t) => {
  const { page, fake } = await panel(t, { trace: `${web}test/fixtures/tasks.jsonl`, speed: 30 });
  let until = 9200;
  fake.holdAt = (s) => s.at > until;
  await page.getByRole("button", { name: "Start by text" }).click();
  const card = page.locator(".task");
  await card.and(page.locator("[data-background=true]")).getByText("12 have answered").waitFor();
  assert.match(await card.innerText(), /Find hotel\s+0:\d\d\s+in the background/);
  await card.getByRole("button", { name: "Call it off: Find hotel, in the background" }).waitFor();
  until = 17_000;
  await page.locator(".line-agent").filter({ hasText: "Casa do Jardim" }).getByText("result: Find hotel").waitFor();
  await card.getByText("June").waitFor();
  assert.equal(await card.count(), 1);
  until = 19_000;
  await card.getByText("Called off.").waitFor();
  until = 22_000;
  await card.getByText("there is no flight left").waitFor();
  await page.locator(".task[data-state=failed]").getByRole("button", { name: "Dismiss: Compare flights" }).click();
  await page.locator(".task[data-state=failed]").waitFor({ state: "detached" });
  until = 51_000;
  await card.getByText("Took too long").waitFor();
  // The failure is told behind the fault, and is no card any more.
  until = 57_300;
  await page.locator(".line-agent").filter({ hasText: "neither of them worked" }).getByText("result: Compare flights", { exact: true }).waitFor();
  await card.and(page.locator("[data-state=failed]")).waitFor({ state: "detached" });
  // Each has its own button, which calls it off alone.
  until = 60_900;
  for (const name of ["Summary", "Price watch, from an earlier conversation"]) await page.getByRole("button", { name: `Call it off: ${name}` }).click();
  await page.getByRole("button", { name: "Call it off: Pictures" }).and(page.locator(":enabled")).waitFor();
  until = 61_900;
  await page.locator(".task[data-state=cancelled]").nth(1).waitFor();
  assert.deepEqual(fake.commands, [{ type: "cancel", id: "s1" }, { type: "cancel", id: "earlier-2" }]);
  await page.locator(".task[data-state=running]").filter({ hasText: "Pictures" }).waitFor();
  // Side by side they stand one below the other.
  await page.getByRole("link", { name: "Inspect" }).click();
  await page.waitForSelector(".bar[data-lane=delegated][data-outcome=failed]");
});

test("a message is shown, though as many were dismissed in the conversation before", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  for (const message of ["The line is bad.", "The line is still bad."]) {
    await page.getByRole("button", { name: "Start by text" }).click();
    await page.locator(".line").first().waitFor();
    fake.tellAll({ type: "agentvoice.notification", at: 5000, payload: { level: "warning", code: "line.bad", message } });
    const banner = page.locator(".banner").filter({ hasText: message });
    await banner.getByRole("button", { name: "Dismiss" }).click();
    await banner.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "Start by text" }).waitFor();
  }
});

test("with the keyboard alone", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.waitForSelector(".talk-button:not(:disabled)");
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      const label = await page.evaluate(() => {
        const e = document.activeElement as HTMLElement;
        return `${e.getAttribute("aria-label") ?? ""} ${e.innerText ?? ""} ${e.id}`;
      });
      if (name.test(label)) return;
    }
    assert.fail(`the Tab key does not reach ${name}`);
  };
  await tabTo(/Skip to the content/);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "content");
  await tabTo(/Start by text/);
  await page.keyboard.press("Enter");
  // The keyboard is where the words go: the button that it was at is gone.
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Write to the agent");
  await page.waitForSelector(".state[data-state=listening]");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await tabTo(/End/);
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Start by text" }).waitFor();
  assert.deepEqual(fake.commands.map((c) => c.type), ["send_text", "endConversation"]);
  await tabTo(/Look into it/);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".timeline");
  await tabTo(/Position in the conversation/);
  await page.keyboard.press("Home");
  await page.locator(".stepper-at").filter({ hasText: "Step 1 of" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.locator(".stepper-at").filter({ hasText: "Step 2 of" }).waitFor();
  await page.keyboard.press("End");
});

test("the button that starts a conversation keeps the keyboard, and ends it", { skip }, async (t) => {
  const { page, fake } = await panel(t, { agents: [{ name: "flights", title: "Hocket Airlines", language: "en", speech: false }] });
  fake.holdAt = (s) => s.at > 5000;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/v1/conversations", async (route) => {
    if (route.request().method() === "POST") await answered;
    await route.continue();
  });
  const button = page.locator(".talk-button:not(:disabled)");
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator(".talk-button[aria-busy=true]").waitFor();
  // Drawn twice: what is disabled has lost the keyboard by then.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.keyboard.press("Enter");
  answer();
  await page.waitForSelector(".state[data-state=listening]");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "End");
  assert.equal(fake.begun.length, 1, "one that begins is not begun again, nor ended");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Start by text" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Start by text");
});

test("Escape stops the agent while it speaks, and does nothing else", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  let held = 1000;
  fake.holdAt = (s) => s.at > held;
  await page.getByRole("button", { name: "Start by text" }).click();
  const stop = page.getByRole("button", { name: "Stop the agent" });
  await stop.focus();
  assert.equal(await stop.getAttribute("aria-keyshortcuts"), "Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Write to the agent" }).press("Escape");
  await page.waitForFunction(() => document.querySelector(".state[data-state=speaking]"));
  assert.deepEqual(fake.commands, [{ type: "interrupt" }, { type: "interrupt" }]);
  await stop.focus();
  held = 5000;
  await page.waitForSelector(".line-agent[data-outcome=completed]");
  await page.waitForSelector(".state[data-state=listening]");
  // The button is gone, and has left the keyboard to the text field.
  await page.waitForFunction(() => document.activeElement?.tagName === "INPUT");
  await page.keyboard.press("Escape");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await until("the line", () => fake.commands.length >= 3);
  assert.deepEqual(fake.commands.slice(2), [{ type: "send_text", text: "hello" }]);
});

test("a developer changes the instructions and the voice of the next conversation", { skip }, async (t) => {
  const settings = { instructions: "Be kind.", model: true, voice: "", voices: ["slt", "rms"] };
  const { page, fake } = await panel(t, { agents: [{ name: "flights", title: "Hocket Airlines", language: "en", speech: true, settings }] });
  fake.holdAt = (s) => s.at > 5000;
  await page.getByText("Change the agent").focus();
  await page.keyboard.press("Enter");
  const instructions = page.getByLabel("Instructions");
  assert.equal(await instructions.inputValue(), "Be kind.");
  await instructions.fill("Be short.");
  await page.getByLabel("Voice").selectOption("rms");
  const begin = async () => {
    await page.getByRole("button", { name: "Start by text" }).click();
    await page.locator(".line").first().waitFor();
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("button", { name: "Start by text" }).waitFor();
  };
  await begin();
  assert.deepEqual(fake.begun.at(-1)!.changes, { instructions: "Be short.", voice: "rms" });
  // It stays changed, until the agent's own settings are wanted again.
  await page.locator(".workbench summary .tag").waitFor();
  await page.getByText("Change the agent").click();
  await page.getByLabel("Voice").selectOption("");
  await accessible(page, "an agent that is changed");
  await page.setViewportSize({ width: 360, height: 740 });
  await fits(page, "an agent that is changed");
  await begin();
  assert.deepEqual(fake.begun.at(-1)!.changes, { instructions: "Be short." });
  if (!(await page.getByLabel("Instructions").isVisible())) await page.getByText("Change the agent").click();
  await page.getByRole("button", { name: "As in the files" }).click();
  await begin();
  assert.equal(fake.begun.at(-1)!.changes, undefined);
});

test("a German page names the states of an English agent in German", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("combobox", { name: "Language" }).selectOption("de");
  assert.equal(await page.locator(".state-label").innerText(), "Bereit");
  await page.getByRole("button", { name: "Schriftlich beginnen" }).click();
  await page.waitForSelector(".line-agent[data-outcome=completed]");
  await page.waitForSelector(".state[data-state=listening]");
  assert.equal(await page.locator(".state-label").innerText(), "● Hört zu");
  fake.tellAll({ type: "agentvoice.notification", at: 5000, payload: { level: "info", code: "reply.slow", message: engineWords("en")("reply.slow") } });
  await page.getByText("Die Antwort lässt auf sich warten; neuer Versuch.").waitFor();
  await page.getByRole("link", { name: "Einblick" }).click();
  assert.match(await page.locator(".conversation-meta").innerText(), /^● Hört zu · \d+:\d+ · schriftlich$/);
});

test("a conversation whose client has gone is not paused: it waits for it", { skip }, async (t) => {
  const { page, fake } = await panel(t, { trace: `${web}test/fixtures/tasks.jsonl` });
  let until = 3700;
  fake.holdAt = (s) => s.at > until;
  fake.add("flights", "webrtc");
  await page.goto("#inspect");
  await page.locator(".conversation-meta").filter({ hasText: "Connection lost" }).waitFor();
  await page.locator(".conversation").click();
  await page.getByText(/The connection is lost since \d.* waits for it until \d/).waitFor();
  await page.locator(".conversation-meta").filter({ hasText: /until \d+:\d+/ }).waitFor();
  until = 7000;
  await page.getByText("The connection is lost").waitFor({ state: "detached" });
  assert.equal(await page.locator(".conversation-meta").filter({ hasText: /Connection lost|until/ }).count(), 0);
});

test("an agent is called the same on each view", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("button", { name: "Start by text" }).click();
  const who = page.locator(".line-agent .line-who");
  await who.waitFor();
  assert.equal(await who.innerText(), "Hocket Airlines");
  await page.getByRole("link", { name: "Inspect" }).click();
  for (const what of [page.locator(".conversation-name"), page.locator(".watched-head h2"), who]) assert.equal(await what.innerText(), "Hocket Airlines");
});

test("where a person is called for, it is said that nobody takes over here", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.locator(".line").first().waitFor();
  fake.tellAll({ type: "agentvoice.notification", at: 5000, payload: { level: "info", code: "handoff", message: engineWords("en")("handoff") } });
  await page.getByText("Nobody takes over on this page").waitFor();
  assert.equal(await page.getByText("You are being put through").count(), 0);
});

test("a trace from disk is stepped through, both ways, with no call to the server", { skip }, async (t) => {
  const { page, tab } = await panel(t);
  await page.goto("#inspect");
  // What it asks the server for by itself, it has asked for by then.
  await until("the list of conversations", () => tab.requests.includes("GET /v1/conversations"));
  const before = tab.requests.length;
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/desk.jsonl`);
  await page.waitForSelector(".timeline");
  const phase = () => page.locator(".now").getAttribute("data-phase");
  const lit = () => page.locator(".chart .node.live").getAttribute("data-state");
  const slider = page.getByLabel("Position in the conversation");
  await slider.fill("20");
  assert.deepEqual([await phase(), await lit()], ["interrupted", "interrupted"]);
  assert.equal(await page.locator(".chart .edge.taken").getAttribute("data-from"), "speaking");
  await page.getByRole("button", { name: "Step back" }).click();
  assert.deepEqual([await phase(), await lit()], ["speaking", "speaking"]);
  assert.equal(await page.locator("s.unheard").count(), 0);
  await page.getByRole("button", { name: "Next transition" }).click();
  await page.getByRole("button", { name: "Next transition" }).click();
  assert.equal(await lit(), "listening.capturing");
  assert.equal(await page.locator("s.unheard").innerText(), "and seven degrees.");
  await page.getByRole("button", { name: "Last step" }).click();
  assert.equal(await lit(), "idle");
  await page.getByRole("button", { name: "First step" }).click();
  assert.match(await page.locator(".stepper-at").innerText(), /Step 1 of 61/);
  // A lane for each kind of work, and the figures of seed 001's debug view.
  for (const lane of ["speech", "transcript", "model", "tools", "delegated", "sent", "heard"]) {
    assert.ok((await page.locator(`.bar[data-lane=${lane}]`).count()) > 0, lane);
  }
  assert.deepEqual(await page.locator(".metric-value").allInnerTexts(), ["1.6 s", "1", "3", "2"]);
  // A browser asks for the icon when it likes.
  assert.deepEqual(tab.requests.slice(before).filter((r) => r !== "GET /icon.svg"), []);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the trace" }).click();
  assert.equal(readFileSync(await (await download).path(), "utf8"), readFileSync(`${web}test/fixtures/desk.jsonl`, "utf8"));
});

test("the steps that the exploration has met are counted, and others are marked", { skip }, async (t) => {
  // A machine whose exploration has not met the barge-in of this trace, by words.
  const { steps } = parseTrace(readFileSync(`${web}test/fixtures/desk.jsonl`, "utf8"));
  const begun = steps.flatMap((s) => s.transitions);
  const missed = steps.filter((s) => s.transitions.some((c) => c.to === "interrupted"));
  assert.equal(missed.length, 1);
  const chart = { transitions: begun.filter((c) => c.to !== "interrupted").map(({ from, to, cause }) => ({ from, to, causes: [cause] })) };
  const { page } = await panel(t, { chart });
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/desk.jsonl`);
  await page.getByText(`explored ${steps.length - 1} of ${steps.length}`).waitFor();
  await page.getByRole("button", { name: "Progress", exact: true }).click();
  const marked = page.locator(".event").filter({ hasText: "not met in the exploration" });
  assert.deepEqual(await marked.locator("code").allInnerTexts(), [missed[0]!.event]);
  await accessible(page, "the badge of explored steps");
});

test("an hour is drawn where it is looked at, and stepped through", { skip }, async (t) => {
  const { page } = await panel(t);
  const [header, ...lines] = readFileSync(`${web}test/fixtures/flights.jsonl`, "utf8").trimEnd().split("\n");
  // The same call again and again, without its end, with times and turns that go on.
  const call = lines.slice(3, -2).map((l) => JSON.parse(l) as Record<string, unknown>);
  const text = [header, ...lines.slice(0, 3)];
  for (let i = 0; i < 90; i++) {
    for (const s of call) {
      const shifted = JSON.stringify({ ...s, at: Number(s.at) + i * 42_000 });
      text.push(shifted.replace(/"turn":(\d+)/g, (_, n: string) => `"turn":${Number(n) + i * 11}`));
    }
  }
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", { name: "hour.jsonl", mimeType: "text/plain", buffer: Buffer.from(text.join("\n") + "\n") });
  await page.waitForSelector(".timeline");
  const bars = () => page.locator(".bar").count();
  assert.ok((await bars()) > 20);
  assert.ok((await bars()) < 2500, `${await bars()} bars`);
  await page.getByRole("button", { name: "Last step" }).click();
  await page.waitForFunction(() => document.querySelector<HTMLElement>(".lanes")!.scrollLeft > 1000);
  await page.waitForFunction(() => document.querySelectorAll(".bar").length > 20);
  assert.ok((await bars()) < 2500, `${await bars()} bars`);
  await page.getByRole("button", { name: "Step back" }).click();
  assert.match(await page.locator(".stepper-at").innerText(), /Step 19,?\d+ of/);
});

test("a file that is no trace is refused with the reason", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello\n") });
  assert.match(await page.getByRole("alert").innerText(), /notes\.txt cannot be opened\s+A line is not JSON.*line 1/);
});

test("events are filtered by kind and by word", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.goto("#inspect");
  await page.setInputFiles("input[type=file]", `${web}test/fixtures/desk.jsonl`);
  await page.waitForSelector(".event");
  const names = () => page.locator(".event code").allInnerTexts();
  assert.ok(!(await names()).includes("playout.progress"));
  await page.getByRole("button", { name: "Progress", exact: true }).click();
  assert.ok((await names()).includes("playout.progress"));
  await page.getByRole("searchbox", { name: "Filter" }).fill("austin");
  assert.deepEqual(await names(), ["stt.partial", "stt.final", "tool.called"]);
  await page.locator(".event").last().click();
  assert.match(await page.locator(".detail").innerText(), /run_tool/);
});

test("several conversations are watched live, and one is chosen", { skip }, async (t) => {
  const { page, fake } = await panel(t, { speed: 1 });
  fake.holdAt = (s) => s.at > 40_000; // it speaks, and does not end
  await page.goto("#inspect");
  fake.add("flights", "webrtc");
  await page.locator(".conversation").nth(0).waitFor();
  fake.add("clinic", "sip");
  await page.locator(".conversation").nth(1).waitFor();
  assert.deepEqual(await page.locator(".conversation-name").allInnerTexts(), ["clinic", "Hocket Airlines"]);
  await page.locator(".conversation", { hasText: "clinic" }).click();
  await page.waitForSelector(".now[data-phase=speaking]");
  const step = async () => Number(/Step (\d+)/.exec(await page.locator(".stepper-at").innerText())?.[1]);
  const first = await step();
  await page.waitForFunction((n) => Number(/Step (\d+)/.exec(document.querySelector<HTMLElement>(".stepper-at")!.innerText)?.[1]) > n + 3, first);
  // Looking back stands still while the conversation goes on.
  await page.getByRole("button", { name: "Following live" }).click();
  await page.getByRole("button", { name: "Step back" }).click();
  const stood = await page.locator(".stepper-at").innerText();
  await page.waitForTimeout(500);
  assert.equal((await page.locator(".stepper-at").innerText()).split(" of ")[0], stood.split(" of ")[0]);
  await page.locator(".conversation", { hasText: "Hocket Airlines" }).click();
  assert.equal(await page.locator(".watched-head h2").innerText(), "Hocket Airlines");
});

test("a stream that breaks off is taken up, and nothing is lost or doubled", { skip }, async (t) => {
  const { page, fake, tab } = await panel(t, { speed: 8 });
  tab.allow.push(/ERR_|Failed to load/);
  fake.holdAt = (s) => s.at > 20_000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.locator(".line").nth(1).waitFor();
  fake.down = true;
  fake.drop();
  await page.getByText("The connection to the server is lost").waitFor();
  assert.equal(await page.locator(".state-label").innerText(), "⋯ Reconnecting");
  await page.getByText(/Next try in \d s/).waitFor();
  fake.down = false;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("The connection is back.").waitFor();
  await page.locator(".line").nth(7).getByText("next friday").waitFor();
  assert.deepEqual((await lines(page)).slice(0, 8).map((l) => l.split(" ")[0]), ["Welcome", "i", "And", "from", "Where", "to", "And", "next"]);
  assert.equal(await page.getByText("The connection to the server is lost").count(), 0);
});

test("a server that does not answer is told, and asked again", { skip }, async (t) => {
  const { page, fake, tab } = await panel(t);
  tab.allow.push(/ERR_|Failed to load/);
  await page.goto("#inspect");
  await page.getByText("No conversation yet.").waitFor();
  fake.down = true;
  fake.drop();
  await page.getByText("The server does not answer. Trying again…").waitFor();
  assert.equal(await page.getByText("No conversation yet.").count(), 0);
  fake.down = false;
  fake.add("flights", "text");
  await page.locator(".conversation").first().waitFor();
  assert.equal(await page.getByText("The server does not answer. Trying again…").count(), 0);
});

test("a reload takes the conversation up again", { skip }, async (t) => {
  const { page, fake, tab } = await panel(t, { speed: 10 });
  tab.allow.push(/ERR_|Failed to load/);
  fake.holdAt = (s) => s.at > 10_000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.locator(".line").nth(1).waitFor();
  await page.reload();
  await page.locator(".line").nth(2).waitFor();
  assert.equal(fake.conversations.size, 1);
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start by text" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Start by text" }).waitFor();
  assert.equal(await page.locator(".line").count(), 0, "what was ended is not taken up");
});

test("without a microphone there is help, and text works", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 0;
  const refuse = (name: string) =>
    page.evaluate((n) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", n));
    }, name);
  for (const [name, help] of [
    ["NotAllowedError", /may not use the microphone/],
    ["NotFoundError", /No microphone was found/],
    ["NotReadableError", /used by another program/],
  ] as const) {
    await refuse(name);
    await page.getByRole("button", { name: "Start talking" }).click();
    await page.waitForFunction((h) => new RegExp(h).test(document.querySelector("[role=alert]")?.textContent ?? ""), help.source);
  }
  assert.equal(fake.begun.length, 0, "no conversation begins without a microphone");
  await page.getByRole("button", { name: "Go on by text" }).click();
  await page.locator(".line").first().waitFor();
  await page.getByRole("textbox").waitFor();
  assert.deepEqual(fake.begun.map((b) => b.transport), ["text"]);
});

test("the key is asked for, sent, kept in the tab alone", { skip }, async (t) => {
  const { page, fake, tab } = await panel(t, { key: "secret" });
  tab.allow.push(/401/);
  await page.getByLabel("API key").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The server did not accept this key.").waitFor();
  await page.getByLabel("API key").fill("secret");
  await page.keyboard.press("Enter");
  fake.holdAt = (s) => s.at > 5000;
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.waitForSelector(".line");
  assert.equal(await page.evaluate("sessionStorage.getItem('hocket.key')"), '"secret"');
  assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), ["hocket.caller"]);
  await page.getByRole("link", { name: "Inspect" }).click();
  await page.waitForSelector(".timeline");
});

test("states are read out when they have settled, partial words never", { skip }, async (t) => {
  const { page, fake } = await panel(t);
  fake.holdAt = (s) => s.at > 5000;
  await page.evaluate(() => {
    const said: string[] = ((window as unknown as { said: string[] }).said = []);
    const live = (n: Node) => (n instanceof Element ? n : n.parentElement)?.closest("[role=status],[role=alert],[role=log],[aria-live]");
    new MutationObserver((list) => {
      for (const m of list) {
        const region = live(m.target);
        if (region) said.push(region.textContent ?? "");
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole("button", { name: "Start by text" }).click();
  await page.waitForFunction(() => (window as unknown as { said: string[] }).said.includes("Listening"));
  fake.holdAt = (s) => s.at > 12_200;
  await page.locator(".line").nth(3).waitFor();
  await page.waitForTimeout(600);
  const said = await page.evaluate(() => (window as unknown as { said: string[] }).said);
  assert.ok(said.includes("Welcome to Hocket Airlines. I can book a flight for you. What would you like to do?"), said.join(" | "));
  assert.ok(!said.some((s) => s === "i want to"), said.join(" | "));
});

test("German, and dark, are kept", { skip }, async (t) => {
  const { page } = await panel(t);
  await page.getByRole("combobox", { name: "Language" }).selectOption("de");
  await page.getByRole("button", { name: "Gespräch beginnen" }).waitFor();
  await page.getByRole("button", { name: /Aussehen: Wie das System/ }).click();
  await page.getByRole("button", { name: /Aussehen: Hell/ }).click();
  await page.reload();
  await page.getByRole("button", { name: /Aussehen: Dunkel/ }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "de");
  assert.equal(await page.evaluate("getComputedStyle(document.documentElement).colorScheme"), "dark");
});

test("inside of an editor the panel shows what is posted, and asks for nothing", { skip }, async (t) => {
  const fake = new Fake({ dist, trace: `${web}test/fixtures/desk.jsonl`, words: engineWords("en") });
  const url = await fake.listen();
  const context = await browser.newContext({ baseURL: url, locale: "en" });
  t.after(async () => {
    await context.close();
    await fake.close();
  });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const posted: unknown[] = [];
    Object.assign(window, {
      posted,
      acquireVsCodeApi: () => ({ postMessage: (m: unknown) => posted.push(m) }),
    });
    navigator.mediaDevices.getUserMedia = () => {
      posted.push("microphone");
      return Promise.reject(new Error("no"));
    };
  });
  const calls: string[] = [];
  page.on("request", (r) => r.url().includes("/v1/") && calls.push(r.url()));
  await page.goto("/");
  await page.waitForSelector(".talk");
  const post = (m: unknown) => page.evaluate((data) => window.postMessage(data, "*"), m);
  await post({ type: "agentvoice.state", payload: { state: "waitingForCopilot", localizedLabel: "⋯ Waiting for Copilot", turnId: "turn-1" } });
  await post({ type: "transcript", payload: { role: "user", turn: 1, text: "explain this file", final: true } });
  await page.waitForSelector(".state[data-state=waitingForCopilot]");
  await page.waitForSelector(".line-text");
  assert.deepEqual(await page.locator(".line-text").allInnerTexts(), ["explain this file"]);
  await page.getByRole("textbox").fill("the other one");
  await page.keyboard.press("Enter");
  await page.waitForFunction("posted.length === 2");
  assert.deepEqual(await page.evaluate("posted"), [
    { type: "hocket.ready" },
    { type: "hocket.command", payload: { type: "send_text", text: "the other one" } },
  ]);
  assert.deepEqual(calls, []);
});
