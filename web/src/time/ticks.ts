// Where the axis puts its marks.
//
// Steps are 1, 2 or 5 times a power of ten, so that labels stay short. Zoomed in far, an absolute label would
// need ten digits that are all the same: then marks are given relative to an anchor, shown once at the left.
import type { Nanos } from "../data/schema.ts";
import { offset } from "./units.ts";

export interface Ticks {
  readonly step: Nanos;
  /** What is added to every label; null when labels are absolute. */
  readonly anchor: Nanos | null;
  readonly marks: readonly { readonly at: Nanos; readonly label: string }[];
}

/** The smallest 1-2-5 step of at least `atLeast` nanoseconds (and at least one nanosecond). */
export function niceStep(atLeast: Nanos): Nanos {
  if (atLeast <= 1) return 1;
  const power = Math.pow(10, Math.floor(Math.log10(atLeast)));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= atLeast * (1 - 1e-9)) return power * factor;
  return power * 10;
}

/** Marks of [from, to], at most `most` of them; offsets count from `origin`. */
export function ticks(from: Nanos, to: Nanos, most: number, origin: Nanos = 0): Ticks {
  const step = niceStep((to - from) / Math.max(1, most));
  const first = Math.ceil((from - origin) / step) * step;
  const reach = Math.max(Math.abs(from - origin), Math.abs(to - origin));
  // More than five digits that move: give the marks relative to a round place before the view.
  const anchored = reach / step >= 100_000;
  const anchor = anchored ? Math.floor((from - origin) / (step * 100)) * step * 100 : null;
  const marks: { at: Nanos; label: string }[] = [];
  for (let t = first; t <= to - origin && marks.length <= most + 2; t += step) {
    const label = anchor === null ? offset(t, step, reach) : `+${offset(t - anchor, step, to - origin - anchor)}`;
    marks.push({ at: t + origin, label });
  }
  return { step, anchor, marks };
}
