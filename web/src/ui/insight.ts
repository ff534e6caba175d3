// Keeps what is looked at in sight, within its own list.

import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * useCurrentInSight gives the list that scrolls; when one of the values changes,
 * the entry with aria-current is scrolled into it. The page around stands still.
 */
export function useCurrentInSight(values: readonly unknown[]) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = list.current;
    const row = box?.querySelector("[aria-current]");
    if (!box || !row) return;
    const outer = box.getBoundingClientRect();
    const inner = row.getBoundingClientRect();
    // Below a table's head, which stays.
    const head = box.querySelector("thead")?.getBoundingClientRect().height ?? 0;
    if (inner.top < outer.top + head) box.scrollTop -= outer.top + head - inner.top;
    else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
  }, values);
  return list;
}
