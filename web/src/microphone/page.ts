// The page with the microphone of a conversation that an editor shows: opened by the
// editor in a browser, because what is embedded in an editor gets no microphone. The
// token in its address begins one conversation. Everything else is in the editor.

import { AudioCall, MicrophoneError, type Link } from "../audio/call.ts";
import type { Message } from "../model/wire.ts";
import { LiveSource } from "../source/live.ts";
import { answerOf, ApiError, Server, type Started } from "../source/server.ts";
import type { Feed, Status } from "../source/source.ts";
import { wordsFor, type Words } from "./words.ts";
import "./page.css";

const words: Words = wordsFor(navigator.language);
const view = {
  state: byId("state"),
  note: byId("note"),
  again: byId("again") as HTMLButtonElement,
};

/** The token, and later that of the conversation. It does not stay in the address. */
let key = decodeURIComponent(location.hash.slice(1));
history.replaceState(null, "", location.pathname);
const server = new Server(".", () => key);

/** tell shows a state, and what to do about it. */
function tell(state: string, note = "", again = false): void {
  view.state.textContent = state;
  view.note.textContent = note;
  view.again.hidden = !again;
}

async function begin(): Promise<void> {
  tell(words.connecting, words.allow);
  let id = "";
  let call: AudioCall;
  const exchange = async (sdp: string) => {
    const started: Started & { access_token?: string } = await server.begin({ agent: "", transport: "webrtc", sdp, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone });
    id = started.id;
    key = started.access_token ?? key;
    return answerOf(started);
  };
  try {
    call = await AudioCall.open(exchange, link, { microphone: "", speaker: "", volume: 1 });
  } catch (err) {
    refused(err);
    return;
  }
  call.later((sdp) => server.renegotiate(id, sdp));
  new LiveSource(server, id, "").start(feedOf(call));
}

/** refused says why there is no conversation; without a microphone it may be tried again. */
function refused(err: unknown): void {
  if (err instanceof MicrophoneError) tell(words.noMicrophone, words[err.code], true);
  else if (err instanceof ApiError && err.status === 401) tell(words.used, words.usedHelp);
  else if (err instanceof ApiError && err.status === 409) tell(words.active, words.usedHelp);
  else tell(words.failed, err instanceof Error ? err.message : String(err));
}

function link(l: Link): void {
  view.note.textContent = l === "open" ? words.keep : l === "connecting" ? words.allow : words.shaky;
}

/** feedOf shows the state of the conversation, and opens and closes the microphone as the editor asks. */
function feedOf(call: AudioCall): Feed {
  const status = (s: Status) => {
    if (s !== "ended" && s !== "failed") return;
    call.close();
    document.body.dataset.state = "idle";
    tell(words.over, words.close);
  };
  const message = (m: Message) => {
    if (m.type === "agentvoice.state") {
      document.body.dataset.state = String(m.payload.state);
      view.state.textContent = String(m.payload.localizedLabel);
    } else if (m.type === "microphone") {
      const open = m.payload.open === true;
      call.listen(open);
      document.body.dataset.microphone = open ? "open" : "closed";
      view.note.textContent = open ? words.keep : words.muted;
    }
  };
  return { reset: () => undefined, past: () => undefined, message, status };
}

function byId(id: string): HTMLElement {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no element ${id}`);
  return e;
}

document.documentElement.lang = words.language;
document.title = `${words.title} · hocket`;
byId("title").textContent = words.title;
view.again.textContent = words.again;
view.again.addEventListener("click", () => void begin());
if (key === "") tell(words.used, words.usedHelp);
else void begin();
