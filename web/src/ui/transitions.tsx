// Every transition with its cause and the time spent in the state before it.

import { useMemo, useState } from "preact/hooks";
import type { Explored } from "../model/explored.ts";
import { toneOfPhase } from "../model/phases.ts";
import type { Recording } from "../model/recording.ts";
import { useWords } from "../words/words.ts";
import { useCurrentInSight } from "./insight.ts";

interface Props {
  recording: Recording;
  version: number;
  /** What the exploration has met, where that is known. */
  explored: Explored | undefined;
  index: number;
  onPick: (step: number) => void;
}

const page = 100;

/** Transitions lists them, the latest first. */
export function Transitions({ recording, version, explored, index, onPick }: Props) {
  const t = useWords();
  const [limit, setLimit] = useState(page);
  const changes = recording.changes;
  const visible = changes.slice(-limit).reverse();
  const current = changes.findLast((c) => c.step <= index);
  const share = useMemo(() => explored?.share(recording.steps), [recording, version, explored]);
  const list = useCurrentInSight([current, changes.length]);
  return (
    <section class="card transitions-card" aria-labelledby="transitions-title">
      <header class="card-head">
        <h2 id="transitions-title">{t("transitions.title")}</h2>
        {share && share.of > 0 && (
          <span class={share.met < share.of ? "tag tag-fault" : "tag"} title={t("transitions.exploredHelp")}>
            {t("transitions.explored", { met: t.number(share.met), of: t.number(share.of) })}
          </span>
        )}
        <span class="muted small">{t.number(changes.length)}</span>
      </header>
      {visible.length === 0 ? (
        <p class="muted card-empty">{t("transitions.none")}</p>
      ) : (
        <div class="table-scroll tall" ref={list} tabIndex={0} role="group" aria-labelledby="transitions-title">
          <table class="transitions">
            <thead>
              <tr>
                <th scope="col">{t("transitions.at")}</th>
                <th scope="col">{t("transitions.change")}</th>
                <th scope="col">{t("transitions.cause")}</th>
              </tr>
            </thead>
            <tbody>
              {visible.map((c, i) => (
                <tr key={changes.length - i} aria-current={c === current ? "step" : undefined}>
                  <td>
                    <button type="button" class="link-button" onClick={() => onPick(c.step)}>
                      {t.clock(c.at)}
                    </button>
                  </td>
                  <td class="change">
                    <span>
                      {c.from} <span class="muted">({t.span(c.spent)})</span>
                    </span>{" "}
                    <span>
                      → <i class="dot" data-tone={toneOfPhase(c.to)} />
                      {c.to}
                    </span>
                  </td>
                  <td>
                    <code>{c.cause}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {changes.length > limit && (
            <button type="button" class="quiet-button small" onClick={() => setLimit(limit + page)}>
              {t("events.more")}
            </button>
          )}
        </div>
      )}
    </section>
  );
}
