// The report as the page works with it: decoded threads, names, display order.
//
// Built once, never changed: everything the reader does (zoom, select, search) is state of the app, not of the
// model. That keeps every view a function of model and state.
import type { Nanos, PauseData, ReportData, ThreadIndex } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";
import { methodNames, type MethodName } from "./methods.ts";
import { decodeSamples, type Samples } from "./samples.ts";
import { buildTrack, type CallRef, type Track } from "./track.ts";

export interface Model {
  readonly report: ReportData;
  readonly names: readonly MethodName[];
  /** By `ThreadIndex`. */
  readonly tracks: readonly Track[];
  /** The trigger's thread first, then by busy time; collector threads last. */
  readonly order: readonly ThreadIndex[];
  /** What can be looked at: the recorded span, widened to what lies outside it, and a margin. */
  readonly bounds: Range;
  readonly base: bigint;
  /** By start. */
  readonly pauses: readonly PauseData[];
  readonly calls: number;
  readonly samples: Samples | null;
  readonly threadsWithGaps: number;
}

export function buildModel(report: ReportData): Model {
  const tracks = report.threads.map(buildTrack);
  let [from, to] = report.span;
  let calls = 0;
  for (const t of tracks) {
    calls += t.count;
    if (t.count === 0) continue;
    from = Math.min(from, t.start[0]);
    for (let i = 0; i < t.count; i++) if (t.depth[i] === 0) to = Math.max(to, t.start[i] + t.dur[i]);
  }
  if (report.trigger !== null) {
    from = Math.min(from, report.trigger.start);
    to = Math.max(to, report.trigger.at);
  }
  const margin = Math.max((to - from) * 0.01, 100);
  const first = report.trigger?.thread ?? -1;
  const rank = (t: Track): number => (t.index === first ? 0 : t.kind === "java" ? 1 : 2);
  // Threads of native programs stay as they were written: those of one process together.
  const grouped = (a: Track, b: Track): number => (a.values !== null && b.values !== null ? a.index - b.index : 0);
  const order = [...tracks]
    .sort((a, b) => rank(a) - rank(b) || grouped(a, b) || b.busy - a.busy || b.waiting - a.waiting || a.index - b.index)
    .map((t) => t.index);
  return {
    report,
    names: methodNames(report.methods),
    tracks,
    order,
    bounds: { from: from - margin, to: to + margin },
    base: BigInt(report.base_unix_ns),
    pauses: [...report.pauses].sort((a, b) => a[0] - b[0]),
    calls,
    samples: decodeSamples(report.samples),
    threadsWithGaps: tracks.filter((t) => t.gaps.length > 0).length,
  };
}

/** The call of the trigger, by its flag or else by method and time; null when it is not in the report. */
export function triggerCall(model: Model): CallRef | null {
  const trigger = model.report.trigger;
  if (trigger === null) return null;
  return findCall(model, trigger.thread, trigger.method, trigger.start);
}

/** The call of `method` in `thread` that starts nearest to `start`; null when the thread has none. */
export function findCall(model: Model, thread: ThreadIndex, method: number, start: Nanos): CallRef | null {
  const track = model.tracks[thread];
  let best = -1;
  let distance = Infinity;
  for (let i = 0; i < track.count; i++) {
    if (track.method[i] !== method) continue;
    const d = Math.abs(track.start[i] - start);
    if (d < distance) {
      best = i;
      distance = d;
    }
  }
  return best < 0 ? null : { thread, slice: best };
}
