// The microphone's level, for people and for screen readers (a meter is not read
// out by itself).

import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "../words/words.ts";

/** Level shows what a meter reads, about ten times a second. */
export function Level({ read }: { read: () => number }) {
  const t = useWords();
  const latest = useRef(read);
  latest.current = read;
  const [level, setLevel] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setLevel(Math.round(latest.current() * 20) / 20), 100);
    return () => clearInterval(timer);
  }, []);
  return (
    <div
      class="level"
      role="meter"
      aria-label={t("talk.level")}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(level * 100)}
    >
      <div class="level-bar" style={{ transform: `scaleX(${level})` }} />
    </div>
  );
}
