// Steps through a conversation, forwards and backwards.

import type { ConversationStore } from "../conversation.ts";
import { useWords } from "../words/words.ts";
import { Back, BackTransition, First, Forward, ForwardTransition, Last } from "./icons.tsx";

/** Stepper moves the cursor: by buttons, by its slider, or by the arrow keys on it. */
export function Stepper({ store }: { store: ConversationStore }) {
  const t = useWords();
  store.version.value;
  const count = store.recording.steps.length;
  const cursor = store.cursor.value;
  const index = cursor ?? count - 1;
  const live = store.source.kind !== "file";
  const go = (to: number | undefined) => store.lookAt(to);
  const changes = store.recording.changes;
  const before = changes.findLast((c) => c.step < index)?.step;
  const after = changes.find((c) => c.step > index)?.step;
  const at = store.recording.steps[index]?.at ?? 0;
  const position = t("step.position", { n: index + 1, all: count });
  const buttons = [
    { label: t("step.first"), icon: <First />, to: 0, off: index <= 0 },
    { label: t("step.backTransition"), icon: <BackTransition />, to: before, off: before === undefined },
    { label: t("step.back"), icon: <Back />, to: index - 1, off: index <= 0 },
    { label: t("step.forward"), icon: <Forward />, to: index + 1, off: index >= count - 1 },
    { label: t("step.forwardTransition"), icon: <ForwardTransition />, to: after, off: after === undefined },
    { label: t("step.last"), icon: <Last />, to: count - 1, off: index >= count - 1 },
  ];
  return (
    <section class="stepper" aria-label={t("step.title")}>
      <div class="stepper-buttons">
        {buttons.map((b) => (
          // Not disabled: a button that is pressed again and again keeps the keyboard.
          <button
            key={b.label}
            type="button"
            class="icon-button"
            aria-label={b.label}
            title={b.label}
            aria-disabled={b.off}
            onClick={() => !b.off && go(b.to)}
          >
            {b.icon}
          </button>
        ))}
      </div>
      <input
        type="range"
        min={0}
        max={Math.max(0, count - 1)}
        value={Math.max(0, index)}
        aria-label={t("step.slider")}
        aria-valuetext={`${position}, ${t.clock(at)}`}
        onInput={(e) => go(Number(e.currentTarget.value))}
      />
      <output class="stepper-at">
        <span>{t.clock(at)}</span> <span class="muted">{position}</span>
      </output>
      {live && (
        <button type="button" class="follow" aria-pressed={cursor === undefined} onClick={() => go(cursor === undefined ? index : undefined)}>
          <i class="dot" data-tone={cursor === undefined ? "agent" : "rest"} />
          {cursor === undefined ? t("step.following") : t("step.follow")}
        </button>
      )}
    </section>
  );
}
