// Calls, losses and whole reports in plain words.
//
// One wording for tooltip, details and the copied text, so that they never say different things about the same
// call. Pure text: nothing here knows the document.
import { FLAG, type ReportData } from "../data/schema.ts";
import { count, duration, plural, utcDate, wallClock } from "../time/units.ts";
import { methodNames, waitKind } from "./methods.ts";

/** What the flags of a call mean, one phrase each. */
export function flagWords(flags: number, methodFull: string): string[] {
  const words: string[] = [];
  if (flags & FLAG.trigger) words.push("the call that fired the trigger");
  if (flags & FLAG.wait) {
    const kind = waitKind(methodFull);
    words.push(kind === null ? "wait point, timed exactly" : `wait point: waits for ${kind}`);
  }
  if (flags & FLAG.span) words.push("a span that the program marked, timed exactly");
  if (flags & FLAG.instant) words.push("a moment that the program marked, timed exactly");
  if (flags & FLAG.cutStart) words.push("began before the recording: its start was not seen");
  if (flags & FLAG.cutEnd) words.push("end not seen: still running, or its exit was lost");
  if (flags & FLAG.inferredEnd) words.push("end inferred from a later record");
  if (flags & FLAG.exception) words.push("left by an exception");
  return words;
}

/** `1.23 ms`, with `at least` when an end was not seen. */
export function durationWords(ns: number, flags: number): string {
  return flags & (FLAG.cutStart | FLAG.cutEnd) ? `at least ${duration(ns)}` : duration(ns);
}

/** `±1 ms`, or `exact`. */
export function errorWords(err: number): string {
  return err > 0 ? `±${duration(err)}` : "exact";
}

/** What a chain entry waits for, in words. */
export function chainWait(wait: string): string {
  const known: Readonly<Record<string, string>> = {
    monitor: "waits for a monitor",
    park: "parked",
    sleep: "sleeps",
    socket: "waits for the network",
    file: "waits for a file",
    wait: "waits for a notification",
    join: "waits for a thread",
    process: "waits for a process",
  };
  return known[wait] ?? `waits: ${wait}`;
}

export interface LossLine {
  readonly lost: boolean;
  readonly text: string;
}

/** What the recording lacks, by cause. */
export function lossLine(report: ReportData): LossLine {
  const causes = Object.entries(report.losses)
    .filter(([, n]) => n > 0)
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  const hidden = report.hidden === null || report.hidden.slices === 0 ? "" : ` ${plural(report.hidden.slices, "call")} not in this page: ${report.hidden.reason}.`;
  if (causes.length === 0) return { lost: hidden !== "", text: `Nothing was lost.${hidden}` };
  const total = causes.reduce((sum, [, n]) => sum + n, 0);
  const parts = causes.map(([cause, n]) => `${cause} ${count(n)}`).join(", ");
  // One cause says how many it is.
  const what = causes.length === 1 ? "Lost" : `${plural(total, "record")} lost`;
  return { lost: true, text: `${what}: ${parts}.${hidden}` };
}

/** The whole finding as plain text, to paste into a ticket. */
export function reportText(report: ReportData): string {
  const names = methodNames(report.methods);
  const base = BigInt(report.base_unix_ns);
  const lines = [report.title, "", ...report.summary];
  const trigger = report.trigger;
  if (trigger !== null) {
    const took = `${duration(trigger.duration)}${trigger.running ? " so far (still running)" : ""}`;
    lines.push(
      "",
      `Rule:    ${trigger.rule}`,
      `Call:    ${names[trigger.method].full}`,
      `Thread:  ${report.threads[trigger.thread].name}`,
      `Took:    ${took}`,
      `When:    ${utcDate(base, trigger.at)} ${wallClock(base, trigger.at)} UTC`,
    );
  }
  lines.push("", `Program: ${report.program}`);
  if (report.jvm !== "") lines.push(`JVM:     ${report.jvm}`);
  lines.push(`Machine: ${report.host}`);
  if (report.chain.length > 0) {
    lines.push("", "The slow call, from the outside in (total / own):");
    for (const link of report.chain) {
      const wait = link.wait === null ? "" : `  [${chainWait(link.wait)}]`;
      lines.push(`${"  ".repeat(Math.min(link.depth, 40))}${names[link.method].full}  ${duration(link.total)} / ${duration(link.self)}${wait}`);
    }
  }
  lines.push("", lossLine(report).text, "");
  return lines.join("\n");
}
