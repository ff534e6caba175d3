// A call of a tool, between the lines of the transcript: its name, its arguments, how it
// stands and how long it took.

import type { ToolCall } from "../model/toolcalls.ts";
import { useWords } from "../words/words.ts";
import { useClock } from "./clock.ts";
import { taskName } from "./tasks.tsx";

interface Props {
  call: ToolCall;
  /** The time on the conversation's clock; without it the duration of a call that runs is not shown. */
  clock?: () => number;
}

export function CallCard({ call: c, clock }: Props) {
  const t = useWords();
  const runs = c.state === "running" && clock !== undefined;
  useClock(runs, 250);
  const took = c.end ?? (runs ? clock() : undefined);
  return (
    <li class="call" data-state={c.state}>
      <p class="call-head">
        <i class="call-sign" aria-hidden="true" />
        <span class="visually-hidden">{t("call.tool")} </span>
        <strong class="call-name">{taskName(c.name)}</strong>
        <span class="call-state">{t(`call.${c.state}`)}</span>
        {took !== undefined && <span class="call-time">{t.span(Math.max(0, Math.round(took - c.start)))}</span>}
      </p>
      {c.arguments.length > 0 && (
        <dl class="call-arguments">
          {c.arguments.map(([name, value]) => (
            <div key={name}>
              <dt class={name === "" ? "visually-hidden" : undefined}>{name || t("call.argument")}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {c.problem !== "" && <p class="call-problem">{c.problem}</p>}
    </li>
  );
}
