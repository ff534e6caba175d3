// The figures of seed 001's debug view.

import { median, quantile, type Metrics, type ErrorEntry } from "../model/recording.ts";
import { useWords } from "../words/words.ts";

/** MetricCards shows four figures, each with what it is made of. */
export function MetricCards({ metrics: m, errors }: { metrics: Metrics; errors: readonly ErrorEntry[] }) {
  const t = useWords();
  const first = median(m.firstAudio);
  const most = quantile(m.firstAudio, 0.95);
  return (
    <section class="metrics" aria-label={t("metrics.title")}>
      <Card
        name={t("metrics.firstAudio")}
        value={first === undefined ? "–" : t.span(first)}
        note={
          first === undefined
            ? t("metrics.none")
            : t("metrics.firstAudioNote", { n: m.firstAudio.length, p: t.span(most ?? first) })
        }
      />
      <Card
        name={t("metrics.interruptions")}
        value={t.number(m.interrupted)}
        note={t("metrics.interruptionsNote", {
          share: t.percent(m.agentTurns === 0 ? 0 : m.interrupted / m.agentTurns),
          n: m.agentTurns,
        })}
      />
      <Card
        name={t("metrics.tools")}
        value={t.number(m.tools)}
        note={
          m.tools === 0
            ? t("metrics.toolsNone")
            : t("metrics.toolsNote", { share: t.percent((m.tools - m.toolsFailed) / m.tools) })
        }
      />
      <Card
        name={t("metrics.errors")}
        value={t.number(m.errors)}
        fault={m.errors > 0}
        note={m.errors === 0 ? t("metrics.errorsNone") : lastErrors(errors)}
      />
    </section>
  );
}

function lastErrors(errors: readonly ErrorEntry[]): string {
  return [...new Set(errors.slice(-3).map((e) => (e.code ? `${e.event} ${e.code}` : e.event)))].join(", ");
}

function Card({ name, value, note, fault }: { name: string; value: string; note: string; fault?: boolean }) {
  return (
    <dl class="metric" data-fault={fault}>
      <dt>{name}</dt>
      <dd class="metric-value">{value}</dd>
      <dd class="metric-note">{note}</dd>
    </dl>
  );
}
