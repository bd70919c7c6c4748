// The built page in a real browser: opened from a file, driven by keyboard and pointer, looked at from outside.
//
// Needs the built template and a Chromium. Nothing here waits for a time; it waits for the page to say that its
// movement has ended. Screenshots go to test-out/, for people to look at.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import type { Inspector } from "../src/app.ts";
import { launch, type Browser } from "./chromium.ts";
import { encode, fill, incident, methodIndex } from "./fixture.ts";

const OUT = resolve("test-out");
const template = readFileSync(resolve("dist/report.html"), "utf8");
const report = incident({ slices: 12_000 });
let browser: Browser;

before(async () => {
  mkdirSync(OUT, { recursive: true });
  browser = await launch();
});
after(async () => {
  await browser.close();
});

interface Seen {
  readonly view: { readonly from: number; readonly to: number };
  readonly bounds: { readonly from: number; readonly to: number };
  readonly selected: string | null;
  readonly selectedRef: { readonly thread: number; readonly slice: number } | null;
  readonly hovered: string | null;
  readonly settled: boolean;
  readonly query: string;
  readonly foundCalls: number;
  readonly foundMethods: number;
  readonly foundRank: number;
  readonly theme: string;
  readonly tab: string;
  readonly open: readonly number[];
  readonly scroll: number;
  readonly flame: { readonly nodes: number; readonly focus: string; readonly selected: string };
}

async function open(html: string, name: string): Promise<Page> {
  const file = resolve(OUT, `${name}.html`);
  writeFileSync(file, html);
  const page = await browser.page();
  await page.goto(pathToFileURL(file).href);
  return page;
}

async function openReport(value: unknown, name: string): Promise<Page> {
  const page = await open(fill(template, value), name);
  await page.waitForFunction(() => window.lookback !== undefined);
  return page;
}

async function seen(page: Page): Promise<Seen> {
  await page.waitForFunction(() => window.lookback?.state()["settled"] === true);
  return (await page.evaluate(() => (window.lookback as Inspector).state())) as unknown as Seen;
}

const width = (s: Seen): number => s.view.to - s.view.from;
const shot = (page: Page, name: string): Promise<Buffer> => page.screenshot({ path: resolve(OUT, `${name}.png`) });

test("the template opens by itself, says what it is and takes a dropped report", async () => {
  const page = await open(template, "empty");
  await page.waitForSelector(".chooser");
  assert.match(await page.innerText("main"), /shows a Lookback incident.*carries no incident itself/s);
  await shot(page, "empty");
  await page.setInputFiles("#file", { name: "x.json", mimeType: "application/json", buffer: Buffer.from("{\"schema\":9}") });
  await page.waitForFunction(() => document.querySelector("#problem")?.textContent?.includes("schema 1"));
  await page.setInputFiles("#file", { name: "report.html", mimeType: "text/html", buffer: Buffer.from(fill(template, report)) });
  await page.waitForFunction(() => window.lookback !== undefined);
  assert.equal((await seen(page)).selected, "com.acme.shop.api.OrderApi.place");
  await page.close();
});

test("cut data is refused in words, and a file can still be chosen", async () => {
  const page = await open(template.replace("@@LOOKBACK_DATA@@", () => encode(report).slice(0, 4000)), "cut");
  await page.waitForSelector("#problem:not(:empty)");
  assert.match(await page.innerText("#problem"), /does not inflate: the file was cut/);
  assert.equal(await page.locator("#file").count(), 1);
  await page.close();
});

test("a report opens on its slow call, with the verdict as text", async () => {
  const page = await openReport(report, "report");
  const s = await seen(page);
  assert.equal(s.selected, "com.acme.shop.api.OrderApi.place");
  assert.deepEqual(s.open, [0]);
  const trigger = report.trigger;
  assert.ok(trigger !== null && s.view.from < trigger.start && s.view.to > trigger.start + trigger.duration);
  assert.equal(await page.innerText("#verdict .headline"), report.summary[0]);
  assert.match(await page.innerText("#losses"), /43,026 records lost: brake: quota of records a tick 41,822, overwritten 1,204\. 48,210 calls not in this page/);
  assert.equal(await page.locator("#chain tbody tr").count(), report.chain.length);
  assert.match(await page.innerText("#chain tbody tr:last-child"), /monitorEnter.*waits for a monitor/s);
  assert.match((await page.getAttribute("#chart", "aria-label")) ?? "", /^Call chart: [\d,]+ calls of 17 threads/);
  assert.equal(await page.title(), "OrderApi.place slower than 300 ms – Lookback");
  await shot(page, "report-light");
  await page.close();
});

test("keys zoom, move, fit and jump", async () => {
  const page = await openReport(report, "keys");
  const start = await seen(page);
  await page.keyboard.press("f");
  const whole = await seen(page);
  assert.deepEqual(whole.view, whole.bounds);
  await page.keyboard.press("w");
  const near = await seen(page);
  assert.ok(Math.abs(width(near) / width(whole) - 0.7) < 0.01);
  await page.keyboard.press("d");
  const later = await seen(page);
  assert.ok(later.view.from > near.view.from);
  await page.keyboard.press("ArrowLeft");
  assert.ok(Math.abs((await seen(page)).view.from - near.view.from) < width(near) * 0.01);
  await page.keyboard.press("s");
  await page.keyboard.press("t");
  const trigger = await seen(page);
  assert.ok(width(trigger) < width(start) && report.trigger !== null && trigger.view.from < report.trigger.start);
  await page.keyboard.press("Shift+ArrowDown");
  assert.equal((await seen(page)).selected, "com.acme.shop.pricing.PriceEngine.quote");
  await page.keyboard.press("z");
  assert.ok(width(await seen(page)) < width(trigger));
  await page.keyboard.press("Shift+ArrowUp");
  assert.equal((await seen(page)).selected, "com.acme.shop.api.OrderApi.place");
  await page.keyboard.press("n");
  const next = await seen(page);
  assert.equal(next.selected, "com.acme.shop.api.OrderApi.place");
  assert.notDeepEqual(next.selectedRef, start.selectedRef);
  await page.keyboard.press("p");
  assert.deepEqual((await seen(page)).selectedRef, start.selectedRef);
  await page.keyboard.press("e");
  assert.equal((await seen(page)).open.length, 17);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  assert.equal((await seen(page)).selected, null);
  await page.close();
});

test("the pointer drags, zooms where it is, marks a range and selects", async () => {
  const page = await openReport(report, "pointer");
  const box = await page.locator("#chart").boundingBox();
  assert.ok(box !== null);
  const [x, y] = [box.x + 500, box.y + 60];
  const start = await seen(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 200, y, { steps: 4 });
  await page.mouse.up();
  const dragged = await seen(page);
  assert.ok(Math.abs(dragged.view.from - start.view.from - (200 / box.width) * width(start)) < width(start) * 0.005);
  assert.equal(dragged.selected, start.selected, "a drag selects nothing");

  const under = (s: Seen): number => s.view.from + (500 / box.width) * width(s);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction((w) => {
    const v = window.lookback?.state()["view"] as { from: number; to: number };
    return v.to - v.from < w;
  }, width(dragged) * 0.99);
  const zoomed = await seen(page);
  assert.ok(Math.abs(under(zoomed) - under(dragged)) < width(zoomed) * 0.005);

  await page.keyboard.down("Shift");
  await page.mouse.move(x - 100, y);
  await page.mouse.down();
  await page.mouse.move(x + 100, y, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const marked = await seen(page);
  assert.ok(Math.abs(width(marked) / width(zoomed) - 200 / box.width) < 0.01);

  await page.keyboard.press("t");
  await seen(page);
  const place = await page.evaluate(() => {
    const app = window.lookback as Inspector;
    const { thread, slice } = app.state()["trigger"] as { thread: number; slice: number };
    return app.locate(thread, slice);
  });
  assert.ok(place !== null);
  await page.mouse.move(place.x + place.width / 2, place.y + place.height * 1.5);
  await page.waitForSelector(".tooltip:not([hidden])");
  assert.match(await page.innerText(".tooltip"), /OrderBook\.append.*Took.*±1\.00 ms.*Own/s);
  assert.equal((await seen(page)).hovered, "com.acme.shop.orders.OrderBook.append");
  await page.mouse.click(place.x + place.width / 2, place.y + place.height * 1.5);
  assert.equal((await seen(page)).selected, "com.acme.shop.orders.OrderBook.append");
  const details = await page.innerText("#details");
  for (const part of [/OrderBook\.java:97/, /http-nio-8080-exec-1/, /Siblings/, /median/, /Callers, outermost first \(9\)/, /monitorEnter/]) assert.match(details, part);
  await shot(page, "tooltip");
  await page.close();
});

test("the overview moves the window and makes a new one", async () => {
  const page = await openReport(report, "overview");
  const box = await page.locator("#overview").boundingBox();
  assert.ok(box !== null);
  const [left, y] = [box.x + 100, box.y + 20];
  await page.keyboard.press("f");
  await seen(page);
  await page.mouse.move(left, y);
  await page.mouse.down();
  await page.mouse.move(left + 200, y, { steps: 4 });
  await page.mouse.up();
  const made = await seen(page);
  assert.ok(Math.abs(width(made) / (made.bounds.to - made.bounds.from) - 200 / box.width) < 0.005);
  await page.mouse.move(left + 100, y);
  await page.mouse.down();
  await page.mouse.move(left + 300, y, { steps: 4 });
  await page.mouse.up();
  const moved = await seen(page);
  assert.ok(Math.abs(width(moved) - width(made)) < 1 && moved.view.from > made.view.from);
  await page.close();
});

test("search counts, dims, steps and clears, by keyboard alone", async () => {
  const page = await openReport(report, "search");
  await page.keyboard.press("/");
  await page.keyboard.type("*Journal.*");
  const s = await seen(page);
  assert.equal(s.foundMethods, 2);
  const expected = report.threads.reduce((n, t) => n + t.method.filter((m) => m === methodIndex("journal") || m === methodIndex("flush")).length, 0);
  assert.equal(s.foundCalls, expected);
  await page.keyboard.press("Enter");
  const first = await seen(page);
  assert.match(first.selected ?? "", /Journal/);
  await page.keyboard.press("Enter");
  const second = await seen(page);
  assert.equal(second.foundRank, first.foundRank + 1);
  await page.keyboard.press("Shift+Enter");
  assert.deepEqual((await seen(page)).selectedRef, first.selectedRef);
  assert.match(await page.innerText("#search-status"), new RegExp(`^${first.foundRank} of ${expected} calls, 2 methods$`));
  await shot(page, "search");
  await page.keyboard.press("Escape");
  assert.equal((await seen(page)).query, "");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("nothing like it");
  assert.equal(await page.innerText("#search-status"), "no match");
  await page.close();
});

test("the flame graph follows the visible time, zooms by keys and turns round", async () => {
  const page = await openReport(report, "flame");
  await page.keyboard.press("f");
  await seen(page);
  await page.keyboard.press("2");
  const whole = await seen(page);
  assert.equal(whole.tab, "flame");
  assert.ok(whole.flame.nodes > 20);
  await page.locator("#flame").focus();
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  assert.equal((await seen(page)).flame.focus, "org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run");
  assert.match(await page.innerText(".crumbs"), /all › Thread\.run › TaskThread/);
  await shot(page, "flame");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.equal((await seen(page)).flame.focus, "all");
  await page.check("#flame-reversed");
  await page.locator("#flame").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal((await seen(page)).flame.selected, "jdk.internal.misc.Unsafe.park");
  await page.uncheck("#flame-reversed");
  await page.locator("#flame").focus();
  await page.keyboard.press("ArrowDown");
  const selected = (await seen(page)).flame.selected;
  assert.notEqual(selected, "all");
  await page.locator("#chart").focus();
  await page.keyboard.press("t");
  await page.waitForFunction((n) => (window.lookback?.state()["flame"] as { nodes: number }).nodes < n, whole.flame.nodes);
  assert.equal((await seen(page)).flame.selected, selected, "another time, the same call");
  await page.close();
});

test("the methods table sorts, filters and leads to calls", async () => {
  const page = await openReport(report, "methods");
  await page.keyboard.press("3");
  const rows = page.locator("#methods tbody tr");
  assert.match(await rows.first().innerText(), /Unsafe\.park/);
  await page.click("#methods th:nth-child(2) button");
  const counts = await page.locator("#methods tbody tr td:nth-child(2)").allInnerTexts();
  const numbers = counts.map((c) => Number(c.replaceAll(",", "")));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  assert.equal(await page.getAttribute("#methods th:nth-child(2)", "aria-sort"), "descending");
  await shot(page, "methods");
  await page.click("#methods .link >> text=PriceEngine.quote");
  const s = await seen(page);
  assert.equal(s.query, "\"com.acme.shop.pricing.PriceEngine.quote\"");
  assert.equal(s.selected, "com.acme.shop.pricing.PriceEngine.quote");
  assert.equal(await rows.count(), 1);
  assert.match(await page.innerText("#methods-note"), /1 method matches the search/);
  await page.close();
});

test("names from the report stay text", async () => {
  const page = await openReport(report, "hostile");
  const thread = report.threads.findIndex((t) => t.name.startsWith("<b>"));
  assert.ok(thread > 0);
  await page.keyboard.press("/");
  await page.keyboard.type("<script>");
  await page.keyboard.press("Enter");
  assert.equal((await seen(page)).selectedRef?.thread, thread);
  assert.match(await page.innerText("#details h2"), /com\.acme\.<script>alert\(1\)<\/script>\."><img src=x onerror=alert\(1\)>/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  assert.equal(await page.locator("#app img, #app script, #app b:text('not markup')").count(), 0);
  assert.match((await page.textContent(".names")) ?? "", /<b>not markup<\/b> & "quotes"/);
  await page.close();
});

test("the policy lets no other script run", async () => {
  const page = await openReport(report, "policy");
  const known = browser.errors.length;
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.intruder = 1";
    document.body.append(script);
    return "intruder" in window;
  });
  assert.equal(ran, false);
  await page.close();
  // The browser reports the refusal as an error, which here is the proof.
  assert.match(browser.errors.splice(known).join(), /Content Security Policy/);
});

test("the theme follows the system and can be switched", async () => {
  const page = await openReport(report, "theme");
  assert.equal((await seen(page)).theme, "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => window.lookback?.state()["theme"] === "dark");
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await shot(page, "report-dark");
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal((await seen(page)).theme, "light", "paper is white");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal((await seen(page)).theme, "dark");
  await page.click("text=Theme");
  assert.equal((await seen(page)).theme, "light");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  await page.evaluate(() => localStorage.clear());
  await page.close();
});

test("help opens and closes by key, and the finding is copied as text", async () => {
  const page = await openReport(report, "help");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  const before = await seen(page);
  await page.keyboard.press("w");
  assert.deepEqual((await seen(page)).view, before.view, "keys rest while the help is open");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog:not([open])", { state: "attached" });
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: (t: string) => { document.title = t.slice(0, 80); return Promise.resolve(); } } });
  });
  await page.keyboard.press("c");
  await page.waitForSelector(".toast.shown");
  assert.match(await page.title(), /^OrderApi\.place slower than 300 ms\s+OrderApi\.place took/);
  await page.close();
});

test("a report without trigger, losses or calls opens and says so", async () => {
  const clean = { ...incident({ slices: 2000, threads: 4, clean: true }), trigger: null, chain: [], summary: [] };
  const page = await openReport(clean, "clean");
  assert.equal(await page.innerText("#verdict .headline"), "A recording made on request; nothing fired.");
  assert.match(await page.innerText("#losses"), /Nothing was lost\./);
  assert.match(await page.innerText("#panel-chain"), /no slow call to explain/);
  await page.close();
  const nothing = await openReport({ ...clean, threads: [], pauses: [] }, "nothing");
  for (const key of ["f", "w", "t", "z", "e", "o", "n", "2", "3", "Enter"]) await nothing.keyboard.press(key);
  assert.equal((await seen(nothing)).selected, null);
  await nothing.close();
});

test("half a million calls open and draw within a frame's time", async () => {
  const big = incident({ slices: 545_000, threads: 24 });
  const page = await openReport(big, "big");
  const s = await page.evaluate(() => window.lookback?.state() ?? {});
  assert.ok((s["calls"] as number) >= 490_000, String(s["calls"]));
  const median = await page.evaluate(() => {
    const app = window.lookback as Inspector;
    const { from, to } = app.state()["bounds"] as { from: number; to: number };
    const costs: number[] = [];
    for (let i = 0; i < 31; i++) {
      app.show(from + ((to - from) * i) / 100, to - ((to - from) * i) / 90);
      costs.push(app.drawNow());
    }
    return costs.sort((a, b) => a - b)[15];
  });
  // A few milliseconds on an idle machine; the bound only catches work that grows with the calls.
  assert.ok(median < 100, `${median} ms`);
  await shot(page, "big");
  await page.close();
});

test("no page asked for anything or reported an error", () => {
  assert.deepEqual(browser.requests, []);
  assert.deepEqual(browser.errors, []);
});
