// The one button that begins and ends a conversation, and the button to hold.

import { useEffect, useRef } from "preact/hooks";
import { useWords } from "../words/words.ts";
import { Microphone, Stop } from "./icons.tsx";

interface TalkProps {
  active: boolean;
  opening: boolean;
  disabled: boolean;
  /** The label without a conversation. */
  label: string;
  onStart: () => void;
  onEnd: () => void;
}

/** TalkButton begins a conversation when there is none, and ends the one that goes on. */
export function TalkButton({ active, opening, disabled, label, onStart, onEnd }: TalkProps) {
  const t = useWords();
  return (
    <button
      type="button"
      class="talk-button"
      data-active={active}
      disabled={disabled}
      // Not disabled: the keyboard would be taken away from it.
      aria-disabled={opening}
      aria-busy={opening}
      onClick={() => !opening && (active ? onEnd() : onStart())}
    >
      {active && !opening ? <Stop /> : <Microphone />}
      <span>{opening ? t("talk.opening") : active ? t("talk.end") : label}</span>
    </button>
  );
}

/** HoldButton is push to talk: held by pointer, by its own keys, or by the space bar anywhere. */
export function HoldButton({ pressed, onHold }: { pressed: boolean; onHold: (pressed: boolean) => void }) {
  const t = useWords();
  const hold = useRef(onHold);
  hold.current = onHold;
  useEffect(() => {
    const down = (e: KeyboardEvent) => {
      if (e.code !== "Space" || e.repeat || takesSpace(e.target)) return;
      e.preventDefault();
      hold.current(true);
    };
    const up = (e: KeyboardEvent) => {
      if (e.code !== "Space" || takesSpace(e.target)) return;
      e.preventDefault();
      hold.current(false);
    };
    // A button that is held when the window loses the keyboard is not held for ever.
    const away = () => hold.current(false);
    window.addEventListener("keydown", down);
    window.addEventListener("keyup", up);
    window.addEventListener("blur", away);
    return () => {
      window.removeEventListener("keydown", down);
      window.removeEventListener("keyup", up);
      window.removeEventListener("blur", away);
      away();
    };
  }, []);
  return (
    <button
      type="button"
      class="hold-button"
      data-hold="true"
      aria-pressed={pressed}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        onHold(true);
      }}
      onPointerUp={() => onHold(false)}
      onPointerCancel={() => onHold(false)}
      onKeyDown={(e) => {
        if (e.key === "Enter" && !e.repeat) onHold(true);
      }}
      onKeyUp={(e) => {
        if (e.key === "Enter") onHold(false);
      }}
      onContextMenu={(e) => e.preventDefault()}
    >
      <span class="hold-label">{pressed ? t("talk.release") : t("talk.hold")}</span>
      <span class="hold-help">{t("talk.holdHelp")}</span>
    </button>
  );
}

/** takesSpace reports whether an element has a use of its own for the space bar. */
function takesSpace(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || target.dataset.hold) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT|BUTTON|SUMMARY|A)$/.test(target.tagName);
}
