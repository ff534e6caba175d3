// The whole panel: its head, and one of the two views.

import { useEffect, useMemo } from "preact/hooks";
import { routes, type App, type Language, type Theme } from "../app.ts";
import { set } from "../kept.ts";
import { Words, useWords, wordsOf } from "../words/words.ts";
import { Appearance, Mark } from "./icons.tsx";
import { Inspect } from "./inspect.tsx";
import { KeyDialog } from "./keydialog.tsx";
import { Past } from "./past.tsx";
import { Talk } from "./talk.tsx";

/** Panel renders an app. */
export function Panel({ app }: { app: App }) {
  const t = useMemo(() => wordsOf(app.language.value), [app.language.value]);
  const route = app.route.value;
  useEffect(() => {
    document.title = `${t(`nav.${route}`)} · hocket`;
  }, [route, t]);
  return (
    <Words.Provider value={t}>
      <a class="skip" href="#content" onClick={toContent}>
        {t("app.skip")}
      </a>
      <Head app={app} />
      {route === "talk" ? <Talk app={app} /> : route === "past" && !app.host ? <Past app={app} /> : <Inspect app={app} />}
      <KeyDialog app={app} />
    </Words.Provider>
  );
}

/** toContent moves the keyboard without touching the address, which is the route. */
function toContent(e: Event): void {
  e.preventDefault();
  document.getElementById("content")?.focus();
}

function Head({ app }: { app: App }) {
  const t = useWords();
  return (
    <header class="head">
      <span class="brand">
        <Mark />
        <span>hocket</span>
      </span>
      <nav class="tabs" aria-label={t("nav.main")}>
        {routes.filter((r) => r !== "past" || !app.host).map((r) => (
          <a key={r} href={`#${r}`} aria-current={app.route.value === r ? "page" : undefined}>
            {t(`nav.${r}`)}
          </a>
        ))}
      </nav>
      <div class="head-tools">
        <Choice<Language>
          label={t("language.label")}
          value={app.language.value}
          options={[
            ["en", "EN", "English"],
            ["de", "DE", "Deutsch"],
          ]}
          onChange={(l) => {
            app.language.value = l;
            set("language", l);
          }}
        />
        <ThemeSwitch app={app} />
      </div>
    </header>
  );
}

const themes: readonly Theme[] = ["auto", "light", "dark"];

/** ThemeSwitch goes through the three appearances. */
function ThemeSwitch({ app }: { app: App }) {
  const t = useWords();
  const theme = app.theme.value;
  const label = `${t("theme.label")}: ${t(`theme.${theme}`)}`;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => (app.theme.value = themes[(themes.indexOf(theme) + 1) % themes.length]!)}
    >
      <Appearance theme={theme} />
    </button>
  );
}

interface ChoiceProps<V extends string> {
  label: string;
  value: V;
  options: readonly (readonly [V, string, string])[];
  onChange: (v: V) => void;
}

function Choice<V extends string>({ label, value, options, onChange }: ChoiceProps<V>) {
  return (
    <select class="quiet-select" aria-label={label} title={label} value={value} onChange={(e) => onChange(e.currentTarget.value as V)}>
      {options.map(([v, short, long]) => (
        <option key={v} value={v} title={long}>
          {short}
        </option>
      ))}
    </select>
  );
}
