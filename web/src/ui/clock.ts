// The wall clock, for what counts on while nothing happens.

import { useEffect, useState } from "preact/hooks";

/** useClock is the wall clock in milliseconds, looked at again each period while it runs. */
export function useClock(runs: boolean, period = 250): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!runs) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), period);
    return () => clearInterval(timer);
  }, [runs, period]);
  return now;
}

/** useCalm is a text that changes at most once a period: what is read out must be heard to its end. */
export function useCalm(text: string, period: number): string {
  const [calm, setCalm] = useState({ text: "", at: 0 });
  useEffect(() => {
    if (text === calm.text) return;
    const wait = Math.max(0, calm.at + period - Date.now());
    const timer = setTimeout(() => setCalm({ text, at: Date.now() }), wait);
    return () => clearTimeout(timer);
  }, [text, calm, period]);
  return calm.text;
}
