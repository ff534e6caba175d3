// Pictures of each scene, light and dark, on a desktop and on a phone, and in German on a
// phone, into reports/panel (git ignores it). SHOTS names another folder.

import { mkdirSync } from "node:fs";
import { engineWords } from "../src/words/catalog.ts";
import { dist, launch, web } from "./browser.ts";
import { Fake } from "./fake.ts";
import { scenes, traceOf } from "./scenes.ts";

const out = process.env.SHOTS ?? `${web}../reports/panel`;
const only = process.argv[2];
mkdirSync(out, { recursive: true });

const sizes = { desktop: { width: 1360, height: 860 }, phone: { width: 360, height: 740 } };

// A picture of a whole page has no room for its scroll bar.
const browser = await launch(undefined, "--hide-scrollbars");
for (const scene of scenes.filter((s) => !only || s.name.includes(only))) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const fake = new Fake({ dist, trace: traceOf(scene), words: engineWords("en"), speed: 3 });
      const context = await browser.newContext({ baseURL: await fake.listen(), viewport, colorScheme, locale: "en" });
      const page = await context.newPage();
      page.on("pageerror", (err) => console.error(`${scene.name}: ${err.message}`));
      page.on("console", (m) => m.type() === "error" && !/ERR_|Failed to load/.test(m.text()) && console.error(`${scene.name}: ${m.text()}`));
      await page.goto("/");
      await scene.show(page, fake);
      await page.waitForTimeout(250);
      const picture = (name: string) => page.screenshot({ path: `${out}/${scene.name}-${name}.png`, fullPage: scene.full ?? false });
      await picture(`${size}-${colorScheme}`);
      if (size === "phone" && colorScheme === "light") {
        await page.locator(".quiet-select").selectOption("de", { force: true });
        await picture("phone-german");
      }
      await context.close();
      await fake.close();
    }
  }
}
await browser.close();
console.log(`pictures in ${out}`);
