// The extension in a real VS Code: conversations by text and by voice, and what the
// stand-in for Copilot does to them. It prints times beside their limits, and exits
// with 1 if something is not as it must be.
//
//   node e2e/run.mjs VSIX        CODE_SERVER, NODE24 and CHROMIUM are set

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engines, open, recorded, until } from "./host.mjs";

const [vsix] = process.argv.slice(2);
const only = process.env.ONLY;
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "agentvoice-e2e-"));
let failed = 0;
let now_; // the editor that is open

/** step does one thing, and tells it. */
async function step(name, run) {
  if (only && !new RegExp(only).test(name)) return;
  const began = Date.now();
  try {
    const note = await run();
    console.log(`ok      ${name}${note ? `: ${note}` : ""} (${Date.now() - began} ms)`);
  } catch (err) {
    failed++;
    if (shots && now_) await now_.page.screenshot({ path: join(shots, `failed-${failed}.png`) }).catch(() => undefined);
    console.log(`FAILED  ${name}: ${err.stack ?? err}`);
  }
}

/** What a test sees of the extension. */
const prelude = "const api = await extension.activate(); ";
const shown = (e) => e.run(`${prelude}return api.shown()`);
const state = async (e, ...names) => until(`the state ${names.join(" or ")}`, async () => names.includes((await shown(e)).state));
const command = (e, name) => e.run(`await vscode.commands.executeCommand("agentvoice.${name}")`);
const mode = (e, m, more = "") => e.run(`fake.mode = ${JSON.stringify(m)}; ${more}`);
const requests = (e) => e.run("return fake.requests.filter((r) => !/Answer with: ok$/.test(r.text))");
const transitions = async (e) => (await e.run(`${prelude}return api.details()`)).transitions;
const said = (e) => e.run("return globalThis.heard ?? []");
/** listen keeps what is told, with the time. */
const listen = (e) => e.run(`${prelude}globalThis.heard = []; globalThis.listening ??= api.onMessage((m) => globalThis.heard.push({ ...m, came: Date.now() }))`);
const say = async (e, text) => {
  const box = e.panel().getByRole("textbox");
  await box.fill(text);
  await box.press("Enter");
};
const last = (list, type) => list.filter((m) => m.type === type).at(-1);
/** notices shows the notifications: the driver of tests keeps toasts away. */
const notices = async (e) => {
  await e.run('await vscode.commands.executeCommand("notifications.showList")');
  return e.page.locator(".notifications-center");
};
const answered = (list) => list.filter((m) => m.type === "caption" && m.payload.final).map((m) => m.payload.text).join("|");

await using_(open({ vsix }), async (e) => {
  await step("AC-001: a start by text leads to listening", async () => {
    await listen(e);
    await command(e, "startText");
    await state(e, "listening");
    const list = await transitions(e);
    const at = (to) => Date.parse(list.find((t) => t.to?.startsWith(to))?.at);
    const ms = at("listening") - at("preparing");
    assert.ok(ms <= 500, `${ms} ms`);
    return `${ms} ms of 500`;
  });
  await step("AC-002, INT-005: one request for one utterance, with its words, and the answer is shown", async () => {
    await e.panel().getByRole("textbox").waitFor();
    await until("the greeting", async () => (await said(e)).some((m) => m.type === "caption" && m.payload.final));
    const before = (await requests(e)).length;
    await e.run('await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "loop.js")))');
    await e.page.waitForTimeout(600);
    await say(e, "what is wrong here?");
    await until("the answer", async () => answered(await said(e)).includes("Add a break."));
    await state(e, "listening");
    const asked = (await requests(e)).slice(before);
    assert.equal(asked.length, 1, `${asked.length} requests`);
    assert.match(asked[0].text, /what is wrong here\?/);
    assert.match(asked[0].all, /flurgle/, "the open file is told as data");
    await e.panel().getByText("Add a break.").first().waitFor();
  });
  await step("AC-007: rapid turns have numbers in order, and one answer each", async () => {
    await mode(e, "polite");
    const before = (await requests(e)).length;
    for (const text of ["one", "two", "three"]) {
      await listen(e);
      await say(e, text);
      await until("the answer", async () => answered(await said(e)).includes("Add a break."));
      await state(e, "listening");
    }
    assert.equal((await requests(e)).length - before, 3);
  });
  await step("a tool is called, the change is shown, and made when it is accepted", async () => {
    await mode(e, "tool", 'fake.call = { name: "agentvoice_edit", input: { path: "loop.js", old: "for (;;) {}", new: "return 1;" } }');
    await listen(e);
    await say(e, "fix it");
    await until("the question", async () => (await (await notices(e)).locator('.monaco-button:has-text("Apply")').count()) > 0);
    const before = await e.run('return vscode.window.tabGroups.activeTabGroup.activeTab?.label');
    assert.match(before, /proposed change/, "the change is shown before it is made");
    await e.page.locator('.notifications-center .monaco-button:has-text("Apply")').first().click();
    await until("the answer", async () => answered(await said(e)).includes("It is done."));
    assert.match(await e.run("return fake.result"), /was changed/);
    const text = await e.run('return (await vscode.workspace.openTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "loop.js"))).getText()');
    assert.match(text, /return 1;/);
    await state(e, "listening");
  });
  await step("a failure in mid-stream is repeated, once", async () => {
    await mode(e, "midfail");
    await listen(e);
    const before = (await requests(e)).length;
    await say(e, "and now?");
    await until("the second attempt", async () => (await requests(e)).length - before >= 2);
    await mode(e, "polite");
    await until("listening", async () => ["listening", "faulted"].includes((await shown(e)).state));
    assert.equal((await requests(e)).length - before, 2);
    await command(e, "stop");
    await until("the end", async () => !(await shown(e)).active);
  });
  await step("blocked: the next attempt waits", async () => {
    await mode(e, "blocked");
    await command(e, "startText");
    await state(e, "listening");
    await listen(e);
    const before = (await requests(e)).length;
    await say(e, "hello");
    await until("the first attempt", async () => (await requests(e)).length > before);
    const first = Date.now();
    await until("the second attempt", async () => (await requests(e)).length - before >= 2);
    const ms = Date.now() - first;
    await mode(e, "polite");
    await until("the answer", async () => answered(await said(e)).includes("Add a break."));
    assert.ok(ms >= 500, `${ms} ms`);
    return `after ${ms} ms`;
  });
  await step("CON-002: a second start is refused", async () => {
    await command(e, "startText");
    await until("the error", async () => (await (await notices(e)).getByText("running in this window already").count()) > 0);
    await e.run('await vscode.commands.executeCommand("notifications.clearAll")');
  });
  await step("the panel's tree for screen readers", async () => {
    const tree = await e.panel().locator("main").ariaSnapshot();
    assert.match(tree, /status/);
    assert.match(tree, /textbox/);
    if (shots) await e.page.screenshot({ path: join(shots, "text.png") });
  });
  await step("AC-006: no permission is explained, and ends the conversation", async () => {
    await mode(e, "refused");
    await listen(e);
    const before = (await requests(e)).length;
    await say(e, "hello");
    await until("the end", async () => !(await shown(e)).active);
    assert.equal((await requests(e)).length - before, 1);
    assert.ok((await said(e)).some((m) => m.type === "agentvoice.notification"), "a notification");
  });
  await step("AC-008: a model that does not answer leads back to listening, with a notice", async () => {
    if ((await shown(e)).active) await command(e, "stop");
    await until("the end of the one before", async () => !(await shown(e)).active);
    await mode(e, "silent");
    await e.run('await vscode.workspace.getConfiguration("agentvoice.conversation").update("copilotTimeoutMs", 1000, true); await vscode.workspace.getConfiguration("agentvoice.conversation").update("maxRetries", 0, true)');
    await e.page.waitForTimeout(1500);
    await command(e, "startText");
    await state(e, "listening");
    await listen(e);
    const asked = Date.now();
    await say(e, "hello");
    await until("the notice", async () => (await said(e)).some((m) => m.type === "agentvoice.notification"));
    await state(e, "listening");
    const ms = Date.now() - asked;
    await command(e, "stop");
    await until("the end", async () => !(await shown(e)).active);
    await e.run('for (const name of ["copilotTimeoutMs", "maxRetries"]) await vscode.workspace.getConfiguration("agentvoice.conversation").update(name, undefined, true)');
    return `${ms} ms, the limit of a request is 1000`;
  });
  await step("@voice answers in the Chat view", async () => {
    await mode(e, "polite");
    await e.run('await vscode.commands.executeCommand("workbench.action.chat.open", { query: "@voice what is this?" })');
    await e.page.locator('.interactive-item-container:has-text("Add a break.")').first().waitFor({ timeout: 30_000 });
  });
  await step("the window is closed: no engine is left", async () => {
    assert.ok(engines(e.dir).length > 0, "an engine runs");
    await e.close();
    const closed = Date.now();
    await until("the end of the engine", () => engines(e.dir).length === 0, 30_000);
    const ms = Date.now() - closed;
    assert.ok(ms <= 5000 || process.env.SLOW, `${ms} ms`);
    return `${ms} ms of 5000, with 2 s of grace`;
  });
});

const wav = recorded(join(scratch, "caller.wav"), "what is wrong with this function?", 8);
if (!wav) console.log("NOT TESTED: by voice: neither flite nor espeak-ng can make a recording");
else await using_(open({ vsix, microphone: wav, settings: { "agentvoice.conversation.bargeIn": "seeds" } }), async (e) => {
  const page = e.context.waitForEvent("page", { timeout: 120_000 });
  page.catch(() => undefined); // told where it is waited for
  await step("by voice: the key opens the page with the microphone", async () => {
    await listen(e);
    await e.page.locator(".monaco-workbench").click({ position: { x: 700, y: 5 } });
    await e.page.keyboard.press("Control+Alt+V");
    const opened = await page;
    await opened.waitForLoadState();
    if (process.env.VERBOSE) console.log(opened.url(), (await opened.content()).slice(0, 300));
    await opened.locator("#state").filter({ hasText: /\w/ }).waitFor();
    await until("a conversation", async () => (await shown(e)).active);
    await state(e, "listening", "speaking");
    assert.equal(new URL(opened.url()).hash, "", "the token stays in the address");
  });
  await step("AC-003, by voice: a recorded voice asks, the answer is spoken, and the panel and the status bar show it", async () => {
    await mode(e, "long", "fake.gap = 400");
    const before = (await requests(e)).length;
    await until("the request", async () => (await requests(e)).length > before, 90_000);
    await state(e, "speaking");
    await e.panel().locator("[data-state=speaking]").first().waitFor();
    await e.page.locator('.statusbar-item:has-text("Speaking")').waitFor();
    const list = await said(e);
    const told = last(list, "agentvoice.state");
    const heard = last(list, "transcript");
    if (shots) await e.page.screenshot({ path: join(shots, "speaking.png") });
    assert.ok(told);
    return `heard as "${heard?.payload.text}"`;
  });
  await step("AC-004: an interruption leads to listening", async () => {
    await command(e, "interrupt");
    await state(e, "listening");
    const list = await transitions(e);
    const i = list.findLastIndex((t) => t.to?.startsWith("interrupted"));
    const ms = Date.parse(list[i + 1].at) - Date.parse(list[i].at);
    assert.ok(i >= 0 && ms <= 400, `${ms} ms`);
    await until("the provider to be told", () => e.run("return fake.stopped > 0"), 10_000).catch(async (err) => {
      throw new Error(`${err.message}; ${JSON.stringify(await e.run("return { stopped: fake.stopped, finished: fake.finished, mode: fake.mode, n: fake.requests.length }"))}`);
    });
    await e.run("fake.gap = 40");
    return `${ms} ms of 400`;
  });
  await step("a deaf provider delays nobody", async () => {
    await mode(e, "stubborn");
    await say(e, "what does the loop return");
    await state(e, "speaking");
    await command(e, "interrupt");
    await state(e, "listening");
    await mode(e, "polite");
    await listen(e);
    await say(e, "and what is missing in the tests");
    await until("the answer", async () => answered(await said(e)).includes("Add a break."), 30_000).catch(async (err) => {
      const list = (await said(e)).filter((m) => ["caption", "transcript", "agentvoice.state", "agentvoice.notification"].includes(m.type));
      throw new Error(`${err.message}; ${list.slice(-12).map((m) => JSON.stringify(m.payload).slice(0, 160)).join("\n")}`);
    });
    assert.ok(!answered(await said(e)).includes("Nobody hears this"));
  });
  await step("mute closes the microphone of the page", async () => {
    const opened = e.context.pages().find((p) => p.url().includes("microphone"));
    await command(e, "mute");
    await opened.locator("body[data-microphone=closed]").waitFor({ state: "attached" });
    await command(e, "unmute");
    await opened.locator("body[data-microphone=open]").waitFor({ state: "attached" });
  });
  await step("AC-005: a renewal suspends the conversation and brings it back", async () => {
    await e.run(`${prelude}await api.command({ type: "suspend", reason: "session.renewal" })`);
    await state(e, "suspended");
    await e.run(`${prelude}await api.command({ type: "resume" })`);
    await state(e, "listening");
  });
  if (shots) await e.page.screenshot({ path: join(shots, "voice.png") });
});

rmSync(scratch, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

/** using_ gives an editor back, whatever happens. */
async function using_(opening, run) {
  const e = await opening;
  now_ = e;
  try {
    await run(e);
  } finally {
    if (process.env.VERBOSE) console.log((await e.run(`return ""`).catch(() => "")) || "");
    await e.end();
  }
}
