// Names, search and the words for calls and losses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAG } from "../src/data/schema.ts";
import { durationWords, errorWords, flagWords, lossLine, reportText } from "../src/model/describe.ts";
import { globMatch, matchMethods, methodNames, waitKind } from "../src/model/methods.ts";
import { incident } from "./fixture.ts";
import { METHODS, report } from "./support.ts";

const names = methodNames(METHODS);
const found = (query: string): readonly number[] | undefined => matchMethods(names, query)?.methods;

test("a name is cut at its last dot", () => {
  assert.deepEqual(names[2], { full: "com.acme.db.Db.query", short: "Db.query", name: "query", pack: "com.acme.db", className: "com.acme.db.Db", source: "Db.java" });
  assert.equal(methodNames([["NoPackage", "m", "N.java", 3]])[0].pack, "");
  assert.equal(names[0].source, "A.java:1");
});

test("search takes substrings in any case, globs over the whole name, and exact names", () => {
  assert.equal(matchMethods(names, "  "), null);
  assert.deepEqual(found("acme.A"), [0, 1]);
  assert.deepEqual(found("com.acme.?.*"), [0, 1]);
  assert.deepEqual(found("*query"), [2]);
  assert.deepEqual(found("acme.*"), []);
  assert.deepEqual(found("\"com.acme.A.run\""), [0]);
  assert.deepEqual(found("\"com.acme.A\""), []);
  assert.deepEqual([...(matchMethods(names, "park")?.mask ?? [])], [0, 0, 0, 1]);
});

test("characters of patterns in other languages mean themselves", () => {
  assert.deepEqual(found("com.acme.[A]*"), []);
  assert.deepEqual(found("(a+)+$"), []);
  assert.ok(globMatch("a*b*c", "a**b.c"));
  assert.ok(globMatch("*", ""));
  assert.ok(!globMatch("?", ""));
  assert.ok(!globMatch("a*a*a*a*a*a*a*a*a*b", "a".repeat(5000)));
});

test("wait points are named for what they wait for", () => {
  assert.equal(waitKind("jdk.internal.misc.Unsafe.park"), "being unparked");
  assert.equal(waitKind("java.lang.Object.monitorEnter"), "a monitor");
  assert.equal(waitKind("com.acme.A.run"), null);
});

test("flags and errors read as words", () => {
  assert.deepEqual(flagWords(0, "a.b"), []);
  assert.deepEqual(flagWords(FLAG.wait, "java.lang.Thread.sleep"), ["wait point: waits for a sleep to end"]);
  assert.equal(flagWords(63, "a.b").length, 6);
  assert.equal(durationWords(1500, FLAG.cutEnd), "at least 1.50 µs");
  assert.equal(errorWords(0), "exact");
  assert.equal(errorWords(1e6), "±1.00 ms");
});

test("losses are told by cause, most first, and nothing lost is said too", () => {
  assert.deepEqual(lossLine(report([])), { lost: false, text: "Nothing was lost." });
  assert.deepEqual(lossLine(report([], { losses: { torn: 1, overwritten: 1200, none: 0 } })), { lost: true, text: "1,201 records lost: overwritten 1,200, torn 1." });
  assert.deepEqual(lossLine(report([], { losses: { overwritten: 1200 } })), { lost: true, text: "Lost: overwritten 1,200." });
  assert.match(lossLine(report([], { hidden: { slices: 5, reason: "trimmed" } })).text, /5 calls not in this page: trimmed/);
});

test("the copied text has the finding, the chain and the losses", () => {
  const text = reportText(incident({ slices: 3000, threads: 5 }));
  assert.match(text, /^OrderApi\.place slower than 300 ms\n/);
  assert.match(text, /Call: {4}com\.acme\.shop\.api\.OrderApi\.place/);
  assert.match(text, / {4}java\.lang\.Object\.monitorEnter .*\[waits for a monitor\]/);
  assert.match(text, /43,026 records lost/);
});
