// Method names as the page shows and searches them.
//
// Names come from class files and may hold anything; they are cut at their last dots and never interpreted.
// Matching runs over methods, not calls: a few ten thousand strings, so that each key press is answered at once
// however many calls there are.
import type { MethodData, MethodIndex } from "../data/schema.ts";

export interface MethodName {
  /** `com.acme.web.Api.handle` */
  readonly full: string;
  /** `Api.handle` */
  readonly short: string;
  /** `handle` */
  readonly name: string;
  /** `com.acme.web`, or the empty string. */
  readonly pack: string;
  /** `com.acme.web.Api` */
  readonly className: string;
  /** `Api.java:120`, `Api.java`, or null when unknown. */
  readonly source: string | null;
}

export function methodNames(methods: readonly MethodData[]): MethodName[] {
  return methods.map(([className, name, file, line]) => {
    const dot = className.lastIndexOf(".");
    return {
      full: className === "" ? name : `${className}.${name}`,
      short: className === "" ? name : `${className.slice(dot + 1)}.${name}`,
      name,
      pack: dot < 0 ? "" : className.slice(0, dot),
      className,
      source: file === null ? null : line > 0 ? `${file}:${line}` : file,
    };
  });
}

/** Which methods a search means: a bit a method, and how many are set. */
export interface Matches {
  readonly mask: Uint8Array;
  readonly methods: readonly MethodIndex[];
}

/**
 * Methods whose full name matches `query`: a substring in any case; a glob over the whole name when it holds
 * `*` or `?`; exactly that name when in double quotes. Null when the query is empty.
 */
export function matchMethods(names: readonly MethodName[], query: string): Matches | null {
  const test = matcher(query.trim());
  if (test === null) return null;
  const mask = new Uint8Array(names.length);
  const methods: MethodIndex[] = [];
  names.forEach(({ full }, i) => {
    if (test(full)) {
      mask[i] = 1;
      methods.push(i);
    }
  });
  return { mask, methods };
}

function matcher(query: string): ((full: string) => boolean) | null {
  if (query === "") return null;
  const quoted = /^"(.*)"$/.exec(query);
  if (quoted) return (full) => full === quoted[1];
  const needle = query.toLowerCase();
  if (!/[*?]/.test(needle)) return (full) => full.toLowerCase().includes(needle);
  return (full) => globMatch(needle, full.toLowerCase());
}

/**
 * Glob over a whole name, `*` for any run and `?` for one character. Iterative with one remembered star, so a
 * hostile pattern costs pattern times name at worst, where a regular expression could take exponential time.
 */
export function globMatch(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    // The star first: a `*` in the name must not be taken for a literal match of the pattern's star.
    if (pattern[p] === "*") {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** What a wait point waits for, in words; null for a method that is not one we can name. */
export function waitKind(full: string): string | null {
  if (/MonitorEnter|monitorEnter|\.contendedEnter/.test(full)) return "a monitor";
  if (/Unsafe\.park|LockSupport\.park/.test(full)) return "being unparked";
  if (/Object\.wait/.test(full)) return "a notification";
  if (/Thread\.sleep/.test(full)) return "a sleep to end";
  if (/Thread\.join/.test(full)) return "a thread to end";
  if (/Socket|NioSocketImpl|sun\.nio\.ch\.Net|SelectorImpl|EPoll/.test(full)) return "the network";
  if (/File|RandomAccess|force|fsync/.test(full)) return "a file";
  if (/Process/.test(full)) return "a process";
  return null;
}
