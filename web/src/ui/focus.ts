// Keeps the keyboard where a person works.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * useKeptFocus moves the keyboard to a control's successor when the control goes away that
 * had it. Who clicks is left alone: a click leaves nothing to keep. A text field is the
 * keyboard's either way.
 */
export function useKeptFocus(box: RefObject<HTMLElement | null>, successor: () => HTMLElement | null | undefined): void {
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let last: Element | undefined;
    const onFocus = (e: FocusEvent) => {
      const to = e.target as Element;
      last = to.matches(":focus-visible") ? to : undefined;
    };
    const onPointer = () => (last = undefined);
    const observer = new MutationObserver(() => {
      if (!last || last.isConnected) return;
      last = undefined;
      if (document.activeElement === document.body) successor()?.focus();
    });
    el.addEventListener("focusin", onFocus);
    window.addEventListener("pointerdown", onPointer, { capture: true });
    observer.observe(el, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      el.removeEventListener("focusin", onFocus);
      window.removeEventListener("pointerdown", onPointer, { capture: true });
    };
  }, []);
}

/** useEscape runs what the Escape key means, while it means anything. What the key closes of its own, as a dialog, comes first. */
export function useEscape(on: boolean, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!on) return;
    const down = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.repeat || e.isComposing || e.defaultPrevented || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, [on]);
}
