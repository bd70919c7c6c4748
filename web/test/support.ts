// Small reports for the unit tests, written as call trees.
import type { ReportData, ThreadData } from "../src/data/schema.ts";
import { buildModel, type Model } from "../src/model/model.ts";

/** Method, start, duration, then the calls made from it; flags in `f`. */
export interface Call {
  readonly m: number;
  readonly s: number;
  readonly d: number;
  readonly f?: number;
  readonly c?: readonly Call[];
}

export function thread(name: string, calls: readonly Call[], more: Partial<ThreadData> = {}): ThreadData {
  const start: number[] = [];
  const dur: number[] = [];
  const method: number[] = [];
  const depth: number[] = [];
  const flags: number[] = [];
  let last = 0;
  const visit = (call: Call, d: number): void => {
    start.push(call.s - last);
    last = call.s;
    dur.push(call.d);
    method.push(call.m);
    depth.push(d);
    flags.push(call.f ?? 0);
    for (const c of call.c ?? []) visit(c, d + 1);
  };
  for (const c of calls) visit(c, 0);
  return { name, id: name, kind: "java", start, dur, method, depth, flags, err: dur.map(() => 0), gaps: [], ...more };
}

export const METHODS: ReportData["methods"] = [
  ["com.acme.A", "run", "A.java", 1],
  ["com.acme.A", "step", "A.java", 2],
  ["com.acme.db.Db", "query", "Db.java", 0],
  ["jdk.internal.misc.Unsafe", "park", null, 0],
];

export function report(threads: readonly ThreadData[], more: Partial<ReportData> = {}): ReportData {
  return {
    schema: 1, title: "t", created: "2026-01-01T00:00:00Z", program: "p", jvm: "j", host: "h", base_unix_ns: "1767225600000000000",
    tick_ns: 1_000_000, span: [0, 1000], trigger: null, summary: [], methods: METHODS, threads, pauses: [], chain: [], losses: {}, hidden: null,
    ...more,
  };
}

export function model(threads: readonly ThreadData[], more: Partial<ReportData> = {}): Model {
  return buildModel(report(threads, more));
}

/** A tree of runs and steps with recursion: run [0, 100) makes step [10, 60), which makes step and park. */
export const NESTED = thread("worker", [
  { m: 0, s: 0, d: 100, c: [
    { m: 1, s: 10, d: 50, c: [{ m: 1, s: 20, d: 20 }, { m: 3, s: 45, d: 10, f: 16 }] },
    { m: 2, s: 70, d: 20 },
  ] },
  { m: 0, s: 200, d: 40 },
]);
