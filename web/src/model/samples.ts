// Samples as the page works with them, and the tree of calling contexts of those that are asked for.
//
// A sample refers to a context, and a context to its caller's, which stands before it: so counts go up the tree in one
// pass from the end, and the tree is made in one from the beginning, whatever the number of samples.
import type { Nanos, SamplesData, ThreadIndex } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";
import { TreeBuilder, type CallTree } from "./calltree.ts";

export interface Samples {
  readonly data: SamplesData;
  /** When each was taken. */
  readonly at: Float64Array;
}

/** Which samples are asked for. */
export interface Wanted {
  /** Null: of all threads. */
  readonly thread: ThreadIndex | null;
  /** Null: of all times. */
  readonly range: Range | null;
  /** Null: whatever the thread did; else positions in `ACTIVITY`. */
  readonly activities: readonly number[] | null;
}

export function decodeSamples(data: SamplesData | undefined): Samples | null {
  if (data === undefined) return null;
  const at = new Float64Array(data.at.length);
  let now: Nanos = 0;
  data.at.forEach((step, i) => {
    now += step;
    at[i] = now;
  });
  return { data, at };
}

/** The samples that are asked for, merged by their callers from the outside in; each counts for the time it stands for. */
export function sampleTree(samples: Samples, wanted: Wanted, methods: number): CallTree {
  const { data, at } = samples;
  const own = new Uint32Array(data.parent.length);
  for (let i = 0; i < at.length; i++) {
    if (wanted.range !== null && (at[i] < wanted.range.from || at[i] >= wanted.range.to)) continue;
    if (wanted.thread !== null && data.thread[i] !== wanted.thread) continue;
    if (wanted.activities !== null && !wanted.activities.includes(data.activity[i])) continue;
    own[data.context[i]]++;
  }
  const within = Uint32Array.from(own);
  for (let c = within.length - 1; c > 0; c--) within[data.parent[c]] += within[c];
  const tree = new TreeBuilder(Math.max(1, methods));
  const nodes = new Int32Array(within.length);
  for (let c = 0; c < within.length; c++) {
    if (within[c] === 0) continue;
    const node = c === 0 ? 0 : tree.child(nodes[data.parent[c]], data.frame[c]);
    nodes[c] = node;
    tree.calls[node] += own[c];
    tree.total[node] += within[c] * data.each;
    tree.self[node] += c === 0 ? 0 : own[c] * data.each;
  }
  return tree.finish();
}
