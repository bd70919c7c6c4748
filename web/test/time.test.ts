// Units, axis marks and the movement of the visible time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { niceStep, ticks } from "../src/time/ticks.ts";
import { duration, offset, percent, plural, utcDate, wallClock } from "../src/time/units.ts";
import { around, between, clampRange, MIN_WIDTH, panBy, sameOnScreen, zoomAround } from "../src/time/viewport.ts";

test("durations have three digits and the right unit", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0 ns"], [7, "7 ns"], [999, "999 ns"], [1000, "1.00 µs"], [1234, "1.23 µs"], [12_345, "12.3 µs"], [123_456, "123 µs"],
    [999_499, "999 µs"], [999_999, "1.00 ms"], [407e6, "407 ms"], [2.4e9, "2.40 s"], [99.96e9, "100 s"], [-1500, "-1.50 µs"],
  ];
  for (const [ns, text] of cases) assert.equal(duration(ns), text);
});

test("points in time have the digits that were asked for", () => {
  assert.equal(offset(1.1877e9, 1e5), "1.1877 s");
  assert.equal(offset(0, 5e8, 2e9), "0.0 s");
  assert.equal(offset(250_000, 1000), "250 µs");
  assert.equal(offset(-3e6, 1e6), "-3 ms");
});

test("the wall clock wraps at midnight and takes times before the base", () => {
  const midnight = 1767225600000000000n;
  assert.equal(wallClock(midnight, 0), "00:00:00.000000");
  assert.equal(wallClock(midnight, 3_723_000_004_000), "01:02:03.000004");
  assert.equal(wallClock(midnight, -1000), "23:59:59.999999");
  assert.equal(utcDate(midnight, 0), "2026-01-01");
  assert.equal(utcDate(midnight, -1000), "2025-12-31");
  assert.equal(utcDate(10n ** 25n, 0), "");
});

test("counts and shares read as words", () => {
  assert.equal(plural(1, "call"), "1 call");
  assert.equal(plural(12_345, "call"), "12,345 calls");
  assert.equal(percent(1, 3000), "<0.1 %");
  assert.equal(percent(1, 8), "12.5 %");
  assert.equal(percent(5, 5), "100 %");
  assert.equal(percent(1, 0), "0 %");
});

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.deepEqual([1, 1.1, 3, 5, 5.1, 70, 1e6, 1.2e6].map(niceStep), [1, 2, 5, 5, 10, 100, 1e6, 2e6]);
});

test("marks lie in view, evenly, and share one unit", () => {
  const t = ticks(0, 2.4e9, 10);
  assert.ok(t.marks.length >= 5 && t.marks.length <= 12);
  assert.equal(t.marks[0].label, "0.0 s");
  assert.ok(t.marks.every(({ at, label }) => at >= 0 && at <= 2.4e9 && label.endsWith(" s")));
  assert.equal(t.anchor, null);
});

test("far in, marks are relative to an anchor before the view", () => {
  const t = ticks(2.345678e9, 2.345678e9 + 800, 8);
  assert.ok(t.anchor !== null && t.anchor <= 2.345678e9 && 2.345678e9 - t.anchor < t.step * 100);
  assert.ok(t.marks.length > 2 && t.marks.every(({ label }) => label.startsWith("+")));
  assert.equal(new Set(t.marks.map((m) => m.label)).size, t.marks.length);
});

const bounds = { from: 0, to: 1000 };

test("the view stays within the recording and above its least width", () => {
  assert.deepEqual(clampRange({ from: -50, to: 150 }, bounds), { from: 0, to: 200 });
  assert.deepEqual(clampRange({ from: 900, to: 1100 }, bounds), { from: 800, to: 1000 });
  assert.deepEqual(clampRange({ from: -1, to: 2000 }, bounds), bounds);
  const thin = clampRange({ from: 500, to: 501 }, bounds);
  assert.equal(thin.to - thin.from, MIN_WIDTH);
  assert.ok(thin.from < 500 && thin.to > 501);
});

test("zooming leaves what is under the pointer where it is", () => {
  const z = zoomAround({ from: 200, to: 600 }, 300, 0.5, bounds);
  assert.deepEqual(z, { from: 250, to: 450 });
  const least = zoomAround(z, 300, 1e-9, bounds);
  assert.ok(Math.abs(least.to - least.from - MIN_WIDTH) < 1e-6);
  assert.deepEqual(panBy({ from: 100, to: 200 }, 0.5, bounds), { from: 150, to: 250 });
  assert.deepEqual(around(400, 600, 0.5, bounds), { from: 300, to: 700 });
});

test("a movement begins and ends where it should", () => {
  const a = { from: 0, to: 1000 };
  const b = { from: 100, to: 110 };
  const close = (x: { from: number; to: number }, y: { from: number; to: number }): void => {
    assert.ok(Math.abs(x.from - y.from) < 1e-6 && Math.abs(x.to - y.to) < 1e-6);
  };
  close(between(a, b, 0), a);
  close(between(a, b, 1), b);
  close(between(a, { from: 500, to: 1500 }, 0.5), { from: 250, to: 1250 });
  assert.ok(sameOnScreen(b, { from: 100.001, to: 110.001 }, 1000));
  assert.ok(!sameOnScreen(a, b, 1000));
});
