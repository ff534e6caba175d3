// Messages that are not part of the conversation.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { App } from "../app.ts";
import type { Notice } from "../model/talk.ts";
import type { Problem } from "../source/source.ts";
import { inPage } from "../words/catalog.ts";
import { useWords, type T } from "../words/words.ts";
import { Close, Info, Warning } from "./icons.tsx";

/** problemText words a problem: the panel's words for its code, else the server's message. */
export function problemText(t: T, p: Problem): string {
  if (t.has(p.code)) return t(p.code);
  return p.message || t("unknown");
}

interface BannerProps {
  level: "info" | "warning" | "error";
  title?: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
  onClose?: () => void;
  lang?: string;
}

/** Banner is one message. Errors are read out at once, others when there is time. */
export function Banner({ level, title, children, actions, onClose, lang }: BannerProps) {
  const t = useWords();
  return (
    <div class="banner" data-level={level} role={level === "error" ? "alert" : "status"}>
      {level === "info" ? <Info /> : <Warning />}
      <div class="banner-body">
        {title && <strong>{title}</strong>}
        <p lang={lang}>{children}</p>
        {actions && <div class="banner-actions">{actions}</div>}
      </div>
      {onClose && (
        <button type="button" class="icon-button" aria-label={t("talk.dismiss")} onClick={onClose}>
          <Close />
        </button>
      )}
    </div>
  );
}

/** ServerProblem says that the server does not answer, or why it refuses. */
export function ServerProblem({ app }: { app: App }) {
  const t = useWords();
  const p = app.problem.value;
  if (!p || app.keyAsked.value) return null;
  return <Banner level="error">{p.code === "offline" ? t("feed.offline") : problemText(t, p)}</Banner>;
}

/** isCue reports whether a message tells how a long work goes on. */
const isCue = (code: string) => /^(working\.|progress)/.test(code);

interface NoticesProps {
  notices: readonly Notice[];
  /** Whether somebody works at something long; only then is it told how that goes on. */
  working: boolean;
  /** A fault goes on; what was told of one that is over passes like the rest. */
  faulted: boolean;
  lang?: string;
}

/** The time after which a message that is not an error disappears, in milliseconds. */
const passing = 12_000;

/** Notices shows the latest message of the conversation until it has passed or is dismissed. */
export function Notices({ notices, working, faulted, lang }: NoticesProps) {
  const t = useWords();
  const [seen, setSeen] = useState(0);
  const last = notices.findLast((n) => working || !isCue(n.code));
  useEffect(() => {
    if (!last || faulted || isCue(last.code) || (last.level === "error" && !last.code.startsWith("fault."))) return;
    const timer = setTimeout(() => setSeen(last.key), passing);
    return () => clearTimeout(timer);
  }, [last?.key, faulted]);
  if (!last || last.key <= seen) return null;
  // The server knows of nobody whom it could put the user through to.
  const own = last.code === "handoff" ? t("talk.handoff") : inPage(last.code, last.message, t.language);
  return (
    <Banner level={last.level} lang={own === undefined ? lang : undefined} onClose={() => setSeen(last.key)}>
      {own ?? last.message}
    </Banner>
  );
}
