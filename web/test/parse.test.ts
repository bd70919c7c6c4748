// What the page accepts, and how it says no.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { embeddedData, inflateBase64, jsonOfFile } from "../src/data/inflate.ts";
import { checkReport, parseReport, ReportError } from "../src/data/parse.ts";
import { buildTrack } from "../src/model/track.ts";
import { encode, fill, incident } from "./fixture.ts";
import { NESTED, report, thread } from "./support.ts";

const refused = (value: unknown, why: RegExp): void => {
  assert.throws(() => checkReport(value), (e: unknown) => e instanceof ReportError && why.test(e.message));
};

test("methods that were not traced are names", () => {
  const made = report([NESTED]);
  assert.deepEqual(checkReport({ ...made, dropped: ["com.acme.A.hot"] }).dropped, ["com.acme.A.hot"]);
  assert.equal(checkReport(made).dropped, undefined);
  refused({ ...made, dropped: [7] }, /dropped\[0\]/);
});

test("a generated incident is accepted, and unknown fields are ignored", () => {
  const made = incident();
  assert.equal(checkReport({ ...made, later: 1 }).threads.length, made.threads.length);
});

test("samples are checked before anything is counted by them", () => {
  const made = report([NESTED]);
  const samples = { how: "Samples", each: 10, only: false, parent: [0, 0, 1], frame: [0, 0, 1], at: [-5, 3], thread: [0, 0], context: [1, 2], activity: [0, 1] };
  assert.deepEqual(checkReport({ ...made, samples }).samples, samples);
  for (const [change, why] of [
    [{ parent: [0, 0, 2] }, /samples parent/], [{ parent: [] }, /samples frame/], [{ frame: [0, 0, 99] }, /samples frame/],
    [{ at: [0, -1] }, /samples at/], [{ thread: [0, 7] }, /samples thread/], [{ context: [0, 3] }, /samples context/],
    [{ activity: [0, 3] }, /samples activity/], [{ context: [0] }, /samples context/], [{ each: -1 }, /samples each/],
  ] as const) refused({ ...made, samples: { ...samples, ...change } }, why);
});

test("base64 of raw deflate comes back as the text that went in", async () => {
  const made = report([NESTED]);
  assert.deepEqual(parseReport(await inflateBase64(encode(made))), made);
});

test("text beyond ASCII survives the way through the page", async () => {
  const packed = deflateRawSync(Buffer.from("{\"näme\":\"度 ✓\"}", "utf8")).toString("base64");
  assert.equal(await inflateBase64(`\n ${packed} \n`), "{\"näme\":\"度 ✓\"}");
});

test("field values of native programs are found by number, and a number without a text is refused", () => {
  const made = report([NESTED]);
  const count = made.threads[0].start.length;
  const numbers = Array.from({ length: count }, (_, i) => (i === 0 ? 1 : 0));
  const native = { ...made, values: ["bytes=7"], threads: [{ ...made.threads[0], values: numbers }] };
  assert.equal(buildTrack(checkReport(native).threads[0], 0).values?.[0], 1);
  assert.equal(buildTrack(made.threads[0], 0).values, null);
  refused({ ...native, values: [] }, /values/);
  refused({ ...native, values: [7] }, /values/);
});

test("an unfilled template has no data", () => {
  assert.equal(embeddedData(" @" + "@LOOKBACK_DATA@@ "), null);
  assert.equal(embeddedData("  "), null);
  assert.equal(embeddedData(" abc "), "abc");
});

test("damaged data is refused in words", async () => {
  await assert.rejects(inflateBase64("***"), /not base64/);
  await assert.rejects(inflateBase64(Buffer.from("not deflate at all").toString("base64")), /does not inflate/);
  assert.throws(() => parseReport("{"), /not JSON/);
  refused([], /not an object/);
  refused({ schema: 2 }, /schema 1, but the data says 2/);
});

test("numbers that would be indices or sizes are checked", () => {
  refused(report([{ ...NESTED, method: NESTED.method.map(() => 4) }]), /method holds a value out of range at slice 0/);
  refused(report([{ ...NESTED, depth: NESTED.depth.map(() => 1e9) }]), /depth holds a value out of range/);
  refused(report([{ ...NESTED, dur: NESTED.dur.slice(1) }]), /dur has 5 values for 6 slices/);
  refused(report([{ ...NESTED, dur: NESTED.dur.map(() => -1) }]), /dur holds a value out of range/);
  refused(report([{ ...NESTED, start: NESTED.start.map((s) => -s) }]), /goes back in time/);
  refused(report([{ ...NESTED, err: NESTED.err.map(() => NaN) }]), /err holds/);
  refused(report([], { span: [5, 1] }), /ends before it begins/);
  refused(report([], { base_unix_ns: "1e9" }), /not a decimal number/);
  refused(report([NESTED], { trigger: { at: 0, rule: "", thread: 1, method: 0, start: 0, duration: 0, running: false } }), /trigger thread is not within/);
  refused(report([NESTED], { chain: [{ method: 9, start: 0, total: 0, self: 0, wait: null, depth: 0 }] }), /chain\[0\] method/);
  refused(report([], { losses: { overwritten: 1.5 } }), /losses of cause overwritten/);
});

test("a dropped file may be JSON or a report page", async () => {
  const made = report([thread("t", [{ m: 0, s: 1, d: 2 }])]);
  assert.deepEqual(parseReport(await jsonOfFile(JSON.stringify(made))), made);
  const template = "<html><script type=\"application/octet-stream\" id=\"lookback-data\">@" + "@LOOKBACK_DATA@@</script></html>";
  assert.deepEqual(parseReport(await jsonOfFile(fill(template, made))), made);
  await assert.rejects(jsonOfFile(template), /carries no data/);
  await assert.rejects(jsonOfFile("<p>hello</p>"), /neither/);
});
