// The merged call tree behind the flame graph: calls with the same callers become one node.
//
// Nodes live in growing columns and are found through one map keyed by parent and method, so half a million
// calls merge in tens of milliseconds. A parent's position is always below its children's, which lets every
// later pass be a plain loop. The tree of callers is made from the merged tree, never from the calls: its cost
// is nodes times depth, not calls times depth.
import type { MethodIndex, Nanos } from "../data/schema.ts";
import { FLAG } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";
import { clippedSelf } from "./stats.ts";
import type { Track } from "./track.ts";

export interface CallTree {
  /** Node 0 is the root, which is no method. */
  readonly size: number;
  readonly method: readonly MethodIndex[];
  readonly parent: readonly number[];
  readonly depth: readonly number[];
  readonly calls: readonly number[];
  readonly total: readonly Nanos[];
  readonly self: readonly Nanos[];
  readonly wait: readonly boolean[];
  /** Children of each node, longest first. */
  readonly children: readonly (readonly number[])[];
  readonly maxDepth: number;
}

export class TreeBuilder {
  readonly method: number[] = [-1];
  readonly parent: number[] = [-1];
  readonly depth: number[] = [0];
  readonly calls: number[] = [0];
  readonly total: number[] = [0];
  readonly self: number[] = [0];
  readonly wait: boolean[] = [false];
  private readonly nodes = new Map<number, number>();

  constructor(private readonly methods: number) {}

  child(parent: number, method: MethodIndex): number {
    // Exact while nodes times methods stays below 2^53, far above what fits in memory.
    const key = parent * this.methods + method;
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = this.method.length;
      this.nodes.set(key, node);
      this.method.push(method);
      this.parent.push(parent);
      this.depth.push(this.depth[parent] + 1);
      this.calls.push(0);
      this.total.push(0);
      this.self.push(0);
      this.wait.push(false);
    }
    return node;
  }

  finish(): CallTree {
    const size = this.method.length;
    const children: number[][] = Array.from({ length: size }, () => []);
    let maxDepth = 0;
    for (let i = 1; i < size; i++) {
      children[this.parent[i]].push(i);
      maxDepth = Math.max(maxDepth, this.depth[i]);
    }
    for (const list of children) list.sort((a, b) => this.total[b] - this.total[a] || a - b);
    return { ...this.columns(), size, children, maxDepth };
  }

  private columns(): Omit<CallTree, "size" | "children" | "maxDepth"> {
    const { method, parent, depth, calls, total, self, wait } = this;
    return { method, parent, depth, calls, total, self, wait };
  }
}

/** Calls of `threads` within `range` (null: all), merged by their callers from the outside in. */
export function callTree(threads: readonly Track[], methods: number, range: Range | null): CallTree {
  const tree = new TreeBuilder(Math.max(1, methods));
  const from = range?.from ?? -Infinity;
  const to = range?.to ?? Infinity;
  for (const t of threads) {
    const own = clippedSelf(t, from, to);
    const nodeOf = new Int32Array(t.count);
    for (let i = 0; i < t.count && t.start[i] < to; i++) {
      const end = t.start[i] + t.dur[i];
      if (end <= from && t.dur[i] > 0) continue;
      const node = tree.child(t.parent[i] >= 0 ? nodeOf[t.parent[i]] : 0, t.method[i]);
      nodeOf[i] = node;
      const inside = Math.max(0, Math.min(end, to) - Math.max(t.start[i], from));
      tree.calls[node]++;
      tree.total[node] += inside;
      tree.self[node] += own[i];
      if (t.flags[i] & FLAG.wait) tree.wait[node] = true;
      if (t.parent[i] < 0) tree.total[0] += inside;
    }
  }
  return tree.finish();
}

/** The same times seen from the inside out: each method's own time, then who called it. */
export function reversed(forward: CallTree, methods: number): CallTree {
  const tree = new TreeBuilder(Math.max(1, methods));
  for (let leaf = 1; leaf < forward.size; leaf++) {
    const own = forward.self[leaf];
    if (own <= 0) continue;
    tree.total[0] += own;
    let node = 0;
    for (let up = leaf; up > 0; up = forward.parent[up]) {
      node = tree.child(node, forward.method[up]);
      tree.total[node] += own;
      tree.calls[node] += forward.calls[leaf];
      if (up === leaf) {
        tree.self[node] += own;
        if (forward.wait[leaf]) tree.wait[node] = true;
      }
    }
  }
  return tree.finish();
}

/** Time in calls of methods in `mask`, each moment counted once however deep the matches nest. */
export function matchedTime(tree: CallTree, mask: Uint8Array): Nanos {
  const within = new Uint8Array(tree.size);
  let time = 0;
  for (let n = 1; n < tree.size; n++) {
    const above = within[tree.parent[n]];
    within[n] = above | mask[tree.method[n]];
    if (above === 0 && within[n] === 1) time += tree.total[n];
  }
  return time;
}

/** From the outermost to `node`, without the root. */
export function pathTo(tree: CallTree, node: number): number[] {
  const path: number[] = [];
  for (let n = node; n > 0; n = tree.parent[n]) path.push(n);
  return path.reverse();
}
