// Numbers about methods: the table of all, and one method's distribution.
//
// `total` counts a recursive method once: only a call with no call of the same method above it adds to it, or
// recursion would show more time than passed. Both use the same pass over the columns.
import type { MethodIndex, Nanos } from "../data/schema.ts";
import { FLAG } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";
import type { Model } from "./model.ts";
import type { Track } from "./track.ts";

export interface MethodRow {
  readonly method: MethodIndex;
  readonly calls: number;
  readonly total: Nanos;
  readonly self: Nanos;
  readonly max: Nanos;
  readonly mean: Nanos;
  /** Whether its calls are wait points. */
  readonly wait: boolean;
}

/** Every method called within `range` (null: ever), times clipped to it, longest and mean of whole calls. */
export function methodTable(model: Model, threads: readonly Track[], range: Range | null): MethodRow[] {
  const n = model.names.length;
  const calls = new Float64Array(n);
  const total = new Float64Array(n);
  const self = new Float64Array(n);
  const whole = new Float64Array(n);
  const max = new Float64Array(n);
  const wait = new Uint8Array(n);
  const from = range?.from ?? -Infinity;
  const to = range?.to ?? Infinity;
  for (const t of threads) {
    const clipped = clippedSelf(t, from, to);
    // End of the outermost open call of each method: a call that starts before it is nested in it.
    const openUntil = new Float64Array(n).fill(-Infinity);
    const openDepth = new Uint16Array(n);
    for (let i = 0; i < t.count && t.start[i] < to; i++) {
      const end = t.start[i] + t.dur[i];
      if (end < from) continue;
      const m = t.method[i];
      calls[m]++;
      whole[m] += t.dur[i];
      if (t.dur[i] > max[m]) max[m] = t.dur[i];
      if (t.flags[i] & FLAG.wait) wait[m] = 1;
      self[m] += clipped[i];
      const nested = t.start[i] < openUntil[m] && t.depth[i] > openDepth[m];
      if (!nested) {
        total[m] += Math.max(0, Math.min(end, to) - Math.max(t.start[i], from));
        openUntil[m] = end;
        openDepth[m] = t.depth[i];
      }
    }
  }
  const rows: MethodRow[] = [];
  for (let m = 0; m < n; m++) {
    if (calls[m] === 0) continue;
    rows.push({
      method: m,
      calls: calls[m],
      total: total[m],
      self: self[m],
      max: max[m],
      mean: whole[m] / calls[m],
      wait: wait[m] === 1,
    });
  }
  return rows;
}

/** Own time of each call within [from, to]; zero for calls outside. */
export function clippedSelf(t: Track, from: Nanos, to: Nanos): Float64Array {
  const own = new Float64Array(t.count);
  for (let i = 0; i < t.count && t.start[i] < to; i++) {
    const inside = Math.min(t.start[i] + t.dur[i], to) - Math.max(t.start[i], from);
    if (inside <= 0) continue;
    own[i] += inside;
    if (t.parent[i] >= 0) own[t.parent[i]] -= inside;
  }
  for (let i = 0; i < t.count; i++) if (own[i] < 0) own[i] = 0;
  return own;
}

export interface Distribution {
  readonly calls: number;
  readonly median: Nanos;
  readonly max: Nanos;
  readonly total: Nanos;
  /** Calls whose entry or exit was not seen; their times are lower bounds. */
  readonly cut: number;
  /** Share of calls that took no longer than each of these, for a small plot; log-spaced. */
  readonly histogram: Uint32Array;
  readonly histogramFrom: Nanos;
  readonly histogramTo: Nanos;
}

export const HISTOGRAM_BINS = 32;

/** Durations of all calls of one method in all threads. */
export function distribution(model: Model, method: MethodIndex): Distribution {
  let n = 0;
  for (const t of model.tracks) for (let i = 0; i < t.count; i++) if (t.method[i] === method) n++;
  const durations = new Float64Array(n);
  let at = 0;
  let cut = 0;
  let total = 0;
  for (const t of model.tracks) {
    for (let i = 0; i < t.count; i++) {
      if (t.method[i] !== method) continue;
      durations[at++] = t.dur[i];
      total += t.dur[i];
      if (t.flags[i] & (FLAG.cutStart | FLAG.cutEnd)) cut++;
    }
  }
  durations.sort();
  const lowest = n > 0 ? Math.max(1, durations[0]) : 1;
  const highest = n > 0 ? Math.max(lowest, durations[n - 1]) : 1;
  const histogram = new Uint32Array(HISTOGRAM_BINS);
  for (const d of durations) histogram[histogramBin(d, lowest, highest)]++;
  return {
    calls: n,
    median: n === 0 ? 0 : n % 2 === 1 ? durations[n >> 1] : (durations[n / 2 - 1] + durations[n / 2]) / 2,
    max: n === 0 ? 0 : durations[n - 1],
    total,
    cut,
    histogram,
    histogramFrom: lowest,
    histogramTo: highest,
  };
}

/** Which log-spaced bin a duration falls into. */
export function histogramBin(d: Nanos, lowest: Nanos, highest: Nanos): number {
  if (highest <= lowest) return 0;
  const share = Math.log(Math.max(d, lowest) / lowest) / Math.log(highest / lowest);
  return Math.min(HISTOGRAM_BINS - 1, Math.floor(share * HISTOGRAM_BINS));
}
