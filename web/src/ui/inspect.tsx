// The Inspect view: conversations on one side, the one that was chosen on the other.

import { useState } from "preact/hooks";
import type { App } from "../app.ts";
import type { ConversationStore } from "../conversation.ts";
import { toneOfPhase } from "../model/phases.ts";
import { problemOf, type Problem } from "../source/source.ts";
import { useWords } from "../words/words.ts";
import { useClock } from "./clock.ts";
import { Conversations } from "./conversations.tsx";
import { Detail } from "./detail.tsx";
import { EventList } from "./events.tsx";
import { Download } from "./icons.tsx";
import { LatencyChart } from "./latency.tsx";
import { MetricCards } from "./metrics.tsx";
import { Gone, Line } from "./line.tsx";
import { Banner, problemText } from "./notices.tsx";
import { save } from "./save.ts";
import { ShareLink, ShareTranscript } from "./share.tsx";
import { Statechart } from "./statechart.tsx";
import { Stepper } from "./stepper.tsx";
import { resultsOf } from "./tasks.tsx";
import { Timeline } from "./timeline.tsx";
import { Transcript } from "./transcript.tsx";
import { Transitions } from "./transitions.tsx";

/** Inspect shows how a conversation went, or goes. */
export function Inspect({ app }: { app: App }) {
  const t = useWords();
  const store = app.watched.value;
  return (
    <main id="content" class="inspect" tabIndex={-1} data-host={app.host !== undefined}>
      <h1 class="visually-hidden">{t("inspect.title")}</h1>
      {!app.host && <Conversations app={app} />}
      {store ? (
        <Watched app={app} store={store} key={app.watchedId.value + store.source.name} />
      ) : (
        <div class="empty">
          <p>{t("inspect.choose")}</p>
          <p class="muted">{t("inspect.chooseHelp")}</p>
          <code class="command">
            hocket call <span>--agent AGENT</span> <span>--say TEXT</span> <span>--trace FILE</span>
          </code>
        </div>
      )}
    </main>
  );
}

function Watched({ app, store }: { app: App; store: ConversationStore }) {
  const t = useWords();
  const version = store.version.value;
  const frame = store.frame.value;
  const { recording } = store;
  const explored = app.explored.value;
  const follow = store.cursor.value === undefined && store.connection.value !== "ended";
  const pick = (index: number) => store.lookAt(index);
  const agent = app.agents.value?.find((a) => a.name === store.source.name);
  const lang = store.header.value?.language ?? agent?.language;
  const title = app.titleOf(store.source.name);
  const agentName = store.source.kind === "live" ? title : t("talk.agent");
  const network = app.session.store.value === store ? app.session.network.value : undefined;
  return (
    <div class="watched">
      <Head store={store} title={title} id={store.source.kind === "live" ? app.watchedId.value : ""} />
      <Trouble store={store} />
      <Gone store={store} shown={frame.shown} until={app.conversations.value.find((c) => c.id === app.watchedId.value)?.waits_until} />
      <Stepper store={store} />
      <Now store={store} />
      <MetricCards metrics={recording.metrics} errors={recording.errors} />
      <Timeline recording={recording} version={version} at={frame.at} follow={follow} onPick={pick} />
      <LatencyChart latencies={recording.latencies} network={network} />
      <div class="columns">
        <div class="column">
          <Statechart phase={frame.phase} edge={frame.edge} />
          <EventList recording={recording} version={version} explored={explored} index={frame.index} onPick={pick} />
        </div>
        <div class="column">
          <section class="card transcript-card" aria-labelledby="transcript-title">
            <header class="card-head">
              <h2 id="transcript-title">{t("talk.transcript")}</h2>
              {frame.shown.lines.length > 0 && <ShareTranscript said={{ id: app.watchedId.value, agent: agentName, started: store.header.value?.started, lines: frame.shown.lines }} />}
            </header>
            {frame.shown.lines.length === 0 ? (
              <p class="muted card-empty">{t("talk.emptyHost")}</p>
            ) : (
              <Transcript lines={frame.shown.lines} agent={agentName} lang={lang} results={resultsOf(frame.shown.tasks)} />
            )}
          </section>
          <Transitions recording={recording} version={version} explored={explored} index={frame.index} onPick={pick} />
          <Detail step={recording.steps[frame.index]} />
        </div>
      </div>
    </div>
  );
}

function Head({ store, title, id }: { store: ConversationStore; title: string; id: string }) {
  const t = useWords();
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const ended = store.connection.value === "ended";
  const kind = store.source.kind === "file" ? t("inspect.file") : ended ? t("inspect.ended") : t("inspect.live");
  const download = async () => {
    setProblem(undefined);
    try {
      save(await store.source.trace!(), store.source.file ?? store.source.name.replace(/(\.jsonl)?$/, ".jsonl"), "application/x-ndjson");
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <header class="watched-head">
      <h2>{title}</h2>
      <span class="tag" data-live={store.source.kind !== "file" && !ended}>
        {kind}
      </span>
      {store.source.trace && (
        <button type="button" class="quiet-button push" onClick={() => void download()}>
          <Download />
          <span>{t("inspect.download")}</span>
        </button>
      )}
      {id !== "" && <ShareLink view="inspect" id={id} />}
      {problem && (
        <Banner level="error" onClose={() => setProblem(undefined)}>
          {t("inspect.downloadFailed")} {problemText(t, problem)}
        </Banner>
      )}
    </header>
  );
}

function Trouble({ store }: { store: ConversationStore }) {
  const t = useWords();
  const problem = store.problem.value;
  if (problem?.code === "trace_cut_off") return <Banner level="warning">{t("inspect.cutOff")}</Banner>;
  if (store.connection.value === "failed" && problem) {
    return (
      <Banner level="error">
        {t("inspect.gone")} {problemText(t, problem)}
      </Banner>
    );
  }
  if (store.connection.value === "lost" || store.now.value.behind) return <Line store={store} />;
  store.version.value;
  if (store.recording.steps.length === 0 && store.connection.value === "open" && store.now.value.lines.length > 0) {
    return <Banner level="info">{t("inspect.noSteps")}</Banner>;
  }
  return null;
}

/** Now is the head of seed 001's debug view: state, the state before, session, turns. */
function Now({ store }: { store: ConversationStore }) {
  const t = useWords();
  const frame = store.frame.value;
  const live = store.cursor.value === undefined && store.connection.value === "open" && store.started.value !== undefined;
  const now = useClock(live);
  const at = live ? Math.max(frame.at, now - store.started.value!) : frame.at;
  return (
    <dl class="now" data-tone={toneOfPhase(frame.phase)} data-phase={frame.phase}>
      <div class="now-current">
        <dt>{t("now.current")}</dt>
        <dd>
          {frame.phase} <span class="muted">{t.span(Math.max(0, at - frame.since))}</span>
        </dd>
      </div>
      <div>
        <dt>{t("now.previous")}</dt>
        <dd>
          {frame.previous ? (
            <>
              {frame.previous.phase} <span class="muted">{t.span(frame.previous.spent)}</span>
            </>
          ) : (
            "–"
          )}
        </dd>
      </div>
      <div>
        <dt>{t("now.cause")}</dt>
        <dd>{frame.previous ? <code>{frame.previous.cause}</code> : "–"}</dd>
      </div>
      <div>
        <dt>{t("now.session")}</dt>
        <dd>{t.clock(at).replace(/\.\d+$/, "")}</dd>
      </div>
      <div>
        <dt>{t("now.turns")}</dt>
        <dd>{store.recording.metrics.turns}</dd>
      </div>
    </dl>
  );
}
