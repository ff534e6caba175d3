// The Talk view: one conversation, of this page or of the page that contains it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import type { ConversationStore } from "../conversation.ts";
import { nothing } from "../model/talk.ts";
import { toolCalls, type ToolCall } from "../model/toolcalls.ts";
import type { Command } from "../model/wire.ts";
import type { Transport } from "../session.ts";
import { problemOf } from "../source/source.ts";
import { useWords, type Key } from "../words/words.ts";
import { Duet, type Levels } from "./duet.tsx";
import { useEscape, useKeptFocus } from "./focus.ts";
import { Again, Close, Hand, Keyboard, Score, Send } from "./icons.tsx";
import { Level } from "./level.tsx";
import { Line } from "./line.tsx";
import { Banner, Notices, problemText, ServerProblem } from "./notices.tsx";
import { ShareTranscript } from "./share.tsx";
import { Mute, Sound } from "./sound.tsx";
import { StateLabel } from "./state.tsx";
import { resultsOf, TaskCards, waited } from "./tasks.tsx";
import { HoldButton, TalkButton } from "./talkbutton.tsx";
import { Transcript } from "./transcript.tsx";
import { Workbench } from "./workbench.tsx";

/** Talk shows the conversation of this page. */
export function Talk({ app }: { app: App }) {
  const t = useWords();
  const session = app.session;
  const store = app.host ?? session.store.value;
  const shown = store?.now.value ?? nothing;
  const lost = store?.connection.value === "lost";
  const active = app.host ? true : session.active.value;
  const agents = app.agents.value;
  const agent = agents?.find((a) => a.name === app.agent.value);
  const lang = agent?.language;
  const call = session.call.value;
  const levels = useMemo<Levels | undefined>(
    () => call && { user: () => call.microphone.read(), agent: () => call.agent.read() },
    [call],
  );
  const voice = session.hasAudio && agent?.speech !== false;
  const text = active && (app.host !== undefined || session.transport.value === "text");
  const begin = (transport: Transport) => {
    if (agent) void session.begin(agent, transport, app.changes.peek()[agent.name]).then(() => app.watch(session.id.peek()));
  };
  // A conversation that a reload has interrupted continues first.
  const again = async () => {
    if (!(await session.resume(agents ?? []))) begin("webrtc");
  };
  const command = (type: Command["type"]) => void store?.command({ type }).catch((err) => (session.problem.value = problemOf(err)));
  const main = useRef<HTMLElement>(null);
  const find = (what: string) => main.current?.querySelector<HTMLElement>(what);
  useKeptFocus(main, () => find(".hold-button") ?? find(".compose input") ?? find(".talk-button"));
  const speaking = active && !lost && shown.state === "speaking";
  useEscape(speaking, () => command("interrupt"));
  return (
    <main id="content" class="talk" tabIndex={-1} ref={main}>
      <h1 class="visually-hidden">{t("talk.title")}</h1>
      <div class="stage">
        <StateLabel shown={!active ? nothing : lost ? { ...shown, state: "suspended", label: t("feed.state"), lost: false } : shown} />
        {!app.host && <AgentChoice app={app} disabled={active} />}
        {(session.recorded.value || (!active && agent?.description)) && (
          <div class="stage-note">
            {session.recorded.value && <span class="tag recorded">{t("recording.on")}</span>}
            {!active && agent?.description && <p lang={lang}>{agent.description}</p>}
          </div>
        )}
        {!active && agent && <Workbench app={app} agent={agent} />}
        {call ? <Duet levels={levels} muted={session.muted.value || (session.pushToTalk.value && !session.pressed.value)} /> : null}
      </div>
      <Problems app={app} onText={() => begin("text")} onAgain={() => void again()} />
      <Notices key={session.id.value} notices={shown.notices} working={shown.state === "waitingForCopilot" && waited(shown.tasks).length === 0} faulted={shown.state === "faulted"} lang={lang} />
      {store && shown.lines.length > 0 ? (
        <Transcript lines={shown.lines} agent={app.titleOf(store.source.name)} lang={lang} aloud={text} results={resultsOf(shown.tasks)} waiting={session.waiting(shown)} waits={waitsOf(store)} calls={callsOf(store)} clock={() => store.clock()} />
      ) : (
        <Empty app={app} active={active} voice={voice} />
      )}
      {store && !active && shown.lines.length > 0 && <ShareTranscript said={{ id: session.id.value, agent: app.titleOf(store.source.name), lines: shown.lines }} />}
      {store && <TaskCards store={store} lang={lang} onCancel={(id) => session.callOff(id, store)} />}
      <div class="dock">
        {active && (
          <Compose onSend={(words) => (store === app.host ? host(app, words) : session.send({ type: "send_text", text: words }))}>
            <Action state={lost || (waited(shown.tasks).length > 0 && shown.state !== "speaking") ? "" : shown.state} onCommand={command} />
          </Compose>
        )}
        {!app.host && (
          <div class="dock-row">
            <TalkButton
              active={active}
              opening={session.opening.value}
              disabled={!agent}
              label={voice ? t("talk.start") : t("talk.text")}
              onStart={() => begin(voice ? "webrtc" : "text")}
              onEnd={() => void session.end()}
            />
            {!active && voice && (
              <button type="button" class="quiet-button" disabled={!agent} onClick={() => begin("text")}>
                <Keyboard />
                <span>{t("talk.text")}</span>
              </button>
            )}
            {call && <MicrophoneControls app={app} read={() => call.microphone.read()} />}
            {!active && store && (
              <a class="quiet-button" href="#inspect">
                {t("talk.inspect")}
              </a>
            )}
          </div>
        )}
      </div>
    </main>
  );
}

/** waitsOf returns how long the person has waited for the sound of each answer. Answers to typed text are left out: no silence comes before them. */
function waitsOf(store: ConversationStore): ReadonlyMap<number, number> {
  store.version.value;
  return new Map(store.recording.latencies.flatMap((l) => (l.to === undefined || l.typed ? [] : [[l.turn, l.to - l.from] as const])));
}

/** callsOf returns the calls of tools so far. */
function callsOf(store: ConversationStore): readonly ToolCall[] {
  store.version.value;
  return toolCalls(store.recording.spans);
}

/** The commands that a person may give in a state, and their words. */
const actions: Partial<Record<string, { type: Command["type"]; words: Key; icon: () => preact.JSX.Element; after: number }>> = {
  speaking: { type: "interrupt", words: "talk.interrupt", icon: Hand, after: 0 },
  // Most waits end before a person would cancel them.
  waitingForCopilot: { type: "cancel", words: "talk.cancel", icon: Close, after: 1500 },
  faulted: { type: "recover", words: "talk.recover", icon: Again, after: 0 },
};

function Action({ state, onCommand }: { state: string; onCommand: (type: Command["type"]) => void }) {
  const t = useWords();
  const action = actions[state];
  const [offered, setOffered] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setOffered(state), action?.after ?? 0);
    return () => clearTimeout(timer);
  }, [state]);
  if (!action || offered !== state) return null;
  return (
    <button type="button" class="quiet-button" aria-label={t(action.words)} aria-keyshortcuts={state === "speaking" ? "Escape" : undefined} onClick={() => onCommand(action.type)}>
      <action.icon />
      {/* The key is drawn, not written: it is no part of the button's name. */}
      <span class="wide-only" data-key={state === "speaking" ? "Esc" : undefined}>
        {t(action.words)}
      </span>
    </button>
  );
}

async function host(app: App, text: string): Promise<boolean> {
  await app.host?.command({ type: "send_text", text });
  return true;
}

function AgentChoice({ app, disabled }: { app: App; disabled: boolean }) {
  const t = useWords();
  const agents = app.agents.value;
  if (!agents || agents.length === 0) return null;
  const version = agents.find((a) => a.name === app.agent.value)?.version;
  return (
    <label class="agent-choice">
      <span class="visually-hidden">{t("talk.agent")}</span>
      <select value={app.agent.value} disabled={disabled} onChange={(e) => (app.agent.value = e.currentTarget.value)}>
        {agents.map((a) => (
          <option key={a.name} value={a.name}>
            {app.titleOf(a.name)}
            {a.language ? ` · ${a.language}` : ""}
            {a.speech === false ? ` · ${t("talk.speechOff")}` : ""}
          </option>
        ))}
      </select>
      {version && <code class="agent-version" title={t("talk.version")}>{version}</code>}
    </label>
  );
}

function MicrophoneControls({ app, read }: { app: App; read: () => number }) {
  const t = useWords();
  const session = app.session;
  const on = session.pushToTalk.value;
  return (
    <div class="microphone">
      <Level read={read} />
      <div class="segmented" role="radiogroup" aria-label={t("talk.mode")}>
        {([false, true] as const).map((push) => (
          <label key={String(push)} data-checked={on === push}>
            <input type="radio" name="microphone" checked={on === push} onChange={() => session.setPushToTalk(push)} />
            <span>{push ? t("talk.pushToTalk") : t("talk.handsFree")}</span>
          </label>
        ))}
      </div>
      {!on && <Mute session={session} />}
      <Sound session={session} />
      {on && <HoldButton pressed={session.pressed.value} onHold={(pressed) => session.hold(pressed)} />}
    </div>
  );
}

/** Problems shows the problems of the page, not of the conversation. */
function Problems({ app, onText, onAgain }: { app: App; onText: () => void; onAgain: () => void }) {
  const t = useWords();
  const session = app.session;
  const problem = session.problem.value;
  const store = session.store.value;
  const lost = store?.connection.value === "lost";
  const microphone = problem?.code.startsWith("mic_");
  const voiceless = microphone || problem?.code === "no_webrtc" || problem?.code === "no_speech";
  return (
    <>
      {!(lost && session.active.value) && <ServerProblem app={app} />}
      {problem && (
        <Banner
          level={problem.code === "resume_gone" ? "info" : "error"}
          title={microphone ? t("mic.title") : undefined}
          onClose={() => (session.problem.value = undefined)}
          actions={
            voiceless && (
              <>
                <button type="button" class="quiet-button" onClick={onText}>
                  {t("mic.textInstead")}
                </button>
                <button type="button" class="quiet-button" onClick={onAgain}>
                  {t("mic.again")}
                </button>
              </>
            )
          }
        >
          {problemText(t, problem)}
        </Banner>
      )}
      {store && session.active.value && <Line store={store} />}
      {!lost && session.call.value && session.link.value === "shaky" && <Banner level="warning">{t("link.shaky")}</Banner>}
      {!lost && session.call.value && session.link.value === "lost" && <Banner level="warning">{t("link.lost")}</Banner>}
    </>
  );
}

function Empty({ app, active, voice }: { app: App; active: boolean; voice: boolean }) {
  const t = useWords();
  const agents = app.agents.value;
  const recorded = voice && agents?.find((a) => a.name === app.agent.value)?.recording === true;
  let title = "";
  let help = "";
  if (app.host) title = t("talk.emptyHost");
  else if (agents?.length === 0) {
    title = t("talk.noAgents");
    help = t("talk.noAgentsHelp");
  } else if (active) title = app.session.transport.value === "text" ? t("talk.emptyText") : t("talk.emptyStarted");
  else if (app.session.store.value) title = t("talk.over");
  else if (agents) title = voice ? t("talk.emptyVoice") : t("talk.noSpeech");
  if (!active && recorded) help = t("recording.before");
  return (
    <div class="empty">
      <Score />
      <p>{title}</p>
      {help && <p class="muted">{help}</p>}
    </div>
  );
}

function Compose({ onSend, children }: { onSend: (text: string) => Promise<boolean>; children?: preact.ComponentChildren }) {
  const t = useWords();
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const send = async () => {
    const words = text.trim();
    if (words === "") return;
    setText("");
    // At once: later the focus may be elsewhere.
    input.current?.focus();
    if (!(await onSend(words))) setText(words);
  };
  return (
    <form
      class="compose"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      {children}
      <input
        ref={input}
        type="text"
        value={text}
        maxLength={2000}
        autocomplete="off"
        placeholder={t("talk.write")}
        aria-label={t("talk.write")}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      <button type="submit" class="icon-button send" aria-label={t("talk.send")} disabled={text.trim() === ""}>
        <Send />
      </button>
    </form>
  );
}
