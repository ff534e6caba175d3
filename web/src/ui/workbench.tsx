// For developers: the agent's instructions and voice, changed for the next conversations.

import type { App } from "../app.ts";
import type { Agent } from "../model/wire.ts";
import { useWords } from "../words/words.ts";

/** Workbench changes an agent; it is there where the server says that this key may. */
export function Workbench({ app, agent }: { app: App; agent: Agent }) {
  const t = useWords();
  const s = agent.settings;
  if (!s || (!s.model && s.voices.length === 0)) return null;
  const changed = app.changes.value[agent.name];
  return (
    <details class="workbench">
      <summary class="quiet-button small">
        {t("bench.title")}
        {changed && <span class="tag">{t("bench.changed")}</span>}
      </summary>
      <div class="workbench-settings">
        {s.model && (
          <label>
            <span>{t("bench.instructions")}</span>
            <textarea rows={4} value={changed?.instructions ?? s.instructions} onInput={(e) => app.change(agent, { instructions: e.currentTarget.value })} />
          </label>
        )}
        {s.voices.length > 0 && (
          <label>
            <span>{t("bench.voice")}</span>
            <select value={changed?.voice ?? s.voice} onChange={(e) => app.change(agent, { voice: e.currentTarget.value })}>
              {!s.voices.includes(s.voice) && <option value={s.voice}>{s.voice || t("bench.default")}</option>}
              {s.voices.map((v) => (
                <option key={v} value={v}>
                  {v}
                </option>
              ))}
            </select>
          </label>
        )}
        <p class="muted small">{t("bench.help")}</p>
        {changed && (
          <button type="button" class="quiet-button small" onClick={() => app.unchange(agent)}>
            {t("bench.reset")}
          </button>
        )}
      </div>
    </details>
  );
}
