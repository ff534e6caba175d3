// Each scene, in light and dark, on a desktop and on the smallest phone: no
// violation of axe's rules, nothing wider than the window, nothing refused by
// the Content-Security-Policy.

import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { engineWords } from "../src/words/catalog.ts";
import { dist, executable, launch } from "./browser.ts";
import { Fake } from "./fake.ts";
import { accessible, fits, open } from "./page.ts";
import { scenes, traceOf } from "./scenes.ts";

const skip = executable() ? false : "there is no Chromium on this machine";
let browser: Browser;

before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };

for (const scene of scenes) {
  test(scene.name, { skip }, async () => {
    const fake = new Fake({ dist, trace: traceOf(scene), words: engineWords("en") });
    const tab = await open(browser, await fake.listen(), { reducedMotion: "reduce" });
    if (scene.allow) tab.allow.push(scene.allow);
    try {
      await scene.show(tab.page, fake);
      await tab.page.setViewportSize(sizes.phone);
      const language = tab.page.locator(".quiet-select");
      await language.selectOption("de", { force: true });
      await fits(tab.page, `${scene.name}, phone, German`);
      await language.selectOption("en", { force: true });
      for (const [size, viewport] of Object.entries(sizes)) {
        await tab.page.setViewportSize(viewport);
        await fits(tab.page, `${scene.name}, ${size}`);
        // Colours are the same on both; what is laid out otherwise is not.
        for (const colorScheme of size === "desktop" ? (["light", "dark"] as const) : (["dark"] as const)) {
          await tab.page.emulateMedia({ colorScheme });
          await accessible(tab.page, `${scene.name}, ${size}, ${colorScheme}`);
        }
      }
    } finally {
      await tab.close();
      await fake.close();
    }
  });
}
