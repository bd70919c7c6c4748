// Compiles the TypeScript tests with esbuild and hands them to node's own runner.
//
// node 20 does not run TypeScript by itself; bundling each test keeps the sources free of a loader. `bench`
// and `sample` are programs, not tests: they are bundled the same way and run directly.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const kind = process.argv[2];
const wanted = {
  unit: (f) => f.endsWith(".test.ts") && !f.startsWith("browser"),
  browser: (f) => f === "browser.test.ts",
  bench: (f) => f === "bench.ts",
  sample: (f) => f === "sample.ts",
}[kind];
if (!wanted) throw new Error("say which: unit, browser, bench or sample");

const entries = readdirSync(join(root, "test")).filter(wanted).sort();
const out = join(root, "test-out", kind);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: entries.map((f) => join(root, "test", f)),
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  target: "node20",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  sourcemap: "inline",
  logLevel: "warning",
});
const files = entries.map((f) => join(out, f.replace(/\.ts$/, ".mjs")));
const runner = kind === "unit" || kind === "browser" ? ["--test"] : [];
const run = spawnSync(process.execPath, ["--enable-source-maps", ...runner, ...files, ...process.argv.slice(3)], {
  stdio: "inherit",
  cwd: root,
});
process.exit(run.status ?? 1);
