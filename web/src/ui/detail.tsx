// One step in full: its event and its effects, as the trace has them.

import type { Step } from "../model/wire.ts";
import { useWords } from "../words/words.ts";

/** Detail shows a step. */
export function Detail({ step }: { step: Step | undefined }) {
  const t = useWords();
  return (
    <section class="card detail-card" aria-labelledby="detail-title">
      <header class="card-head">
        <h2 id="detail-title">{t("detail.title")}</h2>
        {step && <span class="muted small">{t.clock(step.at)}</span>}
      </header>
      {step && (
        <div class="detail" tabIndex={0} role="group" aria-labelledby="detail-title">
          <h3>{t("detail.event")}</h3>
          <Fields type={step.event} fields={step.in as unknown as Record<string, unknown>} />
          <h3>{t("detail.effects")}</h3>
          {step.effects.length === 0 && <p class="muted">{t("detail.noEffects")}</p>}
          {step.effects.map((e, i) => (
            <Fields key={i} type={e.type} fields={e} />
          ))}
          {(step.turns ?? []).length > 0 && <h3>{t("detail.turns")}</h3>}
          {(step.turns ?? []).map((u, i) => (
            <Fields key={i} type={u.type} fields={u as unknown as Record<string, unknown>} />
          ))}
        </div>
      )}
    </section>
  );
}

function Fields({ type, fields }: { type: string; fields: Record<string, unknown> }) {
  const list = Object.entries(fields).filter(([name, value]) => name !== "type" && value !== undefined);
  return (
    <div class="fields">
      <code class="fields-type">{type}</code>
      {list.length > 0 && (
        <dl>
          {list.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
