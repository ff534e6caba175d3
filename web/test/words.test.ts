import assert from "node:assert/strict";
import { test } from "node:test";
import { de } from "../src/words/de.ts";
import { en } from "../src/words/en.ts";
import { engineWords } from "../src/words/catalog.ts";
import { wordsOf } from "../src/words/words.ts";

test("both languages have words for the same codes, with the same places", () => {
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    const places = (s: string) => [...s.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();
    assert.deepEqual(places(de[key]), places(en[key]), key);
    assert.notEqual(de[key].trim(), "", key);
  }
});

test("places are filled, numbers are the language's", () => {
  const t = wordsOf("de");
  assert.equal(t("step.position", { n: 3, all: 9 }), "Schritt 3 von 9");
  assert.equal(t.span(245), "245 ms");
  assert.equal(t.span(12_340), "12,3 s");
  assert.equal(t.span(272_000), "4:32");
  assert.equal(t.clock(7640.4), "0:07.640");
});

test("labels come from the engine's catalogue, English where there is none", () => {
  assert.equal(engineWords("de-AT")("state.listening"), "● Hört zu");
  assert.equal(engineWords("tlh")("state.listening"), "● Listening");
  assert.equal(engineWords("en")("no.such.code"), "no.such.code");
});
