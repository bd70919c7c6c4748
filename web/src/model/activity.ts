// How busy the program was over the whole recording, for the overview strip.
//
// Each moment of a thread belongs to its innermost call: running, or waiting when that is a wait point. One
// sweep over each thread adds these stretches to a fixed number of columns, once, when the report opens.
import { FLAG, type Nanos } from "../data/schema.ts";
import type { Range } from "../time/viewport.ts";
import type { Track } from "./track.ts";

export interface Activity {
  /** Mean number of running threads in each column. */
  readonly running: Float64Array;
  /** Mean number of waiting threads in each column. */
  readonly waiting: Float64Array;
  /** Highest sum of the two. */
  readonly peak: number;
}

export function activity(tracks: readonly Track[], bounds: Range, columns: number): Activity {
  const running = new Float64Array(columns);
  const waiting = new Float64Array(columns);
  const perColumn = (bounds.to - bounds.from) / columns;

  const add = (into: Float64Array, from: Nanos, to: Nanos): void => {
    if (to <= from) return;
    const a = (from - bounds.from) / perColumn;
    const b = Math.min((to - bounds.from) / perColumn, columns);
    for (let c = Math.max(0, Math.floor(a)); c < b; c++) {
      into[c] += Math.min(c + 1, b) - Math.max(c, a);
    }
  };

  for (const t of tracks) {
    if (t.kind !== "java") continue;
    // The innermost open call; time passes to it from `since` on.
    let open = -1;
    let since = 0;
    const advance = (until: Nanos): void => {
      while (open >= 0 && since < until) {
        const end = t.start[open] + t.dur[open];
        const to = Math.min(end, until);
        add(t.flags[open] & FLAG.wait ? waiting : running, since, to);
        since = Math.max(since, to);
        if (end > until) break;
        open = t.parent[open];
      }
    };
    for (let i = 0; i < t.count; i++) {
      advance(t.start[i]);
      since = t.start[i];
      open = i;
    }
    advance(Infinity);
  }
  let peak = 0;
  for (let c = 0; c < columns; c++) peak = Math.max(peak, running[c] + waiting[c]);
  return { running, waiting, peak };
}
