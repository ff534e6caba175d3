import assert from "node:assert/strict";
import { test } from "node:test";
import { found, standingOf } from "../src/model/shelf.ts";
import type { Stored } from "../src/model/wire.ts";

const one = (id: string, more: Partial<Stored> = {}): Stored => ({ id, agent: "flights", ended: true, turns: 1, saved: "2026-11-20T12:00:00Z", trace: true, live: false, ...more });
const list = [one("a1"), one("b2", { agent: "clinic", ended: false }), one("c3", { live: true, ended: false }), one("d4", { error: "locked", agent: undefined })];
const titles: Record<string, string> = { flights: "Hocket Airlines", clinic: "Dr. Öztürk" };
const ids = (words: string, standing?: ReturnType<typeof standingOf>) => found(list, words, standing, (c) => titles[c.agent ?? ""] ?? "").map((c) => c.id);

test("kept conversations are found by words of title, name and id, in any case", () => {
  assert.deepEqual(ids(""), ["a1", "b2", "c3", "d4"]);
  assert.deepEqual(ids(" airlines  HOCKET "), ["a1", "c3"]);
  assert.deepEqual(ids("öz"), ["b2"]);
  assert.deepEqual(ids("clinic"), ["b2"]);
  assert.deepEqual(ids("flights c3"), ["c3"]);
  assert.deepEqual(ids("flights clinic"), []);
});

test("and by where they stand", () => {
  assert.deepEqual(list.map(standingOf), ["over", "open", "live", "unreadable"]);
  assert.deepEqual(ids("", "live"), ["c3"]);
  assert.deepEqual(ids("hocket", "over"), ["a1"]);
  assert.deepEqual(ids("hocket", "open"), []);
});
