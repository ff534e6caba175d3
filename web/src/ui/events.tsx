// The list of events with its filters.

import { useMemo, useState } from "preact/hooks";
import { filtered, gist, kinds, type Kind } from "../model/events.ts";
import type { Explored } from "../model/explored.ts";
import type { Recording } from "../model/recording.ts";
import { useWords } from "../words/words.ts";
import { useCurrentInSight } from "./insight.ts";

interface Props {
  recording: Recording;
  version: number;
  /** What the exploration has met, where that is known. */
  explored: Explored | undefined;
  /** The step that is looked at. */
  index: number;
  onPick: (step: number) => void;
}

/** So many rows at a time; a long call has tens of thousands. */
const page = 200;

/** EventList shows the latest events that the filters let through. */
export function EventList({ recording, version, explored, index, onPick }: Props) {
  const t = useWords();
  const [words, setWords] = useState("");
  const [shown, setShown] = useState<ReadonlySet<Kind>>(new Set(kinds.filter((k) => k !== "progress")));
  const [limit, setLimit] = useState(page);
  const rows = useMemo(() => filtered(recording.steps, shown, words), [recording, version, shown, words]);
  const visible = rows.slice(-limit);
  // Where the filters hide the step itself, the one before it stands for it.
  const current = visible.findLast((r) => r.index <= index)?.index;
  const list = useCurrentInSight([current, rows]);
  const toggle = (k: Kind) => {
    const next = new Set(shown);
    if (!next.delete(k)) next.add(k);
    setShown(next);
  };
  return (
    <section class="card events-card" aria-labelledby="events-title">
      <header class="card-head">
        <h2 id="events-title">{t("events.title")}</h2>
        <span class="muted small">{t("events.count", { n: t.number(rows.length), all: t.number(recording.steps.length) })}</span>
      </header>
      <div class="filters">
        <input
          type="search"
          value={words}
          placeholder={t("events.filterHelp")}
          aria-label={t("events.filter")}
          onInput={(e) => setWords(e.currentTarget.value)}
        />
        <div class="chips" role="group" aria-label={t("events.kinds")}>
          {kinds.map((k) => (
            <button key={k} type="button" class="chip" aria-pressed={shown.has(k)} onClick={() => toggle(k)}>
              {t(`kind.${k}`)}
            </button>
          ))}
        </div>
      </div>
      {visible.length === 0 ? (
        <p class="muted card-empty">{t("events.none")}</p>
      ) : (
        <div class="event-list" ref={list} tabIndex={0} role="group" aria-labelledby="events-title">
          {rows.length > visible.length && (
            <button type="button" class="quiet-button small" onClick={() => setLimit(limit + page)}>
              {t("events.more")}
            </button>
          )}
          <ol>
            {visible.map(({ index: i, step }) => (
              <li key={i}>
                <button type="button" class="event" aria-current={i === current ? "step" : undefined} onClick={() => onPick(i)}>
                  <time>{t.clock(step.at)}</time>
                  <code>{step.event}</code>
                  <span class="event-gist">{gist(step)}</span>
                  {step.late && <span class="tag tag-fault">{t("events.late")}</span>}
                  {step.deferred && <span class="tag">{t("events.deferred")}</span>}
                  {explored && !explored.met(step) && <span class="tag tag-fault">{t("events.unmet")}</span>}
                  {step.transitions.length > 0 && <span class="event-to">→ {step.transitions.at(-1)!.to}</span>}
                </button>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}
