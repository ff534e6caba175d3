// A kept conversation, decided by another barge-in policy: where it would have gone
// otherwise, on the timeline and in words.

import { useMemo, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { recordingOf } from "../model/recording.ts";
import { parseTrace } from "../model/trace.ts";
import { policies, type Alternative, type Policy, type Step, type StoredDetails } from "../model/wire.ts";
import { useWords } from "../words/words.ts";
import { Timeline } from "./timeline.tsx";

interface Compared {
  policy: Policy;
  steps: readonly Step[];
  list: readonly (Alternative & { ms: number })[];
}

export function Alternatives({ app, kept: c }: { app: App; kept: StoredDetails }) {
  const t = useWords();
  const [policy, setPolicy] = useState<Policy>("energy");
  const [compared, setCompared] = useState<Compared | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const compare = async () => {
    setBusy(true);
    const list = await app.past.alternatives(c.id, policy);
    const trace = list && (await app.past.trace(c.id));
    setCompared(list && trace !== undefined ? comparedOf(policy, trace, list) : undefined);
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="alternatives-title">
      <header class="card-head">
        <h3 id="alternatives-title">{t("other.title")}</h3>
      </header>
      <div class="recording-body">
        <p class="muted small">{t("other.help")}</p>
        <div class="alternatives-choice">
          <label>
            <span>{t("other.policy")}</span>
            <select value={policy} onChange={(e) => setPolicy(policies.find((p) => p === e.currentTarget.value) ?? policy)}>
              {policies.map((p) => (
                <option key={p} value={p}>
                  {p}
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="quiet-button" disabled={busy} onClick={() => void compare()}>
            {t("other.compare")}
          </button>
        </div>
        <p role="status" class={compared ? "small" : "visually-hidden"}>
          {compared ? t(compared.list.length === 0 ? "other.none" : "other.some", { n: compared.list.length, policy: compared.policy }) : ""}
        </p>
        {compared && compared.list.length > 0 && <Difference compared={compared} />}
      </div>
    </section>
  );
}

/** comparedOf places what differs on the clock of the trace; without steps where that cannot be read. */
function comparedOf(policy: Policy, trace: string, list: readonly Alternative[]): Compared {
  try {
    const { header, steps } = parseTrace(trace);
    const started = Date.parse(header.started);
    return { policy, steps, list: list.map((a) => ({ ...a, ms: Math.max(0, Date.parse(a.at) - started) })) };
  } catch {
    return { policy, steps: [], list: list.map((a) => ({ ...a, ms: 0 })) };
  }
}

function Difference({ compared: { steps, list } }: { compared: Compared }) {
  const t = useWords();
  const [at, setAt] = useState(list[0]!.ms);
  const recording = useMemo(() => recordingOf(steps), [steps]);
  const flags = useMemo(() => [...new Set(list.map((a) => a.ms))], [list]);
  return (
    <>
      {steps.length > 0 && <Timeline recording={recording} version={0} at={at} follow={false} onPick={(i) => setAt(steps[i]!.at)} flags={flags} />}
      <ol class="alternatives" tabIndex={0} aria-label={t("other.title")}>
        {list.map((a, i) => (
          <li key={i}>
            <button type="button" class="event" onClick={() => setAt(a.ms)}>
              <time>{t.clock(a.ms)}</time>
              <code>{a.event}</code>
              <span class="alternatives-change">
                <span>{t("other.recorded")}</span> <code>{a.recorded.join(", ") || "–"}</code>
                <br />
                <span>{t("other.other")}</span> <code>{a.other.join(", ") || "–"}</code>
              </span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
