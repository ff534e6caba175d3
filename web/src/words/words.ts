// Looks up the panel's words in the chosen language, and words numbers and times.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Language } from "../app.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";

/** Key is a code of the panel's own words. */
export type Key = keyof typeof en;

const all: Record<Language, Record<Key, string>> = { en, de };

/** T words a code, with values for its {places}. */
export type T = ((key: Key, values?: Record<string, string | number>) => string) & {
  language: Language;
  /** has reports whether a code from elsewhere has words. */
  has(code: string): code is Key;
  number(v: number, digits?: number): string;
  /** percent words a share from 0 to 1. */
  percent(share: number): string;
  /** span words a duration: 245 ms, 1.2 s, 4:32. */
  span(ms: number): string;
  /** clock words an instant since the start: 0:07.640. */
  clock(ms: number): string;
};

/** wordsOf is the lookup of a language. */
export function wordsOf(language: Language): T {
  const words = all[language];
  const t = ((key: Key, values?: Record<string, string | number>) => {
    const text: string = words[key];
    return values ? text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place)) : text;
  }) as T;
  t.language = language;
  t.has = (code): code is Key => code in words;
  t.number = (v, digits = 0) =>
    new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(v);
  t.percent = (share) => new Intl.NumberFormat(language, { style: "percent" }).format(share);
  t.span = (ms) => {
    if (ms < 1000) return `${t.number(ms)} ms`;
    if (ms < 60_000) return `${t.number(ms / 1000, 1)} s`;
    return `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
  };
  t.clock = (ms) => {
    const whole = Math.floor(ms);
    const minutes = Math.floor(whole / 60_000);
    const rest = `${String(Math.floor(whole / 1000) % 60).padStart(2, "0")}.${String(whole % 1000).padStart(3, "0")}`;
    return `${minutes}:${rest}`;
  };
  return t;
}

/** Words gives the components their lookup. */
export const Words = createContext<T>(wordsOf("en"));

/** useWords is the lookup of the component's surroundings. */
export function useWords(): T {
  return useContext(Words);
}
