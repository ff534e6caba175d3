// Chromium as the tests drive it.

import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

declare const WEB: string;

export const web = WEB;
export const dist = process.env.PANEL_DIST ?? `${WEB}../server/panel/dist`;

/** executable is the browser on this machine; CHROMIUM names another. */
export function executable(): string | undefined {
  const known = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return known.find((path) => path && existsSync(path));
}

/** launch starts it, with a microphone that plays a file, silence without one, and with more flags. */
export function launch(microphone?: string, ...flags: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: executable(),
    headless: false, // the flag below chooses the new headless mode
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      ...flags,
      ...(microphone ? [`--use-file-for-fake-audio-capture=${microphone}`] : []),
    ],
  });
}
