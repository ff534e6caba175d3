// Which steps the exploration of the machine has met. The server tells what it has met
// (GET /v1/statechart); the rule is that of hocket_steps_total and `hocket replay
// --explored`, and a test holds it against them.

import type { Step } from "./wire.ts";

/** Chart is the answer of GET /v1/statechart, as far as it is read. */
export interface Chart {
  transitions: readonly { from: string; to: string; causes: readonly string[] }[];
}

/** Explored are the changes of phase that the exploration has met, with their causes. */
export class Explored {
  private readonly taken = new Set<string>();

  constructor(chart: Chart) {
    for (const { from, to, causes } of chart.transitions) for (const cause of causes) this.taken.add(key(from, to, cause));
  }

  /** met reports whether all changes of phase of a step were met. A step within a phase is: every event was tried in every phase. */
  met(step: Step): boolean {
    return step.transitions.every((t) => this.taken.has(key(t.from, t.to, t.cause)));
  }

  /** share is how many steps were met, and of how many. What a conversation was restored from is not a step. */
  share(steps: readonly Step[]): { met: number; of: number } {
    let [met, of] = [0, 0];
    for (const s of steps) {
      if (s.restored) continue;
      of++;
      if (this.met(s)) met++;
    }
    return { met, of };
  }
}

const key = (from: string, to: string, cause: string) => `${from}\n${to}\n${cause}`;
