// The Past view: the conversations that the server keeps. One of them is shown, stepped
// through under Inspect, or deleted.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { found, standingOf, standings, type Standing } from "../model/shelf.ts";
import type { Line } from "../model/talk.ts";
import type { Stored, StoredDetails } from "../model/wire.ts";
import { useWords, type Key, type T } from "../words/words.ts";
import { Alternatives } from "./alternatives.tsx";
import { Banner, problemText } from "./notices.tsx";
import { Recording } from "./recording.tsx";
import { ShareLink, ShareTranscript } from "./share.tsx";
import { Transcript } from "./transcript.tsx";

/** Past lists the stored conversations and shows one of them. */
export function Past({ app }: { app: App }) {
  const t = useWords();
  const past = app.past;
  const list = past.list.value;
  const problem = past.problem.value;
  const [words, setWords] = useState("");
  const [standing, setStanding] = useState<Standing | undefined>(undefined);
  const rows = found(list ?? [], words, standing, (c) => `${titleOf(app, c)} ${day(t, c.started ?? c.saved)} ${standingWords(t, c)}`);
  useEffect(() => {
    void past.load();
    return () => void (past.deleted.value = "");
  }, []);
  const heading = useRef<HTMLHeadingElement>(null);
  const deleted = past.deleted.value;
  // The keyboard is not lost with what was deleted.
  useEffect(() => {
    if (deleted !== "") heading.current?.focus();
  }, [deleted]);
  const none = problem?.code === "no_store";
  // On a phone it stands below the list.
  const beside = useRef<HTMLDivElement>(null);
  const chosen = past.chosen.value?.id;
  useEffect(() => {
    if (chosen && matchMedia("(max-width: 820px)").matches) beside.current?.scrollIntoView({ block: "start" });
  }, [chosen]);
  return (
    <main id="content" class="inspect past" tabIndex={-1}>
      <h1 class="visually-hidden">{t("past.title")}</h1>
      <nav class="conversations" aria-label={t("past.title")}>
        <h2 ref={heading} tabIndex={-1}>
          {t("past.title")}
        </h2>
        <p class="visually-hidden" role="status">
          {deleted === "" ? "" : t("past.deleted")}
        </p>
        {list?.length === 0 && (
          <div class="conversations-empty">
            <p>{t("past.none")}</p>
            <p class="muted small">{t("past.noneHelp")}</p>
          </div>
        )}
        {list && list.length > 0 && <Filter words={words} standing={standing} onWords={setWords} onStanding={setStanding} shown={rows.length} all={list.length} />}
        <ul>
          {rows.map((c) => (
            <li key={c.id}>
              <Entry app={app} kept={c} chosen={past.chosenId.value === c.id} />
            </li>
          ))}
        </ul>
        {past.more.value && (
          <button type="button" class="quiet-button" onClick={() => void past.older()}>
            {t("past.older")}
          </button>
        )}
      </nav>
      <div class="kept" ref={beside}>
        {problem && !none && (
          <Banner level="error" onClose={() => (past.problem.value = undefined)}>
            {problem.code === "offline" ? t("offline") : problemText(t, problem)}
          </Banner>
        )}
        {past.chosen.value ? (
          <Kept app={app} kept={past.chosen.value} key={past.chosen.value.id} />
        ) : (
          <div class="empty">
            <p>{none ? t("past.noStore") : list?.length === 0 ? t("past.none") : t("past.choose")}</p>
            <p class="muted">{none ? t("past.noStoreHelp") : t("past.chooseHelp")}</p>
            {none && <code class="command">{"store: {path: conversations.db}"}</code>}
          </div>
        )}
      </div>
    </main>
  );
}

interface FilterProps {
  words: string;
  standing: Standing | undefined;
  onWords: (words: string) => void;
  onStanding: (s: Standing | undefined) => void;
  shown: number;
  all: number;
}

/** Filter leaves those in the list that are looked for. */
function Filter({ words, standing, onWords, onStanding, shown, all }: FilterProps) {
  const t = useWords();
  return (
    <div class="kept-filter" role="search">
      <input type="search" value={words} placeholder={t("past.searchHelp")} aria-label={t("past.search")} onInput={(e) => onWords(e.currentTarget.value)} />
      <select aria-label={t("past.standing")} value={standing ?? ""} onChange={(e) => onStanding(standings.find((s) => s === e.currentTarget.value))}>
        <option value="">{t("past.all")}</option>
        {standings.map((s) => (
          <option key={s} value={s}>
            {t(standingKeys[s])}
          </option>
        ))}
      </select>
      <p class="muted small" role="status">
        {words.trim() === "" && standing === undefined ? "" : shown === 0 ? t("past.noneFound", { all }) : t("events.count", { n: shown, all })}
      </p>
    </div>
  );
}

function Entry({ app, kept: c, chosen }: { app: App; kept: Stored; chosen: boolean }) {
  const t = useWords();
  return (
    <button type="button" class="conversation" aria-current={chosen ? "true" : undefined} onClick={() => app.go("past", c.id)}>
      <i class="dot" data-tone={c.error ? "fault" : c.live ? "agent" : c.ended ? "rest" : "pause"} data-live={c.live} />
      <span class="conversation-name">{titleOf(app, c)}</span>
      <span class="conversation-meta">
        <span>{day(t, c.started ?? c.saved)}</span>
        {standingWords(t, c)}
        {!c.error && <> · {t(c.turns === 1 ? "past.turn" : "past.turns", { n: c.turns })}</>}
      </span>
    </button>
  );
}

/** titleOf is the agent's title, or what there is to tell the conversation by. */
function titleOf(app: App, c: Stored): string {
  return app.titleOf(c.agent ?? "") || c.id;
}

/** standing words where a conversation stands. */
const standingWords = (t: T, c: Stored): string => t(standingKeys[standingOf(c)]);

const standingKeys = { live: "inspect.live", open: "past.open", over: "inspect.ended", unreadable: "past.unreadable" } as const satisfies Record<Standing, Key>;

/** day words a day and a time of day. */
function day(t: T, iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.valueOf())) return "–";
  return date.toLocaleString(t.language, { dateStyle: "medium", timeStyle: "short" });
}

function Kept({ app, kept: c }: { app: App; kept: StoredDetails }) {
  const t = useWords();
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const lines = useMemo(() => linesOf(c), [c]);
  const title = titleOf(app, c);
  const lang = app.agents.value?.find((a) => a.name === c.agent)?.language;
  const step = async () => {
    setBusy(true);
    await app.openStored(c, `${title}, ${day(t, c.started ?? c.saved)}`);
    setBusy(false);
  };
  return (
    <article class="kept-one" aria-labelledby="kept-title">
      <header class="watched-head">
        <h2 id="kept-title">{title}</h2>
        <span class="tag" data-live={c.live}>
          {standingWords(t, c)}
        </span>
      </header>
      {c.error && <Banner level="error">{c.error}</Banner>}
      <dl class="now kept-facts">
        {c.started && <Fact name={t("past.began")} value={day(t, c.started)} />}
        <Fact name={t("past.saved")} value={day(t, c.saved)} />
        {!c.error && <Fact name={t("now.turns")} value={t.number(c.turns)} />}
        {c.transport && <Fact name={t("past.transport")} value={t(c.transport === "text" ? "past.byText" : "past.byVoice")} />}
      </dl>
      <div class="kept-actions">
        {c.live ? (
          <a class="quiet-button" href="#inspect" onClick={() => app.watch(c.id)}>
            {t("past.watch")}
          </a>
        ) : (
          <button type="button" class="solid-button" disabled={!c.trace || busy} onClick={() => void step()}>
            {t("past.step")}
          </button>
        )}
        <button type="button" class="quiet-button danger" disabled={c.live} onClick={() => setAsks(true)}>
          {t("past.delete")}
        </button>
        <ShareLink view="past" id={c.id} />
        {!c.live && !c.trace && <span class="muted small">{t("past.noTrace")}</span>}
        {c.live && <span class="muted small">{t("past.liveHelp")}</span>}
      </div>
      {c.recording && <Recording app={app} kept={c} />}
      <section class="card transcript-card" aria-labelledby="kept-said">
        <header class="card-head">
          <h3 id="kept-said">{t("talk.transcript")}</h3>
          {lines.length > 0 && <ShareTranscript said={{ id: c.id, agent: title, started: c.started, lines }} />}
        </header>
        {lines.length === 0 ? <p class="muted card-empty">{t("past.noWords")}</p> : <Transcript lines={lines} agent={title} lang={lang} from={0} />}
      </section>
      {c.trace && !c.live && <Alternatives app={app} kept={c} />}
      {asks && (
        <Question
          name={`${title}, ${day(t, c.started ?? c.saved)}`}
          onNo={() => setAsks(false)}
          onYes={() => {
            setAsks(false);
            void app.past.delete(c.id).then(() => app.past.deleted.peek() === c.id && history.replaceState(null, "", "#past"));
          }}
        />
      )}
    </article>
  );
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

/** linesOf are the lines of the transcript: a turn of the agent's may have been kept in parts. */
function linesOf(c: StoredDetails): Line[] {
  const lines = new Map<string, Line>();
  for (const s of c.lines) {
    if (s.role !== "user" && s.role !== "agent") continue;
    const key = `${s.role}-${s.turn}`;
    const before = lines.get(key)?.text;
    const text = before ? `${before} ${s.text}` : s.text;
    const outcome = s.interrupted ? "interrupted" : "completed";
    lines.set(key, { key, role: s.role, turn: s.turn, at: NaN, text, heard: text, unheard: "", final: true, outcome });
  }
  return [...lines.values()];
}

/** Question asks before something is deleted. */
function Question({ name, onYes, onNo }: { name: string; onYes: () => void; onNo: () => void }) {
  const t = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="key-dialog" ref={dialog} aria-labelledby="delete-title" aria-describedby="delete-help" onClose={onNo}>
      <form method="dialog">
        <h2 id="delete-title">{t("past.sure")}</h2>
        <p>{name}</p>
        <p class="muted" id="delete-help">
          {t("past.sureHelp")}
        </p>
        <div class="banner-actions">
          <button type="submit" class="quiet-button" autofocus>
            {t("past.keep")}
          </button>
          <button type="button" class="solid-button danger" onClick={onYes}>
            {t("past.yes")}
          </button>
        </div>
      </form>
    </dialog>
  );
}
