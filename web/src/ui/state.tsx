// The state of a conversation in the words of seed 000's panel.

import { useEffect, useState } from "preact/hooks";
import { toneOfState } from "../model/phases.ts";
import type { Shown } from "../model/talk.ts";
import { engineWords, inPage } from "../words/catalog.ts";
import { useWords, type T } from "../words/words.ts";

/** States that last less than this are not read out, in milliseconds. */
const settled = 400;

/**
 * labelOf names a state in the page's language. Words that are not the engine's, such as
 * those of a host, stay as they are.
 */
export function labelOf(t: T, shown: { state?: string; label?: string; lost?: boolean }): string {
  if (shown.lost) return t("state.lost");
  const { state = "", label = "" } = shown;
  if (label === "") return engineWords(t.language)(`state.${state || "idle"}`);
  return inPage(`state.${state}`, label, t.language) ?? label;
}

/**
 * StateLabel shows the state. It changes at once; what is read out waits until
 * the state has settled, so that a quick answer is not drowned in states.
 */
export function StateLabel({ shown }: { shown: Shown }) {
  const label = labelOf(useWords(), shown);
  const [spoken, setSpoken] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(label), settled);
    return () => clearTimeout(timer);
  }, [label]);
  const tone = toneOfState(shown.state);
  return (
    <div class="state" data-tone={tone} data-state={shown.state || "idle"}>
      <span class="state-label" aria-hidden="true">
        {label}
      </span>
      <span class="visually-hidden" role="status">
        {spoken.replace(/^[^\p{L}]+/u, "")}
      </span>
    </div>
  );
}
