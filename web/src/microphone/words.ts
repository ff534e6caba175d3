// The words of the page with the microphone.

const en = {
  language: "en",
  title: "Microphone",
  connecting: "Connecting…",
  allow: "Allow this page to use the microphone.",
  keep: "Keep this page open. The conversation is shown in the editor.",
  muted: "The microphone is closed. The editor opens it.",
  shaky: "The connection is interrupted.",
  noMicrophone: "There is no microphone",
  mic_denied: "The browser has refused it. Allow it for this page, and try again.",
  mic_missing: "None is connected.",
  mic_busy: "Another program uses it.",
  mic_insecure: "Browsers give none to pages from other machines without HTTPS.",
  mic_failed: "It could not be opened.",
  again: "Try again",
  used: "This page was used before",
  usedHelp: "Start the conversation in the editor again.",
  active: "A conversation is running already",
  failed: "The conversation did not begin",
  over: "The conversation is over",
  close: "You can close this page.",
};

/** Words are those of one language. */
export type Words = typeof en;

const de: Words = {
  language: "de",
  title: "Mikrofon",
  connecting: "Verbindet …",
  allow: "Erlauben Sie dieser Seite das Mikrofon.",
  keep: "Lassen Sie diese Seite offen. Das Gespräch steht im Editor.",
  muted: "Das Mikrofon ist zu. Der Editor öffnet es.",
  shaky: "Die Verbindung ist unterbrochen.",
  noMicrophone: "Es gibt kein Mikrofon",
  mic_denied: "Der Browser hat es verweigert. Erlauben Sie es dieser Seite und versuchen Sie es noch einmal.",
  mic_missing: "Es ist keines angeschlossen.",
  mic_busy: "Ein anderes Programm benutzt es.",
  mic_insecure: "Browser geben Seiten anderer Rechner ohne HTTPS keines.",
  mic_failed: "Es ließ sich nicht öffnen.",
  again: "Noch einmal",
  used: "Diese Seite wurde schon benutzt",
  usedHelp: "Beginnen Sie das Gespräch im Editor neu.",
  active: "Es läuft schon ein Gespräch",
  failed: "Das Gespräch hat nicht begonnen",
  over: "Das Gespräch ist zu Ende",
  close: "Sie können diese Seite schließen.",
};

/** wordsFor returns the words of a browser's language. */
export function wordsFor(tag: string): Words {
  return tag.toLowerCase().startsWith("de") ? de : en;
}
