import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf } from "../src/ui/state.tsx";
import { inPage } from "../src/words/catalog.ts";
import { wordsOf } from "../src/words/words.ts";

test("the engine's words are in the page's language, anybody else's stay", () => {
  assert.equal(inPage("state.listening", "● Listening", "de"), "● Hört zu");
  assert.equal(inPage("state.listening", "● Hört zu", "en"), "● Listening");
  assert.equal(inPage("state.listening", "Lauscht", "en"), undefined);
  assert.equal(inPage("progress", "12 have answered", "de"), undefined);
});

test("a state is named in the page's language", () => {
  const [en, de] = [wordsOf("en"), wordsOf("de")];
  assert.equal(labelOf(de, { state: "speaking", label: "● Speaking" }), "● Spricht");
  assert.equal(labelOf(de, { state: "waitingForCopilot", label: "⋯ Fragt das Archiv" }), "⋯ Fragt das Archiv");
  assert.equal(labelOf(de, {}), "Bereit");
  assert.equal(labelOf(en, { state: "suspended", label: "⏸ Angehalten" }), "⏸ Paused");
  assert.equal(labelOf(en, { state: "suspended", label: "⏸ Paused", lost: true }), "⏸ Connection lost");
});
