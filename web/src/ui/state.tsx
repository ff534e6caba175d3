// The state of a conversation in the words of seed 000's panel.

import { useEffect, useState } from "preact/hooks";
import { toneOfState } from "../model/phases.ts";
import type { Shown } from "../model/talk.ts";

/** States that last less than this are not read out, in milliseconds. */
const settled = 400;

/**
 * StateLabel shows the state. It changes at once; what is read out waits until
 * the state has settled, so that a quick answer is not drowned in states.
 */
export function StateLabel({ shown, idle, lang }: { shown: Shown; idle: string; lang?: string }) {
  const label = shown.label || idle;
  const [spoken, setSpoken] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(label), settled);
    return () => clearTimeout(timer);
  }, [label]);
  const tone = toneOfState(shown.state);
  return (
    <div class="state" data-tone={tone} data-state={shown.state || "idle"}>
      <span class="state-label" lang={lang} aria-hidden="true">
        {label}
      </span>
      <span class="visually-hidden" role="status" lang={lang}>
        {spoken.replace(/^[^\p{L}]+/u, "")}
      </span>
    </div>
  );
}
