// Bundles the panel into internal/panel/dist, where the server embeds it:
//
//   npm run build              (OUTDIR names another folder)
//
// The same sources and lockfile give the same bytes.

import { build } from "esbuild";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** bundle writes the panel into a folder, and empties that before. */
export async function bundle(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints: { panel: here("src/main.tsx") },
    outdir,
    absWorkingDir: here("."),
    bundle: true,
    format: "esm",
    target: ["es2022", "chrome111", "firefox115", "safari16.4"],
    minify: true,
    charset: "utf8",
    legalComments: "none",
    loader: { ".svg": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { react: "preact/compat" },
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"]) cpSync(here(`src/${file}`), `${outdir}/${file}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundle(process.env.OUTDIR ?? here("../internal/panel/dist"));
}
