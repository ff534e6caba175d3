// Bundles the panel into server/panel/dist, where the server embeds it. The page
// and its icon stand there already: they are nowhere else.
//
//   npm run build              (OUTDIR names another folder)
//
// The same sources and lockfile give the same bytes.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** bundle writes panel.js, microphone.js and their styles into a folder. */
export async function bundle(outdir) {
  await build({
    entryPoints: { panel: here("src/main.tsx"), microphone: here("src/microphone/page.ts") },
    outdir,
    absWorkingDir: here("."),
    bundle: true,
    format: "esm",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    minify: true,
    charset: "utf8",
    legalComments: "none",
    loader: { ".svg": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { react: "preact/compat" },
    logLevel: "warning",
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundle(process.env.OUTDIR ?? here("../server/panel/dist"));
}
