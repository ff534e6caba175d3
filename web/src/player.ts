// Shows a conversation as it was after any of its steps.

import { Deriver, type Words } from "./model/derive.ts";
import { nothing, show, type Shown } from "./model/talk.ts";
import type { Step } from "./model/wire.ts";

/** Frame is the conversation after one step. */
export interface Frame {
  /** Index of the step; -1 before the first. */
  index: number;
  at: number;
  phase: string;
  /** When the phase was entered. */
  since: number;
  previous?: { phase: string; spent: number; cause: string };
  /** The last transition, for the statechart. */
  edge?: { from: string; to: string };
  shown: Shown;
}

const start: Frame = { index: -1, at: 0, phase: "idle", since: 0, shown: nothing };

/** Between two places that are remembered, in steps. */
const distance = 500;

/**
 * Player seeks in the steps of one conversation. Forwards it goes on from where
 * it is, backwards from the last place that it has remembered.
 */
export class Player {
  private readonly words: () => Words;
  private readonly steps: readonly Step[];
  private deriver: Deriver;
  private frame = start;
  /** After each so many steps: the frame there, and the deriver. */
  private readonly places: { frame: Frame; deriver: Deriver }[] = [];

  constructor(steps: readonly Step[], words: () => Words) {
    this.steps = steps;
    this.words = words;
    this.deriver = new Deriver(words());
  }

  /** seek is the conversation after the step with the index, within the steps there are. */
  seek(index: number): Frame {
    const target = Math.max(-1, Math.min(index, this.steps.length - 1));
    if (target < this.frame.index) {
      const place = this.places.findLast((p) => p.frame.index <= target);
      this.frame = place?.frame ?? start;
      this.deriver = place?.deriver.copy() ?? new Deriver(this.words());
    }
    while (this.frame.index < target) this.forward();
    return this.frame;
  }

  private forward(): void {
    const f: Frame = { ...this.frame, index: this.frame.index + 1 };
    const step = this.steps[f.index]!;
    if (step.restored) {
      f.phase = step.state;
      f.since = step.at;
    }
    for (const t of step.transitions) {
      f.previous = { phase: t.from, spent: step.at - f.since, cause: t.cause };
      f.edge = { from: t.from, to: t.to };
      f.phase = t.to;
      f.since = step.at;
    }
    f.at = step.at;
    f.shown = this.deriver.messages(step).reduce(show, f.shown);
    this.frame = f;
    if ((f.index + 1) % distance === 0 && f.index > (this.places.at(-1)?.frame.index ?? -1)) {
      this.places.push({ frame: f, deriver: this.deriver.copy() });
    }
  }
}
