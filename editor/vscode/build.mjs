// Bundles the extension into dist, with the panel of the engine's server beside it.
//
//   node build.mjs             the extension
//   node build.mjs --test      the tests, into .run/test
//   node build.mjs --package   the extension, with its size

import { build } from "esbuild";
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const panel = join(here, "../../server/panel/dist");
/** What the extension's own code may have, without panel and engine. */
const limit = 150_000;

const common = { absWorkingDir: here, bundle: true, platform: "node", target: "node20", logLevel: "warning", external: ["vscode"] };

if (process.argv.includes("--test")) {
  rmSync(join(here, ".run/test"), { recursive: true, force: true });
  const tests = readdirSync(join(here, "test")).filter((f) => f.endsWith(".test.ts"));
  await build({
    ...common, entryPoints: tests.map((f) => `test/${f}`), outdir: ".run/test", outExtension: { ".js": ".mjs" }, format: "esm", sourcemap: "inline",
    define: { ROOT: JSON.stringify(here) },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
} else {
  rmSync(join(here, "dist"), { recursive: true, force: true });
  mkdirSync(join(here, "dist"));
  await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", format: "cjs", minify: true, legalComments: "none" });
  for (const f of ["panel.js", "panel.css"]) copyFileSync(join(panel, f), join(here, "dist", f));
  copyFileSync(join(here, "../../THIRD_PARTY.md"), join(here, "dist/THIRD_PARTY.txt"));
  const { size } = statSync(join(here, "dist/extension.js"));
  console.log(`the extension's own code: ${Math.round(size / 1000)} kB (limit ${limit / 1000} kB)`);
  if (size >= limit) process.exit(1);
}
