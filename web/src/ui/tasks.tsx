// Delegated work, a card each while it runs: what it is, how long it has run, what it
// said last, and a button that calls it off.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ConversationStore } from "../conversation.ts";
import { setting } from "../kept.ts";
import type { Task } from "../model/task.ts";
import { ended } from "../model/tasks.ts";
import { useWords, type T } from "../words/words.ts";
import { useCalm, useClock } from "./clock.ts";
import { Close } from "./icons.tsx";

/** What has ended and needs nobody's eye any more is shown for so long, in milliseconds. */
const passing = 6000;

/** What is read out of the work's progress, at most so often, in milliseconds. */
const breath = 5000;

/** taskName words the name of a tool. */
export function taskName(name: string): string {
  const words = name.replace(/[_\-.]+/g, " ").trim();
  return words === "" ? name : words[0]!.toUpperCase() + words.slice(1);
}

/** waited are the tasks that the conversation waits for now. */
export const waited = (tasks: readonly Task[]) => tasks.filter((t) => !ended(t) && !t.background);

/** resultsOf are the names of the tasks whose results a turn tells, by turn. */
export function resultsOf(tasks: readonly Task[]): Map<number, string> {
  const names = new Map<number, Set<string>>();
  for (const t of tasks) {
    if (t.told !== 0) names.set(t.told, (names.get(t.told) ?? new Set()).add(taskName(t.name)));
  }
  return new Map([...names].map(([turn, all]) => [turn, [...all].join(", ")]));
}

interface Props {
  store: ConversationStore;
  /** Calls off the work with an id; false if that did not go through. */
  onCancel: (id: string) => Promise<boolean>;
  lang?: string;
}

/** TaskCards shows what runs, and for a while what has ended. */
export function TaskCards({ store, onCancel, lang }: Props) {
  const t = useWords();
  const tasks = store.now.value.tasks;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [runs, setRuns] = useState(true);
  useClock(runs, 500);
  const now = store.clock();
  const shown = tasks.filter((k) => !closed.has(k.id) && stays(k, now));
  const counts = shown.some((k) => !ended(k) || k.state === "cancelled");
  useEffect(() => setRuns(counts), [counts]);
  const over = store.connection.value === "ended" || store.connection.value === "failed";
  const news = useChanged(tasks);
  const said = useCalm(news && shown.includes(news) ? `${taskName(news.name)}: ${statusOf(t, news)}` : "", breath);
  return (
    <>
      <p class="visually-hidden" role="status">
        {said}
      </p>
      {shown.length > 0 && (
        <section class="tasks" aria-label={t("task.title")} tabIndex={shown.length > 2 ? 0 : undefined}>
          <ul>
            {shown.map((k) => (
              <Card
                key={k.id}
                task={k}
                now={now}
                lang={lang}
                onCancel={ended(k) || over ? undefined : () => onCancel(k.id)}
                onClose={ended(k) ? () => setClosed(new Set([...closed, k.id])) : undefined}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** useChanged is the task that was told of last. */
function useChanged(tasks: readonly Task[]): Task | undefined {
  const before = useRef<readonly Task[]>([]);
  const last = useRef<Task | undefined>(undefined);
  if (before.current !== tasks) {
    last.current = tasks.findLast((k) => !before.current.includes(k)) ?? tasks.find((k) => k === last.current);
    before.current = tasks;
  }
  return last.current;
}

/** stays reports whether a task is still to be shown at a time. */
function stays(k: Task, now: number): boolean {
  if (!ended(k)) return true;
  switch (k.state) {
    case "done":
      // The reply that waited for it says the result; else it is here until it is told.
      return k.background && k.told === 0;
    case "failed":
      return k.told === 0;
    case "left":
      return true;
    default:
      return now - (k.end ?? now) < passing;
  }
}

/** statusOf words where a task stands. */
function statusOf(t: T, k: Task): string {
  switch (k.state) {
    case "running":
      return k.text || t(k.background ? "task.background" : "task.running");
    case "done":
      return t("task.done");
    case "failed":
      return k.text || t(k.code === "TASK_TIMEOUT" ? "task.timeout" : "task.failed");
    case "cancelled":
      return t("task.cancelled");
    case "left":
      return t(setting("caller") ? "task.left" : "task.leftAlone");
  }
}

interface CardProps {
  task: Task;
  now: number;
  lang?: string;
  onCancel?: () => Promise<boolean>;
  onClose?: () => void;
}

function Card({ task: k, now, lang, onCancel, onClose }: CardProps) {
  const t = useWords();
  const text = useId();
  const [calling, setCalling] = useState(false);
  const callOff = async (run: () => Promise<boolean>) => {
    setCalling(true);
    if (!(await run())) setCalling(false);
  };
  const name = taskName(k.name);
  const tag = k.state === "running" && k.background ? t(k.adopted ? "task.adopted" : "task.behind") : "";
  return (
    <li class="task" data-state={k.state} data-background={k.background}>
      <i class="task-sign" aria-hidden="true" />
      <div class="task-body">
        <p class="task-head">
          <strong class="task-name">{name}</strong>
          <span class="task-time">{t.clock(Math.max(0, (k.end ?? now) - k.start)).replace(/\.\d+$/, "")}</span>
          {tag && <span class="tag">{tag}</span>}
        </p>
        <p id={text} class="task-text" lang={k.text ? lang : undefined}>
          {calling && k.state === "running" ? t("task.calling") : statusOf(t, k)}
        </p>
      </div>
      {onCancel && (
        <button type="button" class="quiet-button small" disabled={calling} aria-label={`${t("talk.cancel")}: ${[name, tag].filter(Boolean).join(", ")}`} aria-describedby={text} onClick={() => void callOff(onCancel)}>
          {t("talk.cancel")}
        </button>
      )}
      {onClose && (
        <button type="button" class="icon-button" aria-label={`${t("talk.dismiss")}: ${name}`} onClick={onClose}>
          <Close />
        </button>
      )}
    </li>
  );
}
