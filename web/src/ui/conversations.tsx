// The conversations of the server, and traces from disk.

import { useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { toneOfState } from "../model/phases.ts";
import { useWords } from "../words/words.ts";
import { Open } from "./icons.tsx";
import { Banner, ServerProblem } from "./notices.tsx";
import { labelOf } from "./state.tsx";

/** Conversations lists what can be watched; the choice is the app's. */
export function Conversations({ app }: { app: App }) {
  const t = useWords();
  const list = app.conversations.value;
  const watched = app.watched.value;
  return (
    <nav class="conversations" aria-label={t("inspect.conversations")}>
      <h2>{t("inspect.conversations")}</h2>
      <ServerProblem app={app} />
      {list.length === 0 && !app.problem.value && watched?.source.kind !== "file" && (
        <div class="conversations-empty">
          <p>{t("inspect.none")}</p>
          <p class="muted small">{t("inspect.noneHelp")}</p>
        </div>
      )}
      <ul>
        {list.map((c) => (
          <li key={c.id}>
            <button
              type="button"
              class="conversation"
              aria-current={app.watchedId.value === c.id ? "true" : undefined}
              onClick={() => app.go("inspect", c.id)}
            >
              <i class="dot" data-tone={c.ended ? "rest" : toneOfState(c.state ?? "")} data-live={!c.ended} />
              <span class="conversation-name">{app.titleOf(c.agent)}</span>
              <span class="conversation-meta">
                {c.ended ? t("inspect.ended") : labelOf(t, { ...c, lost: c.phase === "reconnecting" })}
                {c.started && <> · {time(c.started, t.language)}</>}
                {c.waits_until && !c.ended && <> · {t("talk.until", { time: time(c.waits_until, t.language) })}</>}
                {c.transport && <> · {t(c.transport === "text" ? "past.byText" : "past.byVoice")}</>}
                {c.agent_version && <> · <span title={t("talk.version")}>{c.agent_version}</span></>}
              </span>
            </button>
          </li>
        ))}
        {watched?.source.kind === "file" && (
          <li>
            <button type="button" class="conversation" aria-current="true">
              <i class="dot" data-tone="rest" />
              <span class="conversation-name">{watched.source.name}</span>
              <span class="conversation-meta">{t("inspect.file")}</span>
            </button>
          </li>
        )}
      </ul>
      <OpenTrace app={app} />
      <FileProblem app={app} />
    </nav>
  );
}

function time(iso: string, language: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? "" : date.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
}

/** OpenTrace opens a file by a dialog, or one that is dropped on it. */
export function OpenTrace({ app }: { app: App }) {
  const t = useWords();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const open = (file: File | undefined) => {
    if (file) void app.openFile(file);
  };
  return (
    <div
      class="open-trace"
      data-over={over}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        open(e.dataTransfer?.files[0]);
      }}
    >
      <button type="button" class="quiet-button" onClick={() => input.current?.click()}>
        <Open />
        {over ? t("inspect.drop") : t("inspect.open")}
      </button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson,.json,.txt"
        class="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        onChange={(e) => {
          open(e.currentTarget.files?.[0]);
          e.currentTarget.value = "";
        }}
      />
    </div>
  );
}

function FileProblem({ app }: { app: App }) {
  const t = useWords();
  const p = app.fileProblem.value;
  if (!p) return null;
  const code = `file.${p.code}`;
  return (
    <Banner level="error" title={`${p.file} ${t("file.cannot")}`} onClose={() => (app.fileProblem.value = undefined)}>
      {t.has(code) ? t(code) : t("file.trace")}
      {p.code === "version" && ` ${p.message}`}
      {p.line ? ` (${t("file.line")} ${p.line})` : ""}
    </Banner>
  );
}
