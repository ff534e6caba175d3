// Finds conversations among those that are kept.

import type { Stored } from "./wire.ts";

/** Standing is where a kept conversation stands. */
export const standings = ["live", "open", "over", "unreadable"] as const;
export type Standing = (typeof standings)[number];

/** standingOf is where a conversation stands: it runs, may be taken up again, has ended, or cannot be read. */
export function standingOf(c: Stored): Standing {
  if (c.error) return "unreadable";
  return c.live ? "live" : c.ended ? "over" : "open";
}

/** found are those of a standing, or of all without one, whose text has all the words. Case does not matter. */
export function found(list: readonly Stored[], words: string, standing: Standing | undefined, textOf: (c: Stored) => string): readonly Stored[] {
  const wanted = words.toLowerCase().split(/\s+/).filter((w) => w !== "");
  return list.filter((c) => {
    if (standing !== undefined && standingOf(c) !== standing) return false;
    const text = `${textOf(c)} ${c.agent ?? ""} ${c.id}`.toLowerCase();
    return wanted.every((w) => text.includes(w));
  });
}
