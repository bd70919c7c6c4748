// Going from one matching call to the next, over all threads in time order.
//
// Matches are not collected: a search for a common word may hit every call. One pass over the columns finds
// the neighbour and its rank in a few milliseconds, and there is nothing to keep up to date.
import type { Model } from "./model.ts";
import type { CallRef } from "./track.ts";

export interface Found {
  readonly call: CallRef;
  /** 1-based place among all matches in time order. */
  readonly rank: number;
}

/** Order of calls in time; ties by thread, then call order. */
function precedes(aStart: number, a: CallRef, bStart: number, b: CallRef): boolean {
  if (aStart !== bStart) return aStart < bStart;
  return a.thread !== b.thread ? a.thread < b.thread : a.slice < b.slice;
}

/** How many calls are of a method set in `mask`. */
export function countCalls(model: Model, mask: Uint8Array): number {
  let n = 0;
  for (const t of model.tracks) for (let i = 0; i < t.count; i++) n += mask[t.method[i]];
  return n;
}

/**
 * The next (or previous) call of a method in `mask` after `from`, going round at the end. With a null `from`
 * the first (or last) match. Null when nothing matches.
 */
export function nextCall(model: Model, mask: Uint8Array, from: CallRef | null, forward: boolean): Found | null {
  return (from === null ? null : neighbour(model, mask, from, forward)) ?? neighbour(model, mask, null, forward);
}

function neighbour(model: Model, mask: Uint8Array, from: CallRef | null, forward: boolean): Found | null {
  const fromStart = from === null ? 0 : model.tracks[from.thread].start[from.slice];
  let best: CallRef | null = null;
  let bestStart = 0;
  for (const t of model.tracks) {
    for (let i = 0; i < t.count; i++) {
      if (mask[t.method[i]] === 0) continue;
      const start = t.start[i];
      const here: CallRef = { thread: t.index, slice: i };
      if (from !== null && !(forward ? precedes(fromStart, from, start, here) : precedes(start, here, fromStart, from))) {
        continue;
      }
      if (best === null || (forward ? precedes(start, here, bestStart, best) : precedes(bestStart, best, start, here))) {
        best = here;
        bestStart = start;
      }
    }
  }
  return best === null ? null : { call: best, rank: rankOf(model, mask, best) };
}

/** 1-based place of `call` among the calls in `mask`; `call` itself need not match. */
export function rankOf(model: Model, mask: Uint8Array, call: CallRef): number {
  const at = model.tracks[call.thread].start[call.slice];
  let before = 0;
  for (const t of model.tracks) {
    for (let i = 0; i < t.count && t.start[i] <= at; i++) {
      if (mask[t.method[i]] !== 0 && precedes(t.start[i], { thread: t.index, slice: i }, at, call)) before++;
    }
  }
  return before + 1;
}
