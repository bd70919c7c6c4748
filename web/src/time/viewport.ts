// The visible stretch of time, and how it moves.
//
// Kept as two times, not as zoom and scroll, so that "what is on screen" is one value that the chart, the
// overview, the flame graph and a test can share. It never leaves the recorded span and never gets narrower
// than a few nanoseconds, where floating-point times would stop being distinct.
import type { Nanos } from "../data/schema.ts";

export interface Range {
  readonly from: Nanos;
  readonly to: Nanos;
}

export const MIN_WIDTH: Nanos = 50;

/** `range` moved and, if need be, narrowed so that it lies within `bounds`. */
export function clampRange(range: Range, bounds: Range): Range {
  const whole = bounds.to - bounds.from;
  let width = Math.max(MIN_WIDTH, range.to - range.from);
  if (width >= whole) return bounds;
  let from = range.from;
  if (range.to - range.from < MIN_WIDTH) from = (range.from + range.to - width) / 2;
  if (from < bounds.from) from = bounds.from;
  if (from + width > bounds.to) {
    from = bounds.to - width;
    width = bounds.to - from;
  }
  return { from, to: from + width };
}

/** Scales by `factor` (below 1: closer) and leaves `anchor` where it is on screen. */
export function zoomAround(range: Range, anchor: Nanos, factor: number, bounds: Range): Range {
  const width = range.to - range.from;
  const limited = Math.max(MIN_WIDTH / width, factor);
  return clampRange(
    { from: anchor - (anchor - range.from) * limited, to: anchor + (range.to - anchor) * limited },
    bounds,
  );
}

/** Moves by a share of the visible width. */
export function panBy(range: Range, share: number, bounds: Range): Range {
  const by = (range.to - range.from) * share;
  return clampRange({ from: range.from + by, to: range.to + by }, bounds);
}

/** A range that shows [from, to] with some of what surrounds it. */
export function around(from: Nanos, to: Nanos, margin: number, bounds: Range): Range {
  const pad = Math.max((to - from) * margin, MIN_WIDTH);
  return clampRange({ from: from - pad, to: to + pad }, bounds);
}

/** Part of the way from `a` to `b`; widths go geometrically, so that a zoom feels even. */
export function between(a: Range, b: Range, share: number): Range {
  const wa = a.to - a.from;
  const wb = b.to - b.from;
  const w = wa * Math.pow(wb / wa, share);
  // The share of the centre's way follows the width's, or the target would swim out of the screen first.
  const s = Math.abs(wb - wa) < 1e-6 * wa ? share : (w - wa) / (wb - wa);
  const ca = (a.from + a.to) / 2;
  const cb = (b.from + b.to) / 2;
  const c = ca + (cb - ca) * s;
  return { from: c - w / 2, to: c + w / 2 };
}

/** Whether two ranges differ by less than `pixels` of `width` on screen. */
export function sameOnScreen(a: Range, b: Range, width: number): boolean {
  const perPixel = (b.to - b.from) / Math.max(1, width);
  return Math.abs(a.from - b.from) < perPixel * 0.25 && Math.abs(a.to - b.to) < perPixel * 0.25;
}
