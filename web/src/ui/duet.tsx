// Who is heard: two voices on one line, the user's above it, the agent's below,
// over the last seconds. Drawn, because it changes with every frame.

import { useEffect, useRef } from "preact/hooks";
import { useWords } from "../words/words.ts";

export interface Levels {
  user: () => number;
  agent: () => number;
}

/** A bar for so many milliseconds. */
const beat = 80;
const bar = 3;
const gap = 2;

/** Duet draws the levels as they are read. Without movement, where that is wanted, it shows the present alone. */
export function Duet({ levels, muted }: { levels?: Levels; muted?: boolean }) {
  const t = useWords();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const el = canvas.current;
    if (!el) return;
    return draw(el, levels, window.matchMedia("(prefers-reduced-motion: reduce)").matches);
  }, [levels]);
  return <canvas class="duet" ref={canvas} role="img" aria-label={t("talk.duet")} data-muted={muted} />;
}

/** draw draws until the function that it returns is called. */
function draw(el: HTMLCanvasElement, levels: Levels | undefined, still: boolean): () => void {
  const ctx = el.getContext("2d");
  if (!ctx) return () => undefined;
  const bars: { user: number; agent: number }[] = [];
  let peak = { user: 0, agent: 0 };
  let last = performance.now();
  let frame = 0;
  const paint = () => {
    const scale = window.devicePixelRatio || 1;
    const width = el.clientWidth;
    const height = el.clientHeight;
    if (el.width !== width * scale || el.height !== height * scale) {
      el.width = width * scale;
      el.height = height * scale;
    }
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const style = getComputedStyle(el);
    const middle = height / 2;
    // The colours of the theme, resolved: custom properties are not.
    ctx.fillStyle = style.color;
    ctx.fillRect(0, middle - 0.5, width, 1);
    const count = Math.floor(width / (bar + gap));
    const shown = still ? Array.from({ length: count }, () => bars.at(-1) ?? peak) : bars.slice(-count);
    const x0 = width - shown.length * (bar + gap);
    for (const [i, b] of shown.entries()) {
      const x = x0 + i * (bar + gap);
      stroke(ctx, style.fill, x, middle - 2, -b.user * (middle - 6));
      stroke(ctx, style.stroke, x, middle + 2, b.agent * (middle - 6));
    }
  };
  const tick = (now: number) => {
    if (levels) {
      peak = { user: Math.max(peak.user, levels.user()), agent: Math.max(peak.agent, levels.agent()) };
    }
    if (now - last >= beat) {
      last = now;
      bars.push(levels ? peak : { user: 0, agent: 0 });
      if (bars.length > 1000) bars.splice(0, 500);
      peak = { user: 0, agent: 0 };
      paint();
    }
    frame = requestAnimationFrame(tick);
  };
  paint();
  if (levels) frame = requestAnimationFrame(tick);
  const resized = new ResizeObserver(paint);
  resized.observe(el);
  return () => {
    cancelAnimationFrame(frame);
    resized.disconnect();
  };
}

function stroke(ctx: CanvasRenderingContext2D, color: string, x: number, y: number, height: number): void {
  if (Math.abs(height) < 1.5) return;
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.roundRect(x, Math.min(y, y + height), bar, Math.abs(height), bar / 2);
  ctx.fill();
}
