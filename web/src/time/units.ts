// Times in words: the one place where nanoseconds become text.
//
// A reader compares durations down a column, so three significant digits are kept and the unit changes at
// powers of a thousand. Offsets are printed to the precision the caller asks for, never to more than the
// recording has: a false digit is worse than a missing one.
import type { Nanos } from "../data/schema.ts";

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration with three significant digits: `1.23 ms`, `412 µs`, `0 ns`. */
export function duration(ns: Nanos): string {
  const size = Math.abs(ns);
  for (const [scale, unit] of UNITS) {
    if (size >= scale * 0.9995 || scale === 1) {
      const v = ns / scale;
      const digits = scale === 1 ? 0 : Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2;
      return `${v.toFixed(digits)} ${unit}`;
    }
  }
  return "0 ns";
}

/**
 * A point in time with decimals down to `step` nanoseconds, in a unit that suits `reach`: a row of marks hands in
 * the largest of them, so that all have the same unit.
 */
export function offset(ns: Nanos, step: Nanos, reach: Nanos = Math.abs(ns)): string {
  const size = Math.max(reach, step);
  const [scale, unit] = UNITS.find(([s]) => size >= s) ?? [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / step) - 1e-9)));
  return `${(ns / scale).toFixed(decimals)} ${unit}`;
}

/** Wall clock in UTC with microseconds, `14:03:22.123456`, of `ns` after the base. */
export function wallClock(baseUnixNs: bigint, ns: Nanos): string {
  const at = baseUnixNs + BigInt(Math.round(ns));
  const day = 86_400_000_000_000n;
  const inDay = ((at % day) + day) % day;
  const micros = Number(inDay / 1000n);
  const pad = (n: number, width: number): string => String(Math.floor(n)).padStart(width, "0");
  const seconds = micros / 1e6;
  return `${pad(seconds / 3600, 2)}:${pad((seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}.${pad(micros % 1e6, 6)}`;
}

/** UTC date, `2026-03-14`, of `ns` after the base. */
export function utcDate(baseUnixNs: bigint, ns: Nanos): string {
  const ms = Number((baseUnixNs + BigInt(Math.round(ns))) / 1_000_000n);
  // A base beyond what a Date can hold is damage that should not cost the reader the report.
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : "";
}

/** A count with thin grouping: `12,345`. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** `1 call`, `2 calls`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A share in percent, `12.3 %`; tiny but not zero is `<0.1 %`. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const p = (part / whole) * 100;
  if (p > 0 && p < 0.1) return "<0.1 %";
  return `${p.toFixed(p >= 99.95 ? 0 : 1)} %`;
}
