// Where every thread's rows are, top to bottom.
//
// A collapsed thread is a miniature of all its depths in thin rows: the shape of a stall is seen at once without
// opening anything. An open thread has full rows with labels. Heights are CSS pixels; the renderer scales them.
import type { ThreadIndex } from "../data/schema.ts";
import type { Model } from "../model/model.ts";

export const ROW = 18;
export const THIN_ROW = 4;
/** A miniature shows at most this many depths: 14 thin rows are about three full ones. */
const THIN_ROWS = 14;
/** A thread's name needs this much even if it has few rows. */
const MIN_BODY = 22;
const GAP = 5;

export interface Strip {
  readonly thread: ThreadIndex;
  readonly open: boolean;
  readonly top: number;
  /** Height with the space below. */
  readonly height: number;
  /** Height of one depth. */
  readonly row: number;
  /** Depths drawn. */
  readonly rows: number;
}

export interface Layout {
  readonly strips: readonly Strip[];
  readonly height: number;
}

export function layOut(model: Model, open: ReadonlySet<ThreadIndex>): Layout {
  const strips: Strip[] = [];
  let top = 0;
  for (const thread of model.order) {
    const depths = model.tracks[thread].lanes.count;
    const isOpen = open.has(thread);
    const row = isOpen ? ROW : THIN_ROW;
    const rows = isOpen ? depths : Math.min(depths, THIN_ROWS);
    const height = Math.max(MIN_BODY, rows * row) + GAP;
    strips.push({ thread, open: isOpen, top, height, row, rows });
    top += height;
  }
  return { strips, height: top };
}

/** The strip at `y`, by bisection; null below the last. */
export function stripAt(layout: Layout, y: number): Strip | null {
  let lo = 0;
  let hi = layout.strips.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (layout.strips[mid].top + layout.strips[mid].height <= y) lo = mid + 1;
    else hi = mid;
  }
  return layout.strips[lo] ?? null;
}

/** The depth at `y` of a strip, -1 when below its last row. */
export function depthAt(strip: Strip, y: number): number {
  const d = Math.floor((y - strip.top) / strip.row);
  return d >= 0 && d < strip.rows ? d : -1;
}
