// The recording of a kept conversation: played, with its timeline in step, and saved.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { recordingOf } from "../model/recording.ts";
import { parseTrace } from "../model/trace.ts";
import type { Step, StoredDetails } from "../model/wire.ts";
import { useWords } from "../words/words.ts";
import { Download } from "./icons.tsx";
import { saveBlob } from "./save.ts";
import { Timeline } from "./timeline.tsx";

/** How often the timeline follows the sound, in milliseconds. */
const beat = 100;

interface Loaded {
  sound: Blob;
  url: string;
  /** What happened when, where a trace is kept; its clock begins so long before the recording's, in milliseconds. */
  steps: readonly Step[];
  ahead: number;
}

/** Recording loads the sound when it is asked to: it may be large. */
export function Recording({ app, kept: c }: { app: App; kept: StoredDetails }) {
  const t = useWords();
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const load = async () => {
    setBusy(true);
    const recording = await app.past.recording(c.id);
    const trace = recording && c.trace ? await app.past.trace(c.id) : undefined;
    if (recording) setLoaded({ sound: recording.sound, url: URL.createObjectURL(recording.sound), ...timed(trace, recording.started) });
    setBusy(false);
  };
  useEffect(() => () => void (loaded && URL.revokeObjectURL(loaded.url)), [loaded]);
  return (
    <section class="card recording-card" aria-labelledby="recording-title">
      <header class="card-head">
        <h3 id="recording-title">{t("recording.title")}</h3>
        {loaded && (
          <button type="button" class="quiet-button small" onClick={() => saveBlob(loaded.sound, `${c.id}.wav`)}>
            <Download />
            <span>{t("recording.save")}</span>
          </button>
        )}
      </header>
      <div class="recording-body">
        <p class="muted small">{t("recording.help")}</p>
        {loaded ? (
          <Player loaded={loaded} />
        ) : (
          <button type="button" class="quiet-button" disabled={busy} onClick={() => void load()}>
            {t(busy ? "recording.loading" : "recording.load")}
          </button>
        )}
      </div>
    </section>
  );
}

/** timed is the trace on the recording's clock; no steps where there is none, or it cannot be read. */
function timed(trace: string | undefined, started: number): Pick<Loaded, "steps" | "ahead"> {
  try {
    if (trace === undefined) return { steps: [], ahead: 0 };
    const { header, steps } = parseTrace(trace);
    const ahead = started - Date.parse(header.started);
    return { steps, ahead: Number.isFinite(ahead) ? ahead : 0 };
  } catch {
    return { steps: [], ahead: 0 };
  }
}

function Player({ loaded }: { loaded: Loaded }) {
  const t = useWords();
  const audio = useRef<HTMLAudioElement>(null);
  const [at, setAt] = useState(0);
  const [plays, setPlays] = useState(false);
  const recording = useMemo(() => recordingOf(loaded.steps), [loaded]);
  const look = () => setAt((audio.current?.currentTime ?? 0) * 1000 + loaded.ahead);
  useEffect(() => {
    if (!plays) return;
    const timer = setInterval(look, beat);
    return () => clearInterval(timer);
  }, [plays]);
  // Whoever pressed the button that is gone goes on here.
  useEffect(() => {
    audio.current?.focus();
    look();
  }, [loaded]);
  const pick = (step: number) => {
    const el = audio.current;
    if (!el) return;
    el.currentTime = Math.max(0, (loaded.steps[step]!.at - loaded.ahead) / 1000);
    look();
  };
  return (
    <>
      <audio
        ref={audio}
        src={loaded.url}
        controls
        preload="auto"
        tabIndex={0}
        aria-label={t("recording.title")}
        onPlay={() => setPlays(true)}
        onPause={() => {
          setPlays(false);
          look();
        }}
        onSeeked={look}
        onEnded={() => setPlays(false)}
      />
      {loaded.steps.length > 0 && <Timeline recording={recording} version={0} at={at} follow={false} onPick={pick} />}
    </>
  );
}
