// The report's data contract, version 1, as the writing program puts it into the page.
//
// Every time is an integer number of nanoseconds relative to the report's base, so that the page never
// touches wall-clock arithmetic while drawing. This file describes shapes only: what is read from a page or
// a dropped file passes `parse.ts` first, and nothing else may cast to these types.

/** Nanoseconds relative to the report's base, or a length in nanoseconds. */
export type Nanos = number;
/** Index into `ReportData.methods`. */
export type MethodIndex = number;
/** Index into `ReportData.threads`. */
export type ThreadIndex = number;

/** Bits of a slice's `flags`. */
export const FLAG = {
  /** The entry was not seen: the call began before the recording reaches back. */
  cutStart: 1,
  /** The exit was not seen: still running, or its record was lost. */
  cutEnd: 2,
  /** The end follows from a later record, not from an exit of its own. */
  inferredEnd: 4,
  /** Left by an exception. */
  exception: 8,
  /** A wait point: exact times at both ends. */
  wait: 16,
  /** The call that fired the trigger. */
  trigger: 32,
  /** A span that the program marked itself. */
  span: 64,
  /** Something that happened at one moment, marked by the program. */
  instant: 128,
} as const;

export interface ReportData {
  readonly schema: 1;
  readonly title: string;
  /** ISO 8601. */
  readonly created: string;
  readonly program: string;
  readonly jvm: string;
  readonly host: string;
  /** Wall clock of the base in Unix nanoseconds, decimal; a string because it exceeds 2^53. */
  readonly base_unix_ns: string;
  /** Length of a recorder tick in nanoseconds. */
  readonly tick_ns: Nanos;
  readonly span: readonly [Nanos, Nanos];
  readonly trigger: TriggerData | null;
  readonly summary: readonly string[];
  readonly methods: readonly MethodData[];
  readonly threads: readonly ThreadData[];
  readonly pauses: readonly PauseData[];
  readonly chain: readonly ChainData[];
  readonly losses: Readonly<Record<string, number>>;
  /** Methods that were not traced because they would have cost too much, the costliest first. */
  readonly dropped?: readonly string[];
  /** How many classes were not traced yet, since it was the program's first start. */
  readonly waiting_classes?: number;
  /** What tracing cost of the program's processor time, in words. */
  readonly costs?: string;
  /** Field values as text, which `ThreadData.values` refers to. */
  readonly values?: readonly string[];
  /** Where threads were when they were sampled. */
  readonly samples?: SamplesData;
  readonly hidden: { readonly slices: number; readonly reason: string } | null;
}

/** What a thread did when it was sampled, by `SamplesData.activity`. */
export const ACTIVITY = ["running", "waiting", "unknown"] as const;

/** Samples in columns, and the calling contexts that they share: a context's caller stands before it. */
export interface SamplesData {
  /** How they were taken, in words. */
  readonly how: string;
  /** The time that a sample stands for. */
  readonly each: Nanos;
  /** Whether calls were not traced: those of the threads are made of the samples then. */
  readonly only: boolean;
  /** By context: its caller's, which is 0 for the outermost; context 0 is no frame. */
  readonly parent: readonly number[];
  readonly frame: readonly number[];
  /** Delta-coded, ascending. */
  readonly at: readonly number[];
  readonly thread: readonly number[];
  readonly context: readonly number[];
  readonly activity: readonly number[];
}

export interface TriggerData {
  readonly at: Nanos;
  readonly rule: string;
  readonly thread: ThreadIndex;
  readonly method: MethodIndex;
  readonly start: Nanos;
  readonly duration: Nanos;
  readonly running: boolean;
}

/** Class name, method name, source file, line (0: unknown). */
export type MethodData = readonly [string, string, string | null, number];

/** Start, duration, name. */
export type PauseData = readonly [Nanos, Nanos, string];

/** From, to, records lost, cause. */
export type GapData = readonly [Nanos, Nanos, number, string];

export interface ThreadData {
  readonly name: string;
  readonly id: string;
  readonly kind: "java" | "gc";
  /** Delta-coded, ascending; calls that start at the same time are in call order, outer first. */
  readonly start: readonly number[];
  readonly dur: readonly number[];
  readonly method: readonly number[];
  readonly depth: readonly number[];
  readonly flags: readonly number[];
  /** Timing error of start and end, nanoseconds. */
  readonly err: readonly number[];
  /** Of native programs: index into `ReportData.values` plus 1, or 0 for a slice without values. */
  readonly values?: readonly number[];
  readonly gaps: readonly GapData[];
}

export interface ChainData {
  readonly method: MethodIndex;
  readonly start: Nanos;
  readonly total: Nanos;
  readonly self: Nanos;
  readonly wait: string | null;
  readonly depth: number;
}
