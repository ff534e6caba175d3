// What the extension decides without an editor.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Backoff } from "../src/backoff.ts";
import { contextOf, type Seen } from "../src/bounds.ts";
import { inside, InputError, replaced } from "../src/edits.ts";
import type { Message } from "../src/protocol.ts";
import { Announcer, nothing, show, Spoken, statusText } from "../src/shown.ts";

declare const ROOT: string;

const message = (type: string, payload: Record<string, unknown>, seq = 1): Message => ({ type, seq, at: 0, payload });

test("a program that dies is started again, later each time, and at last no more", () => {
  const b = new Backoff();
  const pauses = Array.from({ length: 6 }, () => b.next(10));
  assert.deepEqual(pauses.slice(0, 5), [500, 1000, 2000, 5000, 10_000]);
  assert.equal(pauses[5], undefined);
  assert.equal(b.next(60_000), 500, "one that was well begins anew");
  b.reset();
  assert.equal(b.next(0), 500);
});

test("an edit replaces the one place that was meant", () => {
  assert.deepEqual(replaced("a b c", "b", "x"), { text: "a x c", at: 2 });
  assert.deepEqual(replaced("a\r\nb\r\n", "a\nb", "c\nd"), { text: "c\r\nd\r\n", at: 0 }, "lines end as in the file");
  assert.equal(replaced("", "", "new").text, "new");
  assert.equal(replaced("a", "a", "$&$1").text, "$&$1", "the new text is no pattern");
  for (const [text, old] of [["a a", "a"], ["a", "b"], ["a", ""], ["aaa", "aa"]] as const) assert.throws(() => replaced(text, old, "x"), InputError, `${text} ${old}`);
});

test("a path stays in the workspace", () => {
  assert.equal(inside("src/../a.ts"), "a.ts");
  assert.equal(inside("src\\a.ts"), "src/a.ts");
  for (const path of ["", ".", "..", "../a", "a/../../b", "/etc/passwd", "C:\\x", "\\\\host\\x", "a\0b"]) assert.throws(() => inside(path), InputError, path);
});

test("what is told of the editor is bounded", () => {
  const seen: Seen = { path: "a.ts", language: "typescript", line: 50, selection: "", around: "x", problems: [] };
  assert.deepEqual(contextOf(undefined), { files: { "open file": null } });
  assert.deepEqual(contextOf(seen).files["open file"], { path: "a.ts", language: "typescript", line: 50, around_cursor: "x" });
  const problems = Array.from({ length: 100 }, (_, i) => ({ line: i, severity: "error", message: "ü".repeat(1000) }));
  const large = contextOf({ ...seen, path: "p".repeat(1000), selection: "\u{1F600}".repeat(10_000), problems });
  assert.ok(new TextEncoder().encode(JSON.stringify(large)).length < 16 << 10);
  const about = large.files["open file"] as { problems: { line: number }[]; selection: string; around_cursor?: string };
  assert.equal(about.problems[0]?.line, 50, "those near the cursor come first");
  assert.equal(about.around_cursor, undefined, "a selection stands for its surroundings");
  assert.doesNotMatch(about.selection, /[\uD800-\uDBFF]…/, "no half of a character");
});

test("what is shown follows the messages", () => {
  let s = show(nothing, message("agentvoice.state", { state: "listening", localizedLabel: "● Listening" }));
  assert.equal(statusText(s, true, "Voice"), "$(mic) Listening");
  s = show(s, message("microphone", { open: false }));
  assert.equal(statusText(s, true, "Voice"), "$(mute) Listening");
  s = show(s, message("agentvoice.state", { state: "waitingForCopilot", localizedLabel: "⋯ Wartet auf Copilot" }));
  assert.equal(statusText(s, true, "Voice"), "$(loading~spin) Wartet auf Copilot");
  assert.equal(statusText(s, false, "Voice"), "$(mic) Voice");
  assert.equal(show(s, message("transition", {})), s);
});

test("a notification is announced once", () => {
  const a = new Announcer();
  assert.deepEqual([a.fresh("c1", 3), a.fresh("c1", 3), a.fresh("c1", 2), a.fresh("c1", 4), a.fresh("c2", 3)], [true, false, false, true, true]);
});

test("a chat gets the words of one answer, and its end", () => {
  const s = new Spoken(10);
  const take = (type: string, payload: Record<string, unknown>, seq: number) => s.take(message(type, payload, seq));
  assert.deepEqual(take("caption", { turn: 1, text: "old" }, 9), { words: "", done: false });
  assert.equal(take("caption", { turn: 1, text: "Hello!" }, 11).words, "", "a greeting");
  assert.equal(take("agentvoice.state", { state: "speaking" }, 11).done, false);
  assert.equal(take("agentvoice.state", { state: "listening" }, 11).done, false, "it has not begun");
  assert.equal(take("agentvoice.state", { state: "processing" }, 12).done, false);
  take("transcript", { turn: 2, text: "hi", final: true }, 12);
  assert.equal(take("agentvoice.state", { state: "waitingForCopilot" }, 12).done, false);
  assert.equal(take("caption", { turn: 3, text: "One" }, 13).words, "One");
  assert.equal(take("caption", { turn: 3, text: "One two." }, 14).words, " two.");
  assert.equal(take("caption", { turn: 3, text: "One two.", final: true }, 15).words, "");
  assert.match(take("agentvoice.notification", { level: "error", message: "It takes long." }, 15).words, /It takes long/);
  assert.equal(take("agentvoice.state", { state: "listening" }, 16).done, true);
});

test("each word exists in each language", () => {
  const read = (file: string) => JSON.parse(readFileSync(`${ROOT}${file}`, "utf8")) as Record<string, string>;
  const manifest = readFileSync(`${ROOT}package.json`, "utf8");
  const [en, de] = [read("package.nls.json"), read("package.nls.de.json")];
  assert.deepEqual(Object.keys(en).sort(), Object.keys(de).sort());
  assert.deepEqual([...new Set([...manifest.matchAll(/"%([^%]+)%"/g)].map((m) => m[1]))].sort(), Object.keys(en).sort());
  const used = new Set(readdirSync(`${ROOT}src`).flatMap((f) => [...readFileSync(`${ROOT}src/${f}`, "utf8").matchAll(/l10n\.t\("([^"]+)"/g)].map((m) => m[1])));
  assert.deepEqual([...used].sort(), Object.keys(read("l10n/bundle.l10n.de.json")).sort());
});

test("the lock file names no registry", () => {
  assert.ok(!readFileSync(`${ROOT}package-lock.json`, "utf8").includes('"resolved"'), "remove the resolved lines");
});
