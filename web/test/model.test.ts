// Nesting, own times, lanes, merged trees and method tables on trees small enough to check by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activity } from "../src/model/activity.ts";
import { callTree, matchedTime, pathTo, reversed } from "../src/model/calltree.ts";
import { countCalls, nextCall, rankOf } from "../src/model/find.ts";
import { firstAbove, gallopTo, laneAt } from "../src/model/lanes.ts";
import { findCall, triggerCall } from "../src/model/model.ts";
import { distribution, histogramBin, HISTOGRAM_BINS, methodTable } from "../src/model/stats.ts";
import { buildTrack, callees, callers, siblings } from "../src/model/track.ts";
import { decodeSamples, sampleTree, type Wanted } from "../src/model/samples.ts";
import { FLAG, type SamplesData } from "../src/data/schema.ts";
import { incident, random } from "./fixture.ts";
import { model, NESTED, thread } from "./support.ts";

const names = (list: Int32Array | Float64Array): number[] => [...list];

test("parents and own times follow from call order and depth", () => {
  const t = buildTrack(NESTED, 0);
  assert.deepEqual(names(t.start), [0, 10, 20, 45, 70, 200]);
  assert.deepEqual(names(t.parent), [-1, 0, 1, 1, 0, -1]);
  assert.deepEqual(names(t.self), [30, 20, 20, 10, 20, 40]);
  assert.deepEqual(callers(t, 2), [0, 1]);
  assert.deepEqual(callees(t, 1), [2, 3]);
  assert.equal(siblings(t, 4), 2);
  assert.equal(siblings(t, 5), 2);
  assert.equal(t.busy, 130);
  assert.equal(t.waiting, 10);
});

test("calls that start together and were written inside out are put right", () => {
  const t = buildTrack({ ...NESTED, start: [5, 0, 0, 20], dur: [8, 10, 30, 1], depth: [2, 1, 0, 1], method: [2, 1, 0, 1], flags: [0, 0, 0, 0], err: [3, 2, 1, 0] }, 0);
  assert.deepEqual([...t.depth], [0, 1, 2, 1]);
  assert.deepEqual([...t.method], [0, 1, 2, 1]);
  assert.deepEqual(names(t.err), [1, 2, 3, 0]);
  assert.deepEqual(names(t.start), [5, 5, 5, 25]);
  assert.deepEqual(names(t.parent), [-1, 0, 1, 0]);
});

test("short calls that start together keep their order", () => {
  const t = buildTrack(thread("t", [{ m: 0, s: 0, d: 50, c: [{ m: 1, s: 5, d: 0, c: [{ m: 2, s: 5, d: 0 }] }, { m: 1, s: 5, d: 10 }] }]), 0);
  assert.deepEqual(names(t.parent), [-1, 0, 1, 0]);
});

test("a call whose caller was left out hangs under the nearest one that covers it", () => {
  const t = buildTrack({ ...NESTED, start: [0, 10, 40], dur: [100, 20, 5], depth: [0, 3, 5], method: [0, 1, 2], flags: [0, 0, 0], err: [0, 0, 0] }, 0);
  assert.deepEqual(names(t.parent), [-1, 0, 0]);
  assert.deepEqual(names(t.self), [75, 20, 5]);
});

test("lanes are sorted, free of overlaps and sum up what they cover", () => {
  const { lanes } = buildTrack(NESTED, 0);
  assert.equal(lanes.count, 3);
  assert.deepEqual([...lanes.first], [0, 2, 4, 6]);
  assert.deepEqual([...lanes.slice], [0, 5, 1, 4, 2, 3]);
  assert.equal(lanes.covered[6] - lanes.covered[4], 30);
  const overlapping = buildTrack({ ...NESTED, start: [0, 10], dur: [15, 5], depth: [0, 0], method: [0, 0], flags: [0, 0], err: [0, 0] }, 0);
  assert.deepEqual([...overlapping.lanes.end], [10, 15]);
});

test("a point finds the call under it, or one nearby", () => {
  const { lanes } = buildTrack(NESTED, 0);
  assert.equal(lanes.slice[laneAt(lanes, 1, 30, 0)], 1);
  assert.equal(laneAt(lanes, 1, 65, 4), -1);
  assert.equal(lanes.slice[laneAt(lanes, 1, 65, 5)], 1);
  assert.equal(lanes.slice[laneAt(lanes, 1, 68, 5)], 4);
  assert.equal(laneAt(lanes, 7, 30, 100), -1);
});

test("both searches agree with a plain scan", () => {
  const r = random(3);
  const values = Float64Array.from({ length: 300 }, () => Math.floor(r() * 200)).sort();
  for (let limit = -1; limit <= 201; limit++) {
    const above = values.findIndex((v) => v > limit);
    assert.equal(firstAbove(values, 0, 300, limit), above < 0 ? 300 : above);
    const atLeast = values.findIndex((v) => v >= limit);
    for (const lo of [0, 7, 120]) assert.equal(gallopTo(values, lo, 300, limit), Math.max(lo, atLeast < 0 ? 300 : atLeast));
  }
});

test("the table counts recursion once and clips to the range", () => {
  const m = model([NESTED]);
  const rows = new Map(methodTable(m, m.tracks, null).map((r) => [r.method, r]));
  assert.deepEqual(rows.get(1), { method: 1, calls: 2, total: 50, self: 40, max: 50, mean: 35, wait: false });
  assert.equal(rows.get(0)?.total, 140);
  assert.equal(rows.get(3)?.wait, true);
  const part = new Map(methodTable(m, m.tracks, { from: 50, to: 75 }).map((r) => [r.method, r]));
  assert.equal(part.get(0)?.total, 25);
  assert.equal(part.get(0)?.calls, 1);
  assert.equal(part.get(1)?.total, 10);
  assert.equal(part.get(3)?.self, 5);
  assert.equal(part.get(2)?.self, 5);
});

test("one method's distribution has the median of an even and an odd count", () => {
  const m = model([NESTED]);
  assert.deepEqual({ ...distribution(m, 1), histogram: null }, { calls: 2, median: 35, max: 50, total: 70, cut: 0, histogram: null, histogramFrom: 20, histogramTo: 50 });
  assert.equal(distribution(m, 2).median, 20);
  assert.equal(distribution(m, 1).histogram.reduce((a, b) => a + b, 0), 2);
  assert.equal(histogramBin(50, 20, 50), HISTOGRAM_BINS - 1);
  assert.equal(histogramBin(20, 20, 50), 0);
  const cut = model([thread("t", [{ m: 0, s: 0, d: 9, f: FLAG.cutEnd }])]);
  assert.equal(distribution(cut, 0).cut, 1);
});

test("the merged tree keeps every nanosecond, forward and reversed", () => {
  const m = model([NESTED, NESTED]);
  const tree = callTree(m.tracks, m.names.length, null);
  assert.equal(tree.total[0], 280);
  assert.equal(tree.size, 6);
  const run = tree.children[0][0];
  assert.equal(tree.calls[run], 4);
  assert.equal(tree.self[run], 140);
  assert.equal(tree.self.reduce((a, b) => a + b, 0), 280);
  const step = tree.children[run][0];
  assert.deepEqual(pathTo(tree, step).map((n) => tree.method[n]), [0, 1]);
  const back = reversed(tree, m.names.length);
  assert.equal(back.total[0], 280);
  assert.equal(back.children[0].reduce((sum, n) => sum + back.total[n], 0), 280);
  const park = back.children[0].find((n) => back.method[n] === 3) ?? -1;
  assert.equal(back.total[park], 20);
  assert.equal(back.wait[park], true);
  assert.equal(back.method[back.children[park][0]], 1);
});

test("matched time counts nested matches once", () => {
  const m = model([NESTED]);
  const tree = callTree(m.tracks, m.names.length, null);
  assert.equal(matchedTime(tree, Uint8Array.from([0, 1, 1, 0])), 70);
  assert.equal(matchedTime(tree, Uint8Array.from([1, 1, 1, 1])), 140);
});

test("the merged tree of a range counts only what lies in it", () => {
  const m = model([NESTED]);
  const tree = callTree(m.tracks, m.names.length, { from: 65, to: 210 });
  assert.equal(tree.total[0], 45);
  const run = tree.children[0][0];
  assert.deepEqual(tree.children[run].map((n) => tree.method[n]), [2]);
});

test("matches are walked over threads in time order and go round", () => {
  const m = model([NESTED, thread("b", [{ m: 1, s: 15, d: 1 }])]);
  const mask = Uint8Array.from([0, 1, 0, 0]);
  assert.equal(countCalls(m, mask), 3);
  const order: (readonly [number, number])[] = [];
  let at = nextCall(m, mask, null, true);
  for (let i = 0; i < 4 && at !== null; i++) {
    order.push([at.call.thread, at.rank]);
    at = nextCall(m, mask, at.call, true);
  }
  assert.deepEqual(order, [[0, 1], [1, 2], [0, 3], [0, 1]]);
  assert.deepEqual(nextCall(m, mask, { thread: 1, slice: 0 }, false)?.call, { thread: 0, slice: 1 });
  assert.equal(nextCall(m, Uint8Array.from([0, 0, 0, 0]), null, true), null);
  assert.equal(rankOf(m, mask, { thread: 0, slice: 5 }), 4);
});

test("threads come as the reader needs them: the trigger's first, then by busy time, collectors last", () => {
  const idle = thread("idle", [{ m: 3, s: 0, d: 900, f: FLAG.wait }]);
  const gc = thread("gc", [{ m: 0, s: 0, d: 1000 }], { kind: "gc" });
  const trigger = { at: 60, rule: "r", thread: 1, method: 3, start: 0, duration: 900, running: true };
  assert.deepEqual(model([gc, idle, NESTED]).order, [2, 1, 0]);
  const m = model([gc, idle, NESTED], { trigger });
  assert.deepEqual(m.order, [1, 2, 0]);
  assert.deepEqual(triggerCall(m), { thread: 1, slice: 0 });
  assert.equal(findCall(m, 2, 3, 0)?.slice, 3);
  assert.equal(findCall(m, 1, 2, 0), null);
});

test("activity adds up to the time that passed, running and waiting apart", () => {
  const t = buildTrack(NESTED, 0);
  const a = activity([t], { from: 0, to: 1000 }, 100);
  const sum = (v: Float64Array): number => Math.round(v.reduce((x, y) => x + y, 0) * 10);
  assert.equal(sum(a.running), 130);
  assert.equal(sum(a.waiting), 10);
  assert.ok(a.peak <= 1);
});

test("the fixture's half of the contract holds: calls nest and times add up", () => {
  const made = incident({ slices: 4000, threads: 6 });
  for (const data of made.threads) {
    const t = buildTrack(data, 0);
    for (let i = 0; i < t.count; i++) {
      const p = t.parent[i];
      assert.equal(p < 0 ? 0 : t.depth[p] + 1, t.depth[i]);
      if (p >= 0) assert.ok(t.start[i] + t.dur[i] <= t.start[p] + t.dur[p]);
    }
  }
});

const SAMPLES: SamplesData = {
  how: "Samples", each: 10, only: true,
  // 1: outer, 2 and 3 within it, 4 within 3.
  parent: [0, 0, 1, 1, 3],
  frame: [0, 0, 1, 2, 1],
  at: [5, 10, 10, 10],
  thread: [0, 0, 1, 0],
  context: [2, 4, 4, 1],
  activity: [0, 0, 1, 2],
};

test("samples are merged by their callers, and count for the time that they stand for", () => {
  const samples = decodeSamples(SAMPLES);
  assert.ok(samples !== null);
  const all = sampleTree(samples, { thread: null, range: null, activities: null }, 3);
  assert.equal(all.total[0], 40);
  const outer = all.children[0][0];
  assert.deepEqual([all.method[outer], all.total[outer], all.self[outer]], [0, 40, 10]);
  const below = all.children[outer].map((n) => [all.method[n], all.total[n], all.calls[n]]);
  assert.deepEqual(below, [[2, 20, 0], [1, 10, 1]]);
});

test("samples are chosen by thread, time and what the thread did", () => {
  const samples = decodeSamples(SAMPLES);
  assert.ok(samples !== null);
  const total = (wanted: Partial<Wanted>): number => sampleTree(samples, { thread: null, range: null, activities: null, ...wanted }, 3).total[0];
  assert.equal(total({ thread: 1 }), 10);
  assert.equal(total({ range: { from: 15, to: 35 } }), 20);
  assert.equal(total({ activities: [0, 2] }), 30);
  assert.equal(total({ thread: 1, activities: [0] }), 0);
});
