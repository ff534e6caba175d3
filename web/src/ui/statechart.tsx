// The machine's statechart, with the live state lit. Graphviz has laid it out
// when the panel was built; here only classes change.

import { useLayoutEffect, useRef } from "preact/hooks";
import chart from "../../statechart/statechart.svg";
import { toneOfPhase } from "../model/phases.ts";
import { useWords } from "../words/words.ts";

interface Props {
  phase: string;
  /** The transition that led here. */
  edge?: { from: string; to: string };
}

/** The states that the picture draws edges for as one: "a conversation goes on". */
const outside = new Set(["idle", "suspended", "reconnecting", "faulted", "terminating"]);

/** Statechart lights the phase, the way that led to it, and the ways that lead on. */
export function Statechart({ phase, edge }: Props) {
  const t = useWords();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Part of the bundle, and therefore trusted.
    if (box.current) box.current.innerHTML = chart;
  }, []);
  useLayoutEffect(() => {
    const el = box.current;
    if (el) light(el, phase, edge);
  }, [phase, edge?.from, edge?.to]);
  return (
    <section class="card chart-card" aria-labelledby="chart-title">
      <header class="card-head">
        <h2 id="chart-title">{t("chart.title")}</h2>
      </header>
      <div class="chart" ref={box} role="img" aria-label={t("chart.now", { state: phase })} />
    </section>
  );
}

function light(el: HTMLElement, phase: string, edge: Props["edge"]): void {
  for (const lit of el.querySelectorAll(".live, .taken, .ahead")) lit.classList.remove("live", "taken", "ahead");
  const node = [...el.querySelectorAll<SVGElement>(".node")].find((n) => n.dataset.state === phase);
  if (node) {
    node.classList.add("live");
    node.dataset.tone = toneOfPhase(phase);
  }
  const tail = (s: string, to: string) => (outside.has(to) && !outside.has(s) ? "conversation" : s);
  const head = (from: string, s: string) => (from === "suspended" && !outside.has(s) ? "conversation" : s);
  for (const e of el.querySelectorAll<SVGElement>(".edge")) {
    const { from, to } = e.dataset;
    if (from === phase || (from === "conversation" && !outside.has(phase))) e.classList.add("ahead");
    if (edge && from === tail(edge.from, edge.to) && to === head(edge.from, edge.to)) e.classList.add("taken");
  }
}
