// What a person sets of the sound, in a real call of Chromium's: the other end of it is
// in the page, too, and measures what comes.

import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch, web } from "./browser.ts";
import { Fake } from "./fake.ts";
import { accessible, fits, open } from "./page.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

/** call is a page with a call. The page's function loud measures what comes of the microphone; its player plays the tone of the other end. */
async function call(t: TestContext): Promise<{ page: Page; fake: Fake; again: () => Promise<void> }> {
  const fake = new Fake({ dist, trace: `${web}test/fixtures/flights.jsonl`, words: engineWords("en"), speed: 20 });
  fake.holdAt = (s) => s.at > 5000;
  const tab = await open(browser, await fake.listen());
  t.after(async () => {
    await tab.close();
    await fake.close();
  });
  const { page } = tab;
  await page.addInitScript(() => {
    const player = window.Audio;
    window.Audio = class extends player {
      constructor() {
        super();
        Object.assign(window, { player: this });
      }
    };
    const context = new AudioContext();
    const measure = context.createAnalyser();
    Object.assign(window, {
      /** answer takes a call of the page's. */
      answer: async (sdp: string) => {
        const pc = new RTCPeerConnection();
        pc.ontrack = (e) => {
          // Chromium decodes what an element plays alone.
          const sink = document.createElement("audio");
          sink.muted = true;
          sink.srcObject = e.streams[0]!;
          void sink.play();
          context.createMediaStreamSource(e.streams[0]!).connect(measure);
        };
        const tone = context.createOscillator();
        const out = context.createMediaStreamDestination();
        tone.connect(out);
        tone.start();
        pc.addTrack(out.stream.getTracks()[0]!, out.stream);
        await pc.setRemoteDescription({ type: "offer", sdp });
        await pc.setLocalDescription(await pc.createAnswer());
        while (pc.iceGatheringState !== "complete") await new Promise((next) => pc.addEventListener("icegatheringstatechange", next, { once: true }));
        return pc.localDescription!.sdp;
      },
      loud: () => {
        const samples = new Float32Array(measure.fftSize);
        measure.getFloatTimeDomainData(samples);
        return samples.some((s) => Math.abs(s) > 0.01);
      },
    });
  });
  await page.route("**/v1/conversations", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const { sdp } = route.request().postDataJSON() as { sdp: string };
    const answer = await page.evaluate<string, string>((s) => (window as unknown as { answer: (s: string) => Promise<string> }).answer(s), sdp);
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), sdp: answer } });
  });
  const begin = async () => {
    await page.reload();
    await page.getByRole("button", { name: "Start talking" }).click();
    await page.getByRole("button", { name: "Mute" }).waitFor();
  };
  await begin();
  return { page, fake, again: begin };
}

/** silent waits for 60 frames of silence, a second and more: the microphone beeps twice in that. */
const silent = (page: Page) =>
  page.evaluate(async () => {
    const loud = (window as unknown as { loud: () => boolean }).loud;
    for (let quiet = 0; quiet < 60; quiet = loud() ? 0 : quiet + 1) await new Promise(requestAnimationFrame);
  });
const loud = (page: Page) => page.waitForFunction(() => (window as unknown as { loud: () => boolean }).loud());

test("a microphone that is muted is not heard, until it is opened again", { skip }, async (t) => {
  const { page } = await call(t);
  const mute = page.getByRole("button", { name: "Mute" });
  await loud(page);
  await mute.click();
  assert.equal(await mute.getAttribute("aria-pressed"), "true");
  await silent(page);
  await mute.click();
  await loud(page);
  // Push to talk has a button of its own, and forgets the mute.
  await mute.click();
  await page.getByRole("radio", { name: "Push to talk" }).check();
  assert.equal(await mute.count(), 0);
  await page.getByRole("radio", { name: "Hands-free" }).check();
  assert.equal(await mute.getAttribute("aria-pressed"), "false");
  await loud(page);
});

test("another microphone, another speaker and the volume are chosen, and stay chosen", { skip }, async (t) => {
  const { page, again } = await call(t);
  await page.getByText("Sound", { exact: true }).click();
  const microphones = page.getByRole("combobox", { name: "Microphone" });
  const speakers = page.getByRole("combobox", { name: "Speaker" });
  await microphones.waitFor();
  const other = async (of: typeof microphones) => (await of.locator("option").last().getAttribute("value"))!;
  const chosen = [await other(microphones), await other(speakers)];
  await page.getByRole("button", { name: "Mute" }).click();
  await microphones.selectOption(chosen[0]!);
  await page.waitForFunction((id) => localStorage.getItem("hocket.microphone") === JSON.stringify(id), chosen[0]!);
  // A new microphone does not open what is muted.
  await silent(page);
  await page.getByRole("button", { name: "Mute" }).click();
  await loud(page);
  await speakers.selectOption(chosen[1]!);
  await page.waitForFunction((id) => (window as unknown as { player: HTMLAudioElement }).player.sinkId === id, chosen[1]!);
  await page.getByRole("slider", { name: "Volume" }).fill("35");
  const volume = () => page.evaluate(() => (window as unknown as { player: HTMLAudioElement }).player.volume);
  assert.equal(await volume(), 0.35);
  await accessible(page, "the sound's settings");
  await page.setViewportSize({ width: 360, height: 740 });
  await fits(page, "the sound's settings");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
  await again();
  await page.getByText("Sound", { exact: true }).click();
  await microphones.waitFor();
  assert.deepEqual([await microphones.inputValue(), await speakers.inputValue()], chosen);
  assert.equal(await volume(), 0.35);
  assert.equal(await page.evaluate(() => (window as unknown as { player: HTMLAudioElement }).player.sinkId), chosen[1]);
});
