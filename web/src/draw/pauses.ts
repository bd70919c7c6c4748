// How much of each pixel column the VM's pauses cover.
//
// A program may make thousands of pauses far shorter than a pixel. Drawn one by one with a least width they would
// paint the whole chart as paused; so, as with calls, a column shows the exact share of its time that is paused.
import type { PauseData } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";

/** Share of each of `columns` columns of `view` that pauses cover, 0 to 1. Pauses ascend by start. */
export function pauseShares(pauses: readonly PauseData[], view: Range, columns: number): Float32Array {
  const shares = new Float32Array(columns);
  const scale = columns / (view.to - view.from);
  for (const [start, dur] of pauses) {
    if (start >= view.to) break;
    if (start + dur < view.from) continue;
    const a = Math.max(0, (start - view.from) * scale);
    const b = Math.min(columns, (start + dur - view.from) * scale);
    const first = Math.floor(a);
    // A pause of no width at all still leaves a trace in its column.
    shares[first] += first < columns ? 1e-3 : 0;
    for (let c = first; c < b; c++) shares[c] += Math.min(c + 1, b) - Math.max(c, a);
  }
  for (let c = 0; c < columns; c++) if (shares[c] > 1) shares[c] = 1;
  return shares;
}

/** Below this a lone short pause would not be seen. */
const FAINTEST = 0.3;

/** Fills runs of columns in rows [top, top + height) with the context's fill colour, as strongly as they are covered. */
export function fillShares(g: CanvasRenderingContext2D, shares: Float32Array, top: number, height: number, perColumn: number): void {
  const strength = (share: number): number => (share <= 0 ? 0 : Math.round((FAINTEST + (1 - FAINTEST) * share) * 16) / 16);
  for (let c = 0; c < shares.length; ) {
    const s = strength(shares[c]);
    let end = c + 1;
    while (end < shares.length && strength(shares[end]) === s) end++;
    if (s > 0) {
      g.globalAlpha = s;
      g.fillRect(c * perColumn, top, (end - c) * perColumn, height);
    }
    c = end;
  }
  g.globalAlpha = 1;
}
