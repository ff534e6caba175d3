/** The pauses before a program that has died is started again, in milliseconds. */
const pauses = [500, 1000, 2000, 5000, 10_000];

/** A program that ran for so long was well, in milliseconds. */
const well = 60_000;

/** Backoff says when a program that dies is started again, and when no more. */
export class Backoff {
  private deaths = 0;

  /** next is the pause after a life of so many milliseconds; undefined: it is given up. */
  next(lived: number): number | undefined {
    if (lived >= well) this.deaths = 0;
    return pauses[this.deaths++];
  }

  /** reset begins anew: somebody has asked for it. */
  reset(): void {
    this.deaths = 0;
  }
}
