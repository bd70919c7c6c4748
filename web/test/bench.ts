// Frame times of a big report: `npm run bench -- [calls]`, half a million by default.
//
// Moves over a generated report in headless Chromium without a GPU, which is the slow case, and prints what each
// frame cost the page's script, and how evenly the browser produced frames. Prints, asserts nothing: figures
// depend on the machine.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.ts";
import { fill, incident } from "./fixture.ts";

const calls = Number(process.argv[2] ?? 500_000);
const report = incident({ slices: calls * 1.09, threads: 24 });
const made = report.threads.reduce((n, t) => n + t.start.length, 0);
const file = resolve("test-out/bench.html");
const page = fill(readFileSync("dist/report.html", "utf8"), report);
writeFileSync(file, page);
console.log(`${made} calls, ${report.threads.length} threads, page of ${(page.length / 1048576).toFixed(1)} MiB`);

const browser = await launch();
try {
  const tab = await browser.page();
  const opened = performance.now();
  await tab.goto(pathToFileURL(file).href);
  await tab.waitForFunction(() => window.lookback !== undefined, undefined, { timeout: 60_000 });
  console.log(`open to first chart: ${(performance.now() - opened).toFixed(0)} ms`);

  await tab.setViewportSize({ width: 1920, height: 1200 });
  const openThreads = (): Promise<number> => tab.evaluate(() => (window.lookback?.state()["open"] as number[]).length);
  for (const open of [false, true]) {
    // E opens all, then closes all; wait for the state, not for a time.
    do await tab.keyboard.press("e");
    while ((await openThreads()) !== (open ? report.threads.length : 0));
    for (const [name, zoom] of [["whole", 1], ["1/10", 0.1], ["1/100", 0.01], ["1/1000", 0.001]] as const) {
      const result = await tab.evaluate(async (share) => {
        const app = window.lookback;
        if (app === undefined) throw new Error("the page has not started");
        const { from, to } = app.state()["bounds"] as { from: number; to: number };
        const whole = to - from;
        const costs: number[] = [];
        const gaps: number[] = [];
        let drawn = 0;
        let last = 0;
        await new Promise<void>((done) => {
          let n = 0;
          const step = (now: number): void => {
            if (last > 0) gaps.push(now - last);
            last = now;
            const width = whole * share * (1 - 0.1 * (n % 7) / 7);
            const start = from + (whole - width) * (0.2 + (0.5 * n) / 90);
            app.show(start, start + width);
            costs.push(app.drawNow());
            drawn = Math.max(drawn, app.state()["drawn"] as number);
            if (++n < 90) requestAnimationFrame(step);
            else done();
          };
          requestAnimationFrame(step);
        });
        const sorted = (v: number[]): number[] => v.sort((a, b) => a - b);
        const at = (v: number[], q: number): number => v[Math.min(v.length - 1, Math.floor(v.length * q))];
        const c = sorted(costs);
        const g = sorted(gaps);
        return { median: at(c, 0.5), p95: at(c, 0.95), max: at(c, 1), gap: at(g, 0.5), gap95: at(g, 0.95), drawn };
      }, zoom);
      const f = (v: number): string => v.toFixed(1).padStart(5);
      console.log(`${open ? "all threads open" : "collapsed       "} ${name.padEnd(7)} draw median ${f(result.median)} p95 ${f(result.p95)} max ${f(result.max)} ms; frame interval median ${f(result.gap)} p95 ${f(result.gap95)} ms; ${result.drawn} boxes`);
    }
  }
  await tab.evaluate(() => {
    const app = window.lookback;
    const b = app?.state()["bounds"] as { from: number; to: number };
    app?.show(b.from, b.to);
  });
  for (const [key, what] of [["2", "flame graph of everything"], ["3", "methods table of everything"]] as const) {
    const took = await tab.evaluate((k) => {
      const before = performance.now();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: k }));
      return performance.now() - before;
    }, key);
    console.log(`${what}: ${took.toFixed(0)} ms`);
  }
  const search = await tab.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>("#search");
    if (input === null) return NaN;
    input.value = "serial";
    const before = performance.now();
    input.dispatchEvent(new Event("input"));
    return performance.now() - before;
  });
  console.log(`search key press: ${search.toFixed(0)} ms`);
} finally {
  await browser.close();
  rmSync(file, { force: true });
}
