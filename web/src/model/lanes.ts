// A thread's calls by depth: one lane a depth, each sorted by time and free of overlaps.
//
// This is what makes half a million calls pan smoothly. Within a lane both starts and ends ascend, so the
// first visible call is a binary search away, and prefix sums of durations give the exact share of a pixel that
// is covered by calls too short to see, without visiting them. All lanes of a thread share flat arrays.
import type { Nanos } from "../data/schema.ts";

export interface Lanes {
  /** Number of lanes: deepest depth plus one. */
  readonly count: number;
  /** Lane `d` is [first[d], first[d + 1]) of the arrays below. */
  readonly first: Uint32Array;
  /** The call, as an index into the thread's arrays. */
  readonly slice: Uint32Array;
  readonly start: Float64Array;
  /** Ends, cut where the next call of the lane begins. */
  readonly end: Float64Array;
  readonly method: Uint32Array;
  /** Running sum of lengths, one longer than the others. */
  readonly covered: Float64Array;
}

export function buildLanes(
  start: Float64Array,
  dur: Float64Array,
  method: Uint32Array,
  depth: Uint16Array,
): Lanes {
  const n = start.length;
  let count = 0;
  for (let i = 0; i < n; i++) if (depth[i] >= count) count = depth[i] + 1;
  const first = new Uint32Array(count + 1);
  for (let i = 0; i < n; i++) first[depth[i] + 1]++;
  for (let d = 0; d < count; d++) first[d + 1] += first[d];
  const next = first.slice();
  const lanes: Lanes = {
    count,
    first,
    slice: new Uint32Array(n),
    start: new Float64Array(n),
    end: new Float64Array(n),
    method: new Uint32Array(n),
    covered: new Float64Array(n + 1),
  };
  for (let i = 0; i < n; i++) {
    const at = next[depth[i]]++;
    lanes.slice[at] = i;
    lanes.start[at] = start[i];
    lanes.end[at] = start[i] + dur[i];
    lanes.method[at] = method[i];
  }
  for (let d = 0; d < count; d++) {
    for (let k = first[d]; k + 1 < first[d + 1]; k++) {
      if (lanes.end[k] > lanes.start[k + 1]) lanes.end[k] = lanes.start[k + 1];
    }
  }
  for (let k = 0; k < n; k++) lanes.covered[k + 1] = lanes.covered[k] + (lanes.end[k] - lanes.start[k]);
  return lanes;
}

/** First position in [lo, hi) of ascending `values` that is above `limit`; `hi` when none is. */
export function firstAbove(values: Float64Array, lo: number, hi: number, limit: Nanos): number {
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (values[mid] > limit) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/** First position in [lo, hi) that is at least `limit`, looked for near `lo` first: the hit is close by. */
export function gallopTo(values: Float64Array, lo: number, hi: number, limit: Nanos): number {
  let step = 1;
  let below = lo;
  let probe = lo;
  while (probe < hi && values[probe] < limit) {
    below = probe + 1;
    probe += step;
    step *= 2;
  }
  let top = probe < hi ? probe : hi;
  while (below < top) {
    const mid = (below + top) >>> 1;
    if (values[mid] < limit) below = mid + 1;
    else top = mid;
  }
  return top;
}

/** Position in lane `d` of the call at `t`, or the nearest within `slack` nanoseconds; -1 when none. */
export function laneAt(lanes: Lanes, d: number, t: Nanos, slack: Nanos): number {
  if (d < 0 || d >= lanes.count) return -1;
  const lo = lanes.first[d];
  const hi = lanes.first[d + 1];
  const after = firstAbove(lanes.start, lo, hi, t);
  const before = after - 1;
  if (before >= lo && lanes.end[before] > t) return before;
  const left = before >= lo ? t - lanes.end[before] : Infinity;
  const right = after < hi ? lanes.start[after] - t : Infinity;
  if (Math.min(left, right) > slack) return -1;
  return left <= right ? before : after;
}
