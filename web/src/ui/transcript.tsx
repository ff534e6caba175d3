// The transcript: who said what, and of the agent's words what was heard.

import { memo } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { place, type ToolCall } from "../model/toolcalls.ts";
import { tail } from "../model/text.ts";
import type { Line } from "../model/talk.ts";
import { useWords } from "../words/words.ts";
import { CallCard } from "./callcard.tsx";

interface Props {
  lines: readonly Line[];
  agent: string;
  lang?: string;
  /** New lines are read out by a screen reader, since no voice says them. */
  aloud?: boolean;
  /** By turn, whose results it tells: of work that nobody waited for any more. */
  results?: ReadonlyMap<number, string>;
  /** Lines of the person's that wait for their turn. */
  waiting?: readonly string[];
  /** By turn, how long the person has waited for the first sound of it, in milliseconds. */
  waits?: ReadonlyMap<number, number>;
  /** Calls of tools, which stand between the lines. */
  calls?: readonly ToolCall[];
  /** The time on the conversation's clock, for the calls that run. */
  clock?: () => number;
  /** The line that is in sight first; without it the last ones are followed. */
  from?: number;
}

/** Transcript follows the latest words unless its reader has scrolled away. */
export function Transcript({ lines, agent, lang, aloud = false, results, waiting, waits, calls = [], clock, from }: Props) {
  const t = useWords();
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(from === undefined);
  useEffect(() => {
    const el = box.current;
    if (el && follows) el.scrollTop = el.scrollHeight;
  }, [lines, calls.length, waiting?.length, follows]);
  // What appears around it (a message, a button) takes no words out of sight.
  useEffect(() => {
    const el = box.current;
    if (!el || !follows) return;
    const observer = new ResizeObserver(() => (el.scrollTop = el.scrollHeight));
    observer.observe(el);
    return () => observer.disconnect();
  }, [follows]);
  const top = useRef(0);
  const onScroll = () => {
    const el = box.current;
    if (!el || from !== undefined) return;
    // Upwards goes a reader alone: more may have been said since what is told of was scrolled.
    const up = el.scrollTop < top.current;
    top.current = el.scrollTop;
    if (el.scrollHeight - el.scrollTop - el.clientHeight < 48) setFollows(true);
    else if (up) setFollows(false);
  };
  return (
    <div class="transcript-frame">
      <div class="transcript" ref={box} onScroll={onScroll} tabIndex={0} role="group" aria-label={t("talk.transcript")}>
        <ol class="lines">
          {place(lines, calls).map((p) => {
            if ("call" in p) return <CallCard key={`call-${p.call.key}`} call={p.call} clock={clock} />;
            const l = p.line;
            return <Said key={l.key} line={l} who={l.role === "user" ? t("talk.you") : agent} lang={lang} result={l.role === "agent" ? results?.get(l.turn) : undefined} wait={l.role === "agent" ? waits?.get(l.turn) : undefined} />;
          })}
          {waiting?.map((text, i) => (
            <li key={`waiting-${i}`} class="line line-user">
              <div class="line-head">
                <span class="line-who">{t("talk.you")}</span>
                <span class="tag">{t("talk.waits")}</span>
              </div>
              <p class="line-text">
                <span class="partial">{text}</span>
              </p>
            </li>
          ))}
        </ol>
      </div>
      {!follows && from === undefined && (
        <button type="button" class="to-end" onClick={() => setFollows(true)}>
          {t("talk.toTheEnd")}
        </button>
      )}
      {aloud && <Aloud lines={lines} lang={lang} />}
    </div>
  );
}

/** Aloud reads out whole lines of the agent's, never partial ones. */
function Aloud({ lines, lang }: { lines: readonly Line[]; lang?: string }) {
  const last = lines.findLast((l) => l.role === "agent" && l.final);
  return (
    <p class="visually-hidden" role="log" aria-live="polite" lang={lang}>
      {last?.text ?? ""}
    </p>
  );
}

const Said = memo(function Said({ line, who, lang, result, wait }: { line: Line; who: string; lang?: string; result?: string; wait?: number }) {
  const t = useWords();
  return (
    <li class={`line line-${line.role}`} data-outcome={line.outcome} data-turn={line.turn}>
      <div class="line-head">
        <span class="line-who">{who}</span>
        {Number.isFinite(line.at) && <time class="line-at">{t.clock(line.at).replace(/\.\d+$/, "")}</time>}
        {wait !== undefined && (
          <span class="line-at">
            <span class="visually-hidden">{t("talk.after")} </span>
            <span aria-hidden="true">+</span>
            {t.span(wait)}
          </span>
        )}
        {result && <span class="tag tag-result">{t("task.result", { name: result })}</span>}
        {line.outcome === "interrupted" && <span class="tag">{t("talk.interrupted")}</span>}
        {line.outcome === "failed" && <span class="tag tag-fault">{t("talk.failed")}</span>}
      </div>
      <p class="line-text" lang={lang}>
        {line.role === "user" ? <User line={line} /> : <Agent line={line} />}
      </p>
    </li>
  );
});

function User({ line }: { line: Line }) {
  return <span class={line.final ? undefined : "partial"}>{line.text}</span>;
}

/** Agent shows what was heard, what is still to come, and what was cut off. */
function Agent({ line }: { line: Line }) {
  const t = useWords();
  if (line.unheard !== "") {
    const heard = line.heard || line.text.slice(0, Math.max(0, line.text.length - line.unheard.length)).trim();
    return (
      <>
        {heard}{" "}
        <span class="visually-hidden">{t("talk.notHeard")} </span>
        <s class="unheard">{line.unheard}</s>
        <span class="visually-hidden"> {t("talk.notHeardEnd")}</span>
      </>
    );
  }
  if (line.final || line.outcome !== "open") return <>{line.text}</>;
  const rest = tail(line.text, line.heard);
  if (rest === "" && line.heard === "") return <span class="coming">{line.text}</span>;
  return (
    <>
      {line.heard} <span class="coming">{rest}</span>
    </>
  );
}
