// The line to the server, and the server's to its store: what a person is told of them.

import { useEffect, useState } from "preact/hooks";
import type { ConversationStore } from "../conversation.ts";
import type { Shown } from "../model/talk.ts";
import { useWords } from "../words/words.ts";
import { useClock } from "./clock.ts";
import { Banner } from "./notices.tsx";

/** That the line is there again is told for so long, in milliseconds. */
const passing = 4000;

/** Gone tells that a conversation has lost its client, and what becomes of it. */
export function Gone({ store, shown, until }: { store: ConversationStore; shown: Shown; until?: string }) {
  const t = useWords();
  const started = store.started.value;
  if (!shown.lost || store.cursor.value !== undefined || started === undefined || store.connection.value !== "open") return null;
  const time = (at: number) => new Date(at).toLocaleTimeString(t.language);
  const since = time(started + shown.since);
  const end = Date.parse(until ?? "");
  return <Banner level="warning">{Number.isFinite(end) ? t("talk.goneUntil", { time: since, until: time(end) }) : t("talk.gone", { time: since })}</Banner>;
}

/** Line tells that the line is lost, until it is there again, that the server is too slow for sound, and that the store is behind. */
export function Line({ store }: { store: ConversationStore }) {
  const t = useWords();
  const lost = store.connection.value === "lost";
  const next = store.next.value;
  const now = useClock(lost && next !== undefined);
  const returned = store.returned.value;
  const [told, setTold] = useState(returned);
  useEffect(() => {
    if (returned === told) return;
    const timer = setTimeout(() => setTold(returned), passing);
    return () => clearTimeout(timer);
  }, [returned, told]);
  if (lost) {
    return (
      <Banner
        level="warning"
        actions={
          store.source.retry && (
            <>
              <button type="button" class="quiet-button" onClick={() => store.source.retry!()}>
                {t("feed.now")}
              </button>
              {next !== undefined && (
                // Not read out: it changes each second.
                <span class="muted" aria-hidden="true">
                  {t("feed.next", { n: Math.max(0, Math.ceil((next - now) / 1000)) })}
                </span>
              )}
            </>
          )
        }
      >
        {t(next === undefined ? "feed.waits" : "feed.lost")}
      </Banner>
    );
  }
  return (
    <>
      {returned !== told && <Banner level="info">{t("feed.back")}</Banner>}
      {store.now.value.late && <Banner level="info">{t("feed.late")}</Banner>}
      {store.now.value.behind && <Banner level="info">{t("feed.behind")}</Banner>}
    </>
  );
}
