// Bundles TypeScript for Node and runs it: tests with node's runner, others as
// programs. Node 20 does not read TypeScript by itself. Two files of tests run at a
// time, in their order: conversations by voice mostly wait for the clock.
//
//   node run.mjs test/*.test.ts          node's test runner
//   node run.mjs --program e2e/x.ts      a program

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const args = process.argv.slice(2);
const program = args[0] === "--program";
if (program) args.shift();
const files = program ? args.slice(0, 1) : args.flatMap((a) => expand(a));
const rest = program ? args.slice(1) : [];
// The runner sorts files by their names.
const bundles = files.map((f, i) => `${String(i).padStart(2, "0")}-${basename(f).replace(/\.tsx?$/, "")}`);

// Beside node_modules, so that packages are found.
mkdirSync(join(root, ".run"), { recursive: true });
const out = mkdtempSync(join(root, ".run", "run-"));
let status = 1;
try {
  await build({
    entryPoints: files.map((f, i) => ({ in: join(root, f), out: bundles[i] })),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    loader: { ".svg": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { WEB: JSON.stringify(root) },
    sourcemap: "inline",
    logLevel: "warning",
  });
  const built = bundles.map((name) => join(out, `${name}.mjs`));
  const flags = program ? [] : ["--test", "--test-reporter=spec", "--test-concurrency=2"];
  status = spawnSync(process.execPath, ["--enable-source-maps", ...flags, ...built, ...rest], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
process.exit(status);

function expand(pattern) {
  if (!pattern.includes("*")) return [pattern];
  const folder = pattern.slice(0, pattern.lastIndexOf("/"));
  const end = basename(pattern).replace("*", "");
  return readdirSync(join(root, folder)).filter((f) => f.endsWith(end)).sort().map((f) => `${folder}/${f}`);
}
