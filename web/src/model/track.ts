// One thread's calls in columns: times, nesting, own time.
//
// Half a million calls are kept as typed arrays and never as objects; a call is named by its position. Parents
// follow from call order and depth. A report may have left out short calls, so a parent is the nearest
// shallower call that covers this one, which need not be exactly one level up.
import { FLAG, type GapData, type Nanos, type ThreadData, type ThreadIndex } from "../data/schema.ts";
import { buildLanes, type Lanes } from "./lanes.ts";

/** A call: which thread, which position in its arrays. */
export interface CallRef {
  readonly thread: ThreadIndex;
  readonly slice: number;
}

export interface Track {
  readonly index: ThreadIndex;
  readonly name: string;
  readonly id: string;
  readonly kind: "java" | "gc";
  readonly count: number;
  /** Ascending; calls that start together are in call order. */
  readonly start: Float64Array;
  readonly dur: Float64Array;
  readonly method: Uint32Array;
  readonly depth: Uint16Array;
  readonly flags: Uint8Array;
  /** Timing error, nanoseconds, plus or minus. */
  readonly err: Float64Array;
  /** Position of the field values in the report's plus 1, 0 for none; null when no call has any. */
  readonly values: Uint32Array | null;
  /** Position of the caller, -1 for an outermost call. */
  readonly parent: Int32Array;
  /** Duration without the calls made from it. */
  readonly self: Float64Array;
  readonly lanes: Lanes;
  /** By start. */
  readonly gaps: readonly GapData[];
  /** Time in traced code outside wait points, nanoseconds. */
  readonly busy: Nanos;
  /** Time in wait points, nanoseconds. */
  readonly waiting: Nanos;
}

export function buildTrack(data: ThreadData, index: ThreadIndex): Track {
  const n = data.start.length;
  const order = callOrder(data);
  const start = new Float64Array(n);
  const dur = new Float64Array(n);
  const method = new Uint32Array(n);
  const depth = new Uint16Array(n);
  const flags = new Uint8Array(n);
  const err = new Float64Array(n);
  const values = data.values === undefined ? null : new Uint32Array(n);
  let at = 0;
  for (let i = 0; i < n; i++) {
    at += data.start[i];
    start[i] = at;
  }
  for (let i = 0; i < n; i++) {
    const from = order === null ? i : order[i];
    dur[i] = data.dur[from];
    method[i] = data.method[from];
    depth[i] = data.depth[from];
    flags[i] = data.flags[from];
    err[i] = data.err[from];
    if (values !== null && data.values !== undefined) values[i] = data.values[from];
  }
  const parent = parents(start, dur, depth);
  const self = dur.slice();
  for (let i = 0; i < n; i++) if (parent[i] >= 0) self[parent[i]] -= dur[i];
  let busy = 0;
  let waiting = 0;
  for (let i = 0; i < n; i++) {
    // Times of neighbours overlap by their timing error now and then; less than nothing is nothing.
    if (self[i] < 0) self[i] = 0;
    if (flags[i] & FLAG.wait) waiting += self[i];
    else busy += self[i];
  }
  return {
    index,
    name: data.name,
    id: data.id,
    kind: data.kind,
    count: n,
    start,
    dur,
    method,
    depth,
    flags,
    err,
    values,
    parent,
    self,
    lanes: buildLanes(start, dur, method, depth),
    gaps: [...data.gaps].sort((a, b) => a[0] - b[0]),
    busy,
    waiting,
  };
}

/**
 * Calls that start together must be in call order, outer first. A writer that emits calls as they end gives
 * such a group inside out; only then (a shallower, covering call after a deeper one) is it put right. Null
 * when nothing has to move, which is the usual case. Equal starts stay within their group, so the decoded
 * start column needs no reordering.
 */
function callOrder(data: ThreadData): Uint32Array | null {
  const n = data.start.length;
  let order: Uint32Array | null = null;
  for (let i = 0; i < n; ) {
    let j = i + 1;
    let insideOut = false;
    while (j < n && data.start[j] === 0) {
      if (data.depth[j] < data.depth[j - 1] && data.dur[j - 1] > 0 && data.dur[j] >= data.dur[j - 1]) insideOut = true;
      j++;
    }
    if (insideOut) {
      order ??= Uint32Array.from({ length: n }, (_, k) => k);
      order.subarray(i, j).sort((a, b) => data.depth[a] - data.depth[b] || a - b);
    }
    i = j;
  }
  return order;
}

function parents(start: Float64Array, dur: Float64Array, depth: Uint16Array): Int32Array {
  const n = start.length;
  const parent = new Int32Array(n);
  const open: number[] = [];
  for (let i = 0; i < n; i++) {
    while (open.length > 0) {
      const top = open[open.length - 1];
      if (depth[top] < depth[i] && start[i] <= start[top] + dur[top]) break;
      open.pop();
    }
    parent[i] = open.length > 0 ? open[open.length - 1] : -1;
    open.push(i);
  }
  return parent;
}

/** The callers of a call, outermost first, without the call itself. */
export function callers(track: Track, slice: number): number[] {
  const chain: number[] = [];
  for (let p = track.parent[slice]; p >= 0; p = track.parent[p]) chain.push(p);
  return chain.reverse();
}

/** Calls made directly from `slice`, in call order. */
export function callees(track: Track, slice: number): number[] {
  const found: number[] = [];
  const end = track.start[slice] + track.dur[slice];
  for (let i = slice + 1; i < track.count && track.start[i] <= end; i++) {
    if (track.parent[i] === slice) found.push(i);
  }
  return found;
}

/** How many calls share this one's caller, itself included. */
export function siblings(track: Track, slice: number): number {
  const parent = track.parent[slice];
  if (parent >= 0) return callees(track, parent).length;
  let roots = 0;
  for (let i = 0; i < track.count; i++) if (track.parent[i] < 0) roots++;
  return roots;
}
