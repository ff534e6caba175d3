// The engine's own words, from the one catalogue (internal/messages). They label
// what a trace shows; a live conversation brings its labels with it.

import de from "../../../internal/messages/words/de.json";
import en from "../../../internal/messages/words/en.json";

const english: Record<string, string> = en;
const catalogs: Record<string, Record<string, string>> = { de, en: english };

/**
 * inPage is what the engine said with a code, in the page's language. It is undefined
 * where the words are not the engine's own: they stay in the language that they are in.
 */
export function inPage(code: string, text: string, language: string): string | undefined {
  const own = Object.values(catalogs).some((words) => words[code] === text);
  return own ? engineWords(language)(code) : undefined;
}

/** engineWords looks up codes in a conversation's language, or English if the language is unknown. */
export function engineWords(language: string): (code: string) => string {
  const words = catalogs[language.toLowerCase().split(/[-_]/)[0] ?? ""] ?? english;
  return (code) => words[code] ?? code;
}
