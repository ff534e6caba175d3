// The sources import one another without circles: types count as well, for who reads a
// file wants to know what it stands on.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

declare const WEB: string;

/** imports are the files that a source imports, by their names below the folder. */
function imports(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const names = [...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;]*?\bfrom\s*"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"\s*\)|(?:^|\n)\s*import\s*"(\.[^"]+)"/g)];
  return names.map((m) => normalize(join(dirname(file), (m[1] ?? m[2] ?? m[3])!))).filter((name) => /\.tsx?$/.test(name));
}

/** circles are the groups of files each of which leads back to itself (Tarjan, 1972). */
export function circles(graph: Map<string, string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    for (const to of graph.get(node) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(node, Math.min(low.get(node)!, low.get(to)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || graph.get(node)!.includes(node)) found.push(group.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

test("circles are found", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c", "d"]], ["c", ["a"]], ["d", ["e"]], ["e", []], ["f", ["f"]]]);
  assert.deepEqual(circles(graph), [["a", "b", "c"], ["f"]]);
});

test("the sources have no circle of imports", () => {
  const root = join(WEB, "src");
  const files = (readdirSync(root, { recursive: true }) as string[]).filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"));
  const graph = new Map(files.map((file) => [file, imports(root, file)]));
  for (const [file, list] of graph) {
    for (const name of list) assert.ok(existsSync(join(root, name)), `${file} imports ${name}, which the test does not find`);
  }
  assert.ok([...graph.values()].flat().length > 100, "imports are not read");
  assert.deepEqual(circles(graph), []);
});
