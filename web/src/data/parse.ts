// Turns untrusted JSON into `ReportData`, or says in words what is wrong with it.
//
// A report is a file that somebody sent: its numbers become array sizes and indices, so every index is
// checked once here and the rest of the page may rely on it. Checks are by whole arrays and keep no copy,
// because half a million slices pass through. Unknown fields are ignored, so newer writers stay readable.
import { ACTIVITY, type ReportData } from "./schema.ts";

/** What is wrong with a report; `message` is a sentence for the reader of the page. */
export class ReportError extends Error {
  override name = "ReportError";
}

/** Deeper calls than this are not drawn by anyone; a larger number is damage, and would cost a row each. */
const MAX_DEPTH = 20_000;
/** 2^53: beyond it a JSON number is no longer an exact integer. */
const MAX_NANOS = Number.MAX_SAFE_INTEGER;

type Json = Record<string, unknown>;

export function parseReport(text: string): ReportData {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ReportError(`The report's data is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return checkReport(value);
}

export function checkReport(value: unknown): ReportData {
  const report = object(value, "the report");
  if (report["schema"] !== 1) {
    throw new ReportError(
      `This page reads reports of schema 1, but the data says ${JSON.stringify(report["schema"]) ?? "nothing"}. Open it with the page of the Lookback version that wrote it.`,
    );
  }
  for (const key of ["title", "created", "program", "jvm", "host", "base_unix_ns"]) string(report[key], key);
  if (!/^-?\d{1,25}$/.test(report["base_unix_ns"] as string)) fail("base_unix_ns", "is not a decimal number");
  nanos(report["tick_ns"], "tick_ns");
  const span = array(report["span"], "span");
  if (span.length !== 2) fail("span", "does not have two ends");
  nanos(span[0], "span[0]");
  nanos(span[1], "span[1]");
  if ((span[1] as number) < (span[0] as number)) fail("span", "ends before it begins");
  array(report["summary"], "summary").forEach((s, i) => string(s, `summary[${i}]`));

  const methods = array(report["methods"], "methods");
  methods.forEach((m, i) => {
    const entry = array(m, `methods[${i}]`);
    string(entry[0], `methods[${i}] class`);
    string(entry[1], `methods[${i}] name`);
    if (entry[2] !== null) string(entry[2], `methods[${i}] source file`);
    nanos(entry[3], `methods[${i}] line`);
  });

  const threads = array(report["threads"], "threads");
  const values = report["values"] === undefined ? [] : array(report["values"], "values");
  values.forEach((v, i) => string(v, `values[${i}]`));
  threads.forEach((t, i) => checkThread(object(t, `threads[${i}]`), i, methods.length, values.length));

  array(report["pauses"], "pauses").forEach((p, i) => {
    const pause = array(p, `pauses[${i}]`);
    nanos(pause[0], `pauses[${i}] start`);
    length(pause[1], `pauses[${i}] duration`);
    string(pause[2], `pauses[${i}] name`);
  });
  array(report["chain"], "chain").forEach((c, i) => {
    const link = object(c, `chain[${i}]`);
    index(link["method"], methods.length, `chain[${i}] method`);
    nanos(link["start"], `chain[${i}] start`);
    length(link["total"], `chain[${i}] total`);
    length(link["self"], `chain[${i}] self`);
    if (link["wait"] !== null) string(link["wait"], `chain[${i}] wait`);
    index(link["depth"], MAX_DEPTH, `chain[${i}] depth`);
  });
  const losses = object(report["losses"], "losses");
  for (const cause of Object.keys(losses)) length(losses[cause], `losses of cause ${cause}`);
  if (report["dropped"] !== undefined) {
    array(report["dropped"], "dropped").forEach((name, i) => string(name, `dropped[${i}]`));
  }
  if (report["waiting_classes"] !== undefined) length(report["waiting_classes"], "waiting_classes");
  if (report["costs"] !== undefined) string(report["costs"], "costs");
  if (report["samples"] !== undefined) checkSamples(object(report["samples"], "samples"), threads.length, methods.length);
  if (report["hidden"] !== null) {
    const hidden = object(report["hidden"], "hidden");
    length(hidden["slices"], "hidden slices");
    string(hidden["reason"], "hidden reason");
  }
  if (report["trigger"] !== null) {
    const trigger = object(report["trigger"], "trigger");
    nanos(trigger["at"], "trigger at");
    nanos(trigger["start"], "trigger start");
    length(trigger["duration"], "trigger duration");
    string(trigger["rule"], "trigger rule");
    index(trigger["thread"], threads.length, "trigger thread");
    index(trigger["method"], methods.length, "trigger method");
    if (typeof trigger["running"] !== "boolean") fail("trigger running", "is neither true nor false");
  }
  return report as unknown as ReportData;
}

function checkThread(thread: Json, at: number, methods: number, values: number): void {
  const what = `threads[${at}]`;
  string(thread["name"], `${what} name`);
  string(thread["id"], `${what} id`);
  if (thread["kind"] !== "java" && thread["kind"] !== "gc") fail(`${what} kind`, "is neither java nor gc");
  const starts = array(thread["start"], `${what} start`);
  const count = starts.length;
  // Only the first start is a place in time; the others are steps forward.
  integers(starts, `${what} start`, -MAX_NANOS, MAX_NANOS);
  for (let i = 1; i < count; i++) if ((starts[i] as number) < 0) fail(`${what} start`, `goes back in time at slice ${i}`);
  const columns: [string, number][] = [
    ["dur", MAX_NANOS],
    ["method", methods - 1],
    ["depth", MAX_DEPTH],
    ["flags", 255],
    ["err", MAX_NANOS],
  ];
  if (thread["values"] !== undefined) columns.push(["values", values]);
  for (const [name, max] of columns) {
    const column = array(thread[name], `${what} ${name}`);
    if (column.length !== count) fail(`${what} ${name}`, `has ${column.length} values for ${count} slices`);
    integers(column, `${what} ${name}`, 0, max);
  }
  array(thread["gaps"], `${what} gaps`).forEach((g, i) => {
    const gap = array(g, `${what} gaps[${i}]`);
    nanos(gap[0], `${what} gaps[${i}] from`);
    nanos(gap[1], `${what} gaps[${i}] to`);
    length(gap[2], `${what} gaps[${i}] records`);
    string(gap[3], `${what} gaps[${i}] cause`);
  });
}

function checkSamples(samples: Json, threads: number, methods: number): void {
  string(samples["how"], "samples how");
  length(samples["each"], "samples each");
  if (typeof samples["only"] !== "boolean") fail("samples only", "is neither true nor false");
  const parents = array(samples["parent"], "samples parent");
  const frames = array(samples["frame"], "samples frame");
  if (parents.length === 0 || frames.length !== parents.length) fail("samples frame", `has ${frames.length} values for ${parents.length} contexts`);
  integers(parents, "samples parent", 0, parents.length - 1);
  for (let i = 1; i < parents.length; i++) if ((parents[i] as number) >= i) fail("samples parent", `does not stand before context ${i}`);
  integers(frames.slice(1), "samples frame", 0, methods - 1);
  const at = array(samples["at"], "samples at");
  integers(at.slice(0, 1), "samples at", -MAX_NANOS, MAX_NANOS);
  integers(at.slice(1), "samples at", 0, MAX_NANOS);
  const columns: [string, number][] = [["thread", threads - 1], ["context", parents.length - 1], ["activity", ACTIVITY.length - 1]];
  for (const [name, max] of columns) {
    const column = array(samples[name], `samples ${name}`);
    if (column.length !== at.length) fail(`samples ${name}`, `has ${column.length} values for ${at.length} samples`);
    integers(column, `samples ${name}`, 0, max);
  }
}

function fail(what: string, how: string): never {
  throw new ReportError(`The report's data is damaged: ${what} ${how}.`);
}

function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(what, "is not an object");
  return value as Json;
}

function array(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) fail(what, "is not a list");
  return value as readonly unknown[];
}

function string(value: unknown, what: string): void {
  if (typeof value !== "string") fail(what, "is not text");
}

function nanos(value: unknown, what: string): void {
  if (!Number.isSafeInteger(value)) fail(what, "is not a whole number");
}

function length(value: unknown, what: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) fail(what, "is not a whole number of zero or more");
}

function index(value: unknown, count: number, what: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) >= count) {
    fail(what, `is not within 0 to ${count - 1}`);
  }
}

function integers(values: readonly unknown[], what: string, min: number, max: number): void {
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (!Number.isSafeInteger(v) || (v as number) < min || (v as number) > max) {
      fail(what, `holds a value out of range at slice ${i}`);
    }
  }
}
