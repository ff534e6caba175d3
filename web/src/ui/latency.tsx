// The latency of each answer, split by what it was spent on.

import { stages, type Latency } from "../model/latency.ts";
import { useWords } from "../words/words.ts";

/** LatencyChart shows the latest answers, one row for each. */
export function LatencyChart({ latencies, network }: { latencies: readonly Latency[]; network?: number }) {
  const t = useWords();
  const rows = latencies.slice(-12).map((l) => ({ ...l, stages: network === undefined ? l.stages : { ...l.stages, network: l.stages.network ?? network } }));
  const total = (l: Latency) => stages.reduce((sum, s) => sum + (l.stages[s] ?? 0), 0);
  const longest = Math.max(1, ...rows.map(total));
  const used = stages.filter((s) => rows.some((l) => l.stages[s] !== undefined));
  return (
    <section class="card" aria-labelledby="latency-title">
      <header class="card-head">
        <h2 id="latency-title">{t("latency.title")}</h2>
      </header>
      {rows.length === 0 ? (
        <p class="muted card-empty">{t("latency.none")}</p>
      ) : (
        <>
          <div class="table-scroll" tabIndex={0} role="group" aria-labelledby="latency-title">
            <table class="latency">
              <caption class="visually-hidden">{t("latency.help")}</caption>
              <thead>
                <tr>
                  <th scope="col">{t("latency.turn")}</th>
                  <th class="latency-bars" aria-hidden="true" />
                  {used.map((s) => (
                    <th key={s} scope="col" class="number">
                      <i class="key" data-stage={s} />
                      {t(`stage.${s}`)}
                    </th>
                  ))}
                  <th scope="col" class="number">
                    {t("latency.total")}
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((l) => (
                  <tr key={l.turn}>
                    <th scope="row">
                      {l.turn}
                      {l.typed && <span class="tag">{t("latency.typed")}</span>}
                    </th>
                    <td class="latency-bars" aria-hidden="true">
                      <div class="stack" style={{ width: `${(total(l) / longest) * 100}%` }}>
                        {stages.map((s) => {
                          const ms = l.stages[s] ?? 0;
                          return ms > 0 && <i key={s} data-stage={s} style={{ flexGrow: ms }} title={`${t(`stage.${s}`)}: ${t.span(ms)}`} />;
                        })}
                      </div>
                    </td>
                    {used.map((s) => (
                      <td key={s} class="number">
                        {l.stages[s] === undefined ? "–" : t.number(l.stages[s]!)}
                      </td>
                    ))}
                    <td class="number strong">{t.number(total(l))} ms</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="muted small card-note">{t("latency.help")}</p>
        </>
      )}
    </section>
  );
}
