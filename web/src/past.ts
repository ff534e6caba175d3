// The conversations that the server keeps, as the Past view shows them.

import { batch, signal } from "@preact/signals";
import type { Alternative, Policy, Stored, StoredDetails } from "./model/wire.ts";
import type { Server } from "./source/server.ts";
import { problemOf, type Problem } from "./source/source.ts";

/** Past reads, opens and deletes stored conversations. problem reports failures. */
export class Past {
  /** Undefined until it was read. */
  readonly list = signal<readonly Stored[] | undefined>(undefined);
  /** There are older ones than those of the list. */
  readonly more = signal(false);
  readonly chosen = signal<StoredDetails | undefined>(undefined);
  readonly chosenId = signal("");
  readonly problem = signal<Problem | undefined>(undefined);
  /** What was deleted last, until something else is looked at. */
  readonly deleted = signal("");
  private readonly server: Server;
  private next: string | undefined;

  constructor(server: Server) {
    this.server = server;
  }

  /** load reads the list from its beginning. */
  async load(): Promise<void> {
    this.next = undefined;
    await this.read([]);
  }

  /** older adds those that were saved before. */
  async older(): Promise<void> {
    if (this.next) await this.read(this.list.peek() ?? []);
  }

  private async read(before: readonly Stored[]): Promise<void> {
    await this.attempt(async () => {
      const { conversations, next } = await this.server.stored(this.next);
      this.next = next;
      batch(() => {
        this.list.value = [...before, ...conversations];
        this.more.value = next !== undefined;
      });
    });
  }

  /** choose shows one of the list. */
  async choose(id: string): Promise<void> {
    batch(() => {
      this.chosenId.value = id;
      this.deleted.value = "";
      if (this.chosen.peek()?.id !== id) this.chosen.value = undefined;
    });
    await this.attempt(async () => {
      const one = await this.server.storedOne(id);
      if (this.chosenId.peek() === id) this.chosen.value = one;
    });
  }

  /** trace is the trace of one; undefined where that failed. */
  async trace(id: string): Promise<string | undefined> {
    return this.attempt(() => this.server.storedTrace(id));
  }

  /** recording is the sound of one; undefined where that failed. */
  async recording(id: string): Promise<{ sound: Blob; started: number } | undefined> {
    return this.attempt(() => this.server.recording(id));
  }

  /** alternatives are where another policy decides otherwise; undefined where that failed. */
  async alternatives(id: string, policy: Policy): Promise<readonly Alternative[] | undefined> {
    return this.attempt(() => this.server.alternatives(id, policy));
  }

  /** delete deletes one for good. */
  async delete(id: string): Promise<void> {
    await this.attempt(async () => {
      await this.server.deleteStored(id);
      batch(() => {
        this.list.value = this.list.peek()?.filter((c) => c.id !== id);
        if (this.chosenId.peek() === id) {
          this.chosen.value = undefined;
          this.chosenId.value = "";
        }
        this.deleted.value = id;
      });
    });
  }

  private async attempt<V>(run: () => Promise<V>): Promise<V | undefined> {
    this.problem.value = undefined;
    try {
      return await run();
    } catch (err) {
      this.problem.value = problemOf(err);
      return undefined;
    }
  }
}
