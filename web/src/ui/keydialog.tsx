// Asks for the server's API key.

import { useEffect, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { useWords } from "../words/words.ts";

/** KeyDialog is open as long as the server refuses what the page has. */
export function KeyDialog({ app }: { app: App }) {
  const t = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [key, setKey] = useState("");
  const asked = app.keyAsked.value;
  useEffect(() => {
    if (asked && !dialog.current?.open) dialog.current?.showModal();
    if (!asked && dialog.current?.open) dialog.current.close();
  }, [asked]);
  return (
    <dialog class="key-dialog" ref={dialog} aria-labelledby="key-title" onCancel={() => (app.keyAsked.value = false)}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (key.trim() !== "") void app.useKey(key.trim());
          setKey("");
        }}
      >
        <h2 id="key-title">{t("key.title")}</h2>
        <p class="muted">{t("key.help")}</p>
        {app.key.value !== "" && (
          <p class="wrong" role="alert">
            {t("key.wrong")}
          </p>
        )}
        <label>
          {t("key.label")}
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(e) => setKey(e.currentTarget.value)}
          />
        </label>
        <button type="submit" class="solid-button" disabled={key.trim() === ""}>
          {t("key.use")}
        </button>
      </form>
    </dialog>
  );
}
