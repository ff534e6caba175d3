// What is taken from the page: a transcript, and a link to a conversation.

import { useEffect, useState } from "preact/hooks";
import { jsonOf, textOf, type Said } from "../model/export.ts";
import { useWords, type Key } from "../words/words.ts";
import { copies, copy, save } from "./save.ts";

/** It is told for so long that something was copied, in milliseconds. */
const passing = 4000;

/** Copy copies a text when it is pressed, and says so. */
function Copy({ words, text }: { words: Key; text: () => string }) {
  const t = useWords();
  const [told, setTold] = useState<Key | undefined>(undefined);
  useEffect(() => {
    if (!told) return;
    const timer = setTimeout(() => setTold(undefined), passing);
    return () => clearTimeout(timer);
  }, [told]);
  if (!copies()) return null;
  return (
    <>
      <button type="button" class="quiet-button small" onClick={() => void copy(text()).then((ok) => setTold(ok ? "share.copied" : "share.refused"))}>
        {t(words)}
      </button>
      <span class={told ? "muted small" : "visually-hidden"} role="status">
        {told ? t(told) : ""}
      </span>
    </>
  );
}

/** ShareTranscript copies a transcript, or saves it as text or as JSON. */
export function ShareTranscript({ said }: { said: Said }) {
  const t = useWords();
  const name = `transcript-${said.id || "hocket"}`;
  const text = () => textOf(said, { you: t("talk.you"), notHeard: t("talk.notHeard") });
  return (
    <div class="share" role="group" aria-label={t("talk.transcript")}>
      <Copy words="share.copy" text={text} />
      <button type="button" class="quiet-button small" onClick={() => save(text(), `${name}.txt`, "text/plain")}>
        {t("share.text")}
      </button>
      <button type="button" class="quiet-button small" onClick={() => save(jsonOf(said), `${name}.json`, "application/json")}>
        {t("share.json")}
      </button>
    </div>
  );
}

/** ShareLink copies the address of a conversation on one of the views. */
export function ShareLink({ view, id }: { view: "inspect" | "past"; id: string }) {
  return <Copy words="share.link" text={() => new URL(`#${view}/${encodeURIComponent(id)}`, location.href).href} />;
}
