// How long the panel takes to show a state: the server's time of the transition
// against the time at which the page has changed, on one machine.

import type { Page } from "playwright-core";

interface Seen {
  state: string;
  at: number;
}

/** watchStates notes when the page shows which state. */
export async function watchStates(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: Seen[] = ((window as unknown as { seen: Seen[] }).seen = []);
    const note = () => {
      const state = document.querySelector<HTMLElement>(".talk .state")?.dataset.state ?? "";
      if (state !== "" && seen.at(-1)?.state !== state) seen.push({ state, at: performance.timeOrigin + performance.now() });
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] });
  });
}

/** Delay is how late the page was with one state, in milliseconds. */
export interface Delay {
  state: string;
  ms: number;
}

/**
 * delays are how long after each transition the page showed its state. States
 * that lasted less than the limit need not be shown: the page draws the last of
 * those that come together.
 */
export async function delays(page: Page, url: string, id: string, limit: number): Promise<Delay[]> {
  // The page is asked last: what it is asked about has had its time by then.
  const sent = await statesOf(url, id);
  await page.waitForTimeout(limit);
  const seen = await page.evaluate(() => (window as unknown as { seen: Seen[] }).seen);
  const list: Delay[] = [];
  for (const [i, s] of sent.entries()) {
    const until = sent[i + 1]?.at ?? Infinity;
    if (until - s.at <= limit) continue;
    // What the page shows from one change to the next.
    const shown = seen.findIndex((v, n) => v.state === s.state && (seen[n + 1]?.at ?? Infinity) > s.at);
    list.push({ state: s.state, ms: shown < 0 ? Infinity : Math.max(0, seen[shown]!.at - s.at) });
  }
  return list;
}

async function statesOf(url: string, id: string): Promise<Seen[]> {
  const stop = new AbortController();
  const res = await fetch(`${url}/v1/conversations/${id}/events?from=1`, { signal: stop.signal });
  let text = "";
  const timer = setTimeout(() => stop.abort(), 1500);
  try {
    for await (const chunk of res.body!) {
      text += Buffer.from(chunk).toString();
      if (text.includes("event: end")) break;
    }
  } catch {
    // The conversation goes on; what there is so far will do.
  }
  clearTimeout(timer);
  const states: Seen[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const m = JSON.parse(line.slice(6)) as { type?: string; payload: { state: string; since: string } };
    if (m.type !== "agentvoice.state") continue;
    // Of the nanoseconds, what a Date cannot hold.
    const fine = Number(`0.${/\.(\d+)/.exec(m.payload.since)?.[1] ?? "0"}`) * 1000;
    states.push({ state: m.payload.state, at: Math.floor(Date.parse(m.payload.since) / 1000) * 1000 + fine });
  }
  return states;
}
