// The timeline: a lane for each voice and each kind of work, and the phases with
// every transition. A picture of what the lists hold as text.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { laneNames, rowsOf, type Span } from "../model/lanes.ts";
import { toneOfPhase } from "../model/phases.ts";
import type { Recording } from "../model/recording.ts";
import { useWords, type T } from "../words/words.ts";

interface Props {
  recording: Recording;
  version: number;
  /** Where the conversation is looked at, in milliseconds; its end where that is followed. */
  at: number;
  /** Keeps the end in sight. */
  follow: boolean;
  onPick: (step: number) => void;
  /** Places that are marked, in milliseconds. */
  flags?: readonly number[];
}

/** Pixels for a second, from all of a long call to the syllables of a word. */
const minScale = 2;
const maxScale = 400;

/** A row of a lane, in pixels, as in timeline.css. */
const laneHeight = 28;

/** Timeline draws a recording. */
export function Timeline({ recording, version, at: lookedAt, follow, onPick, flags }: Props) {
  const t = useWords();
  const at = follow ? recording.end : lookedAt;
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState<number | undefined>(undefined);
  const width = useWidth(box);
  const seconds = Math.max(1, recording.end / 1000);
  const fit = Math.max(minScale, Math.min(maxScale, (width - 8) / seconds));
  const scale = Math.max(zoom ?? (follow ? Math.max(fit, 30) : fit), minScale);
  const px = (ms: number) => (ms / 1000) * scale;
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    if (follow) el.scrollLeft = el.scrollWidth;
    else if (px(at) < el.scrollLeft + 40 || px(at) > el.scrollLeft + el.clientWidth - 40) {
      el.scrollLeft = px(at) - el.clientWidth / 2;
    }
  }, [at, follow, scale, version, width]);
  const lanes = useMemo(() => byLane(recording), [version, recording]);
  const sight = useSight(box, scale, width);
  const pick = (e: MouseEvent) => {
    const el = box.current;
    if (!el) return;
    const ms = ((e.clientX - el.getBoundingClientRect().left + el.scrollLeft) / scale) * 1000;
    onPick(stepAt(recording, ms));
  };
  return (
    <section class="card timeline-card" aria-labelledby="timeline-title">
      <header class="card-head">
        <h2 id="timeline-title">{t("timeline.title")}</h2>
        <div class="card-tools">
          <button type="button" class="icon-button" aria-label={t("timeline.out")} onClick={() => setZoom(Math.max(minScale, scale / 1.6))}>
            −
          </button>
          <button type="button" class="icon-button" aria-label={t("timeline.in")} onClick={() => setZoom(Math.min(maxScale, scale * 1.6))}>
            +
          </button>
          <button type="button" class="quiet-button small" onClick={() => setZoom(fit)}>
            {t("timeline.fit")}
          </button>
        </div>
      </header>
      {recording.steps.length === 0 ? (
        <p class="muted card-empty">{t("timeline.empty")}</p>
      ) : (
        <div class="timeline">
          <div class="lane-names" aria-hidden="true">
            <span class="ruler-name" />
            <span>{t("lane.phase")}</span>
            {laneNames.map((l) => (
              <span key={l} style={{ gridRow: `span ${lanes.get(l)!.rows}` }}>
                {t(`lane.${l}`)}
              </span>
            ))}
          </div>
          <div
            class="lanes"
            ref={box}
            role="img"
            tabIndex={0}
            aria-label={t("timeline.summary", { s: t.number(seconds, 1), n: recording.changes.length })}
            onClick={pick}
          >
            <div class="lanes-inner" style={{ width: `${px(recording.end) + 8}px` }}>
              <Ruler sight={sight} seconds={seconds} scale={scale} />
              <Phases sight={sight} recording={recording} px={px} t={t} />
              {laneNames.map((l) => (
                <div key={l} class="lane" data-lane={l} style={{ height: `${lanes.get(l)!.rows * laneHeight}px` }}>
                  {[...lanes.get(l)!.row]
                    .filter(([s]) => s.start <= sight.to && (s.end ?? recording.end) >= sight.from)
                    .map(([s, row]) => (
                      <Bar key={s.key} span={s} row={row} px={px} end={recording.end} t={t} />
                    ))}
                </div>
              ))}
              {flags?.map((f) => <i key={f} class="flag" style={{ left: `${px(f)}px` }} />)}
              <div class="playhead" style={{ transform: `translateX(${px(at)}px)` }} />
            </div>
          </div>
        </div>
      )}
    </section>
  );
}

function Bar({ span, row, px, end, t }: { span: Span; row: number; px: (ms: number) => number; end: number; t: T }) {
  const to = span.end ?? end;
  const width = Math.max(2, px(to - span.start));
  const title = [span.label, span.detail, t.span(to - span.start), t.clock(span.start)].filter(Boolean).join(" · ");
  return (
    <div
      class="bar"
      data-lane={span.lane}
      data-outcome={span.outcome ?? "open"}
      title={title}
      style={{ left: `${px(span.start)}px`, width: `${width}px`, top: `${row * laneHeight + 4}px` }}
    >
      {width > 24 && <span>{span.label}</span>}
      {span.marks
        .filter((m) => m.kind !== "partial")
        .map((m) => (
          <i key={m.at} class="bar-mark" style={{ left: `${px(m.at - span.start)}px` }} />
        ))}
    </div>
  );
}

interface PhasesProps {
  sight: Sight;
  recording: Recording;
  px: (ms: number) => number;
  t: T;
}

function Phases({ sight, recording, px, t }: PhasesProps) {
  const changes = recording.changes;
  return (
    <div class="lane" data-lane="phase">
      {changes.map((c, i) => {
        const to = changes[i + 1]?.at ?? recording.end;
        if (c.at > sight.to || to < sight.from) return null;
        if (to === c.at && i + 1 < changes.length) return <Tick key={i} left={px(c.at)} title={`${c.from} → ${c.to}: ${c.cause}`} />;
        const width = Math.max(1, px(to - c.at));
        return (
          <div
            key={i}
            class="bar phase-bar"
            data-tone={toneOfPhase(c.to)}
            title={`${c.from} → ${c.to} · ${c.cause} · ${t.span(to - c.at)} · ${t.clock(c.at)}`}
            style={{ left: `${px(c.at)}px`, width: `${width}px` }}
          >
            {width > 40 && <span>{c.to}</span>}
          </div>
        );
      })}
    </div>
  );
}

const Tick = ({ left, title }: { left: number; title: string }) => (
  <i class="tick" title={title} style={{ left: `${left}px` }} />
);

/** Distances between the ruler's figures, in seconds. */
const distances = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

function Ruler({ sight, seconds, scale }: { sight: Sight; seconds: number; scale: number }) {
  const distance = distances.find((d) => d * scale >= 56) ?? 1800;
  const first = Math.max(0, Math.floor(sight.from / 1000 / distance));
  const last = Math.floor(Math.min(seconds, sight.to / 1000) / distance);
  return (
    <div class="ruler">
      {Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => {
        const i = first + n;
        const s = i * distance;
        return (
          <span key={i} style={{ left: `${s * scale}px` }}>
            {Math.floor(s / 60)}:{(distance < 1 ? (s % 60).toFixed(1) : String(Math.round(s % 60))).padStart(distance < 1 ? 4 : 2, "0")}
          </span>
        );
      })}
    </div>
  );
}

/** byLane are the spans of each lane, in rows: tools and tasks run side by side. */
function byLane(recording: Recording): Map<string, ReturnType<typeof rowsOf>> {
  return new Map(laneNames.map((l) => [l, rowsOf(recording.spans.filter((s) => s.lane === l), recording.end)]));
}

/** stepAt is the last step at or before a time, the first one before all. */
export function stepAt(recording: Recording, ms: number): number {
  let low = 0;
  let high = recording.steps.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (recording.steps[middle]!.at <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Sight is the part of the conversation that is drawn, in milliseconds: of an hour, not all. */
interface Sight {
  from: number;
  to: number;
}

/** useSight follows the scrolling; a window's width on both sides is drawn too. */
function useSight(box: { current: HTMLElement | null }, scale: number, width: number): Sight {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    // In steps of half a window, so that not each pixel draws anew.
    const step = Math.max(100, width / 2);
    const note = () => setLeft(Math.floor(el.scrollLeft / step) * step);
    note();
    el.addEventListener("scroll", note, { passive: true });
    return () => el.removeEventListener("scroll", note);
  }, [box.current, width]);
  return { from: ((left - width) / scale) * 1000, to: ((left + 2.5 * width) / scale) * 1000 };
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const observer = new ResizeObserver(() => setWidth(el.clientWidth));
    observer.observe(el);
    return () => observer.disconnect();
  }, [box.current]);
  return width;
}
