// Lays out the machine that `hocket machine --format dot` prints, with Graphviz,
// into statechart.svg: committed, so that a build needs neither of them.
//
//   npm run statechart        (HOCKET names the binary; ../bin/hocket if absent)
//
// What the picture leaves to CSS is taken out of it (colours, fonts); what CSS
// and code hold on to is put in: the class of each part, data-state of a state,
// data-from and data-to of an edge. Causes are no labels here: the panel lists
// them with the transitions.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const hocket = process.env.HOCKET ?? here("../../bin/hocket");

// The way of an answer goes down the page; all other edges fit in beside it.
const spine = new Set([
  "start idle", "idle preparing", "preparing listening_ready", "listening_ready listening_capturing",
  "listening_capturing processing_understanding", "processing_understanding processing_waiting",
  "processing_understanding processing_tool", "processing_waiting processing_generating",
  "processing_tool processing_delegated", "processing_generating speaking", "speaking interrupted",
  "suspended reconnecting", "reconnecting faulted", "faulted terminating",
]);

const dot = execFileSync(hocket, ["machine", "--format", "dot"], { encoding: "utf8" });
const lines = dot.split("\n").map((line) => {
  const edge = /^\s*(\w+) -> (\w+)(?: \[(.*)\])?;$/.exec(line);
  if (edge) return arrow(edge[1], edge[2], edge[3] ?? "");
  if (/^\s*label="hocket";/.test(line)) {
    return `  compound=true; rankdir=TB; nodesep=0.08; ranksep=0.34; pad=0.06;`;
  }
  if (/^\s*node \[/.test(line)) return `  node [fontname="Helvetica", fontsize=13, shape=box, style=rounded, height=0.34, margin="0.13,0.04"];`;
  if (/^\s*graph \[/.test(line)) return `  graph [fontname="Helvetica", fontsize=12, style=rounded];`;
  if (/^\s*subgraph \w+ \{/.test(line)) return `${line} margin=10;`;
  if (/^\s*edge \[/.test(line)) return `  edge [arrowsize=0.6];`;
  return line;
});

function arrow(from, to, attributes) {
  const tail = /ltail=(\w+)/.exec(attributes)?.[1];
  const head = /lhead=(\w+)/.exec(attributes)?.[1];
  const more = [tail && `ltail=${tail}`, head && `lhead=${head}`].filter(Boolean);
  more.push(spine.has(`${from} ${to}`) ? "weight=8" : "constraint=false");
  const name = (node, cluster) => (cluster ? cluster.replace("cluster_", "") : node.replace("_", "."));
  return `  ${from} -> ${to} [${more.join(", ")}, id="${name(from, tail)} ${name(to, head)}"];`;
}

const layout = process.env.DOT_EXTRA ? [...lines.slice(0, -2), process.env.DOT_EXTRA, "}"] : lines;
const svg = execFileSync("dot", ["-Tsvg"], { input: layout.join("\n"), encoding: "utf8" });
writeFileSync(here("statechart.svg"), clean(svg));

/** clean keeps of Graphviz' picture what is neither colour nor font. */
function clean(text) {
  const box = /viewBox="([^"]*)"/.exec(text)[1];
  const body = text.slice(text.indexOf("<g id="), text.lastIndexOf("</svg>"));
  const parts = body
    .replace(/<!--[\s\S]*?-->\n?/g, "")
    .replace(/<title>[\s\S]*?<\/title>\n?/g, "")
    .replace(/ (fill|stroke|font-family|font-size|text-decoration)="[^"]*"/g, "")
    // The canvas itself.
    .replace(/<polygon points="[^"]*"\/>\n(?=<g id="clust)/, "")
    .replace(/<g id="(\S+) (\S+)" class="edge">/g, `<g class="edge" data-from="$1" data-to="$2">`)
    .replace(/<g id="clust\d+" class="cluster">/g, `<g class="cluster">`)
    .replace(/<g id="([a-z.]+)" class="node">/g, `<g id="state-$1" class="node" data-state="$1">`)
    .replace(/<g id="node\d+" class="node">/g, `<g class="start">`)
    .replace(/<g id="graph0" class="graph"/, `<g class="graph"`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}">\n${parts.trim()}\n</svg>\n`;
}
