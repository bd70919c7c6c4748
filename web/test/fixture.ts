// Makes incidents that look like real ones: a web shop whose order book is guarded by one lock.
//
// Request threads serve calls of realistic shape; one thread takes the lock and then waits for a slow file write,
// the others queue up behind it, a young collection pauses everybody, one noisy thread loses records. Everything
// follows from a seed, so a test or a screenshot is the same everywhere. `slices` scales it up to any size.
import { deflateRawSync } from "node:zlib";
import { FLAG, type ChainData, type GapData, type ReportData, type ThreadData } from "../src/data/schema.ts";

const MS = 1e6;
const US = 1e3;

/** mulberry32: small, seeded, good enough to shape a fixture. */
export function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Method = readonly [string, string, string | null, number];

const METHODS = {
  run: ["java.lang.Thread", "run", "Thread.java", 833],
  worker: ["org.apache.tomcat.util.threads.TaskThread$WrappingRunnable", "run", "TaskThread.java", 61],
  socket: ["org.apache.tomcat.util.net.NioEndpoint$SocketProcessor", "doRun", "NioEndpoint.java", 1740],
  http: ["org.apache.coyote.http11.Http11Processor", "service", "Http11Processor.java", 390],
  chain: ["org.apache.catalina.core.ApplicationFilterChain", "doFilter", "ApplicationFilterChain.java", 166],
  auth: ["com.acme.web.security.TokenFilter", "doFilter", "TokenFilter.java", 44],
  verify: ["com.acme.web.security.TokenVerifier", "verify", "TokenVerifier.java", 88],
  dispatch: ["org.springframework.web.servlet.DispatcherServlet", "doDispatch", "DispatcherServlet.java", 1089],
  order: ["com.acme.shop.api.OrderApi", "place", "OrderApi.java", 52],
  list: ["com.acme.shop.api.CatalogApi", "list", "CatalogApi.java", 37],
  price: ["com.acme.shop.pricing.PriceEngine", "quote", "PriceEngine.java", 120],
  rule: ["com.acme.shop.pricing.DiscountRule", "apply", "DiscountRule.java", 31],
  book: ["com.acme.shop.orders.OrderBook", "append", "OrderBook.java", 97],
  journal: ["com.acme.shop.orders.Journal", "write", "Journal.java", 143],
  flush: ["com.acme.shop.orders.Journal", "flush", "Journal.java", 171],
  repo: ["com.acme.shop.db.OrderRepository", "findOpen", "OrderRepository.java", 63],
  query: ["org.h2.jdbc.JdbcPreparedStatement", "executeQuery", "JdbcPreparedStatement.java", 130],
  exec: ["org.h2.command.query.Select", "query", "Select.java", 812],
  next: ["org.h2.result.LocalResult", "next", "LocalResult.java", 274],
  json: ["com.fasterxml.jackson.databind.ObjectMapper", "writeValue", "ObjectMapper.java", 3215],
  bean: ["com.fasterxml.jackson.databind.ser.BeanSerializer", "serialize", "BeanSerializer.java", 178],
  field: ["com.fasterxml.jackson.databind.ser.BeanPropertyWriter", "serializeAsField", "BeanPropertyWriter.java", 732],
  search: ["org.apache.lucene.search.IndexSearcher", "search", "IndexSearcher.java", 553],
  score: ["org.apache.lucene.search.TermScorer", "score", "TermScorer.java", 77],
  cache: ["com.acme.shop.cache.LocalCache", "get", "LocalCache.java", 58],
  refresh: ["com.acme.shop.cache.CacheRefresher", "refreshAll", "CacheRefresher.java", 29],
  hostile: ["com.acme.<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", null, 0],
  monitor: ["java.lang.Object", "monitorEnter", null, 0],
  park: ["jdk.internal.misc.Unsafe", "park", null, 0],
  sleep: ["java.lang.Thread", "sleep", "Thread.java", 344],
  fsync: ["sun.nio.ch.FileDispatcherImpl", "force", "FileDispatcherImpl.java", 82],
  read: ["sun.nio.ch.SocketDispatcher", "read", "SocketDispatcher.java", 46],
} as const satisfies Record<string, Method>;

type Name = keyof typeof METHODS;
const NAMES = Object.keys(METHODS) as Name[];
export const methodIndex = (name: Name): number => NAMES.indexOf(name);

/** Writes calls of one thread in call order, outer first, filling in durations as they end. */
class Recorder {
  readonly start: number[] = [];
  readonly dur: number[] = [];
  readonly method: number[] = [];
  readonly depth: number[] = [];
  readonly flags: number[] = [];
  readonly err: number[] = [];
  readonly gaps: GapData[] = [];
  now = 0;
  private readonly open: number[] = [];

  constructor(
    readonly name: string,
    readonly id: string,
    readonly random: () => number,
    private readonly tick: number,
  ) {}

  get size(): number {
    return this.start.length;
  }

  call(name: Name, body: () => void, flags = 0): number {
    const at = this.start.length;
    const wait = (flags & FLAG.wait) !== 0;
    this.start.push(this.now);
    this.dur.push(0);
    this.method.push(methodIndex(name));
    this.depth.push(this.open.length);
    this.flags.push(flags);
    this.err.push(wait ? 0 : this.tick);
    this.open.push(at);
    body();
    this.open.pop();
    this.dur[at] = this.now - this.start[at];
    return at;
  }

  /** Time passes in the innermost call: about `ns`, skewed as real durations are. */
  work(ns: number): void {
    const r = this.random();
    this.now += Math.round(ns * (0.5 + r * r * 2));
  }

  /** A wait of exactly `ns`. */
  wait(name: Name, ns: number): number {
    return this.call(name, () => { this.now += Math.round(ns); }, FLAG.wait);
  }

  data(kind: "java" | "gc" = "java"): ThreadData {
    const delta = this.start.map((s, i) => (i === 0 ? s : s - this.start[i - 1]));
    return { name: this.name, id: this.id, kind, start: delta, dur: this.dur, method: this.method, depth: this.depth, flags: this.flags, err: this.err, gaps: this.gaps };
  }
}

export interface FixtureOptions {
  /** About how many calls in all. */
  readonly slices?: number;
  readonly threads?: number;
  readonly seed?: number;
  /** No losses, no gaps. */
  readonly clean?: boolean;
}

/** One incident; `trigger` is a call of `OrderApi.place` that waited for the journal's lock. */
export function incident(options: FixtureOptions = {}): ReportData {
  const { slices = 12_000, threads = 14, seed = 7, clean = false } = options;
  const tick = MS;
  const span: [number, number] = [0, 2400 * MS];
  const stallFrom = 1180 * MS;
  const stallTo = 1592 * MS;
  const pauses: [number, number, string][] = [
    [412 * MS, 6.2 * MS, "G1 young"],
    [997 * MS, 4.8 * MS, "G1 young"],
    [1701 * MS, 23.4 * MS, "G1 mixed"],
    [2210 * MS, 5.1 * MS, "G1 young"],
  ];
  const perThread = Math.ceil(slices / threads);
  // Fine work fills up the requested number of calls in the recorded time.
  const grain = (span[1] / perThread) * 0.82;
  const all: ThreadData[] = [];
  let trigger = { start: 0, duration: 0 };
  let chain: ChainData[] = [];

  for (let n = 0; n < threads; n++) {
    const noise = random(seed * 1000 + n);
    const t = new Recorder(`http-nio-8080-exec-${n + 1}`, String(31 + n), noise, tick);
    t.now = Math.round(noise() * 30 * MS);
    let stalled = false;
    // The holder comes first; the trigger's thread soon after, the others one by one.
    const joins = n === 2 ? 0 : n === 0 ? 6 * MS : 14 * MS + n * 11 * MS;
    t.call("run", () => {
      t.call("worker", () => {
        while (t.now < span[1] - 40 * MS) {
          const mustStall = !stalled && t.now >= stallFrom + joins;
          if (mustStall) stalled = true;
          request(t, grain, mustStall ? (n === 2 ? "holds" : "waits") : "no", stallTo + n * 3.1 * MS);
          // Idle until the calls made so far are what this share of the time should hold.
          const due = (t.size / perThread) * span[1] * (0.9 + noise() * 0.2);
          const latest = stalled ? span[1] - 20 * MS : stallFrom + joins;
          if (due > t.now + 50 * US) t.wait("park", Math.max(MS, Math.min(due, latest) - t.now));
        }
      });
    });
    if (n === 4 && !clean) t.gaps.push([700 * MS, 748 * MS, 41_822, "brake: quota of records a tick"]);
    if (n === 0) {
      const at = t.flags.findIndex((f) => (f & FLAG.trigger) !== 0);
      trigger = { start: t.start[at], duration: t.dur[at] };
      chain = chainOf(t, at);
    }
    t.flags[0] |= FLAG.cutStart | FLAG.cutEnd;
    t.flags[1] |= FLAG.cutStart | FLAG.cutEnd;
    all.push(t.data());
  }

  const refresher = new Recorder("cache-refresher", "77", random(seed + 1), tick);
  while (refresher.now < span[1] - 320 * MS) {
    refresher.call("refresh", () => {
      for (let i = 0; i < 30; i++) refresher.call("cache", () => refresher.work(0.4 * MS));
    });
    refresher.wait("sleep", 250 * MS);
  }
  all.push(refresher.data());
  const hostile = new Recorder("<b>not markup</b> & \"quotes\"", "78", random(seed + 2), tick);
  hostile.now = 200 * MS;
  hostile.call("hostile", () => hostile.work(90 * MS), FLAG.exception);
  all.push(hostile.data());
  const gc = new Recorder("G1 Main Marker", "12", random(seed + 3), tick);
  all.push(gc.data("gc"));

  const at = trigger.start + 300 * MS;
  return {
    schema: 1,
    title: "OrderApi.place slower than 300 ms",
    created: "2026-03-14T09:26:53.589Z",
    program: "shop-server 4.2 (pid 4711), up 3 h 12 min",
    jvm: "OpenJDK 17.0.14+7, G1, 2 GiB heap",
    host: "shop-eu-3, 16 cores, Linux 6.1 x86-64",
    base_unix_ns: "1773480411790000000",
    tick_ns: tick,
    span,
    trigger: { at, rule: "slow=com.acme.shop.api.OrderApi.*:300ms", thread: 0, method: methodIndex("order"), start: trigger.start, duration: trigger.duration, running: false },
    summary: [
      `OrderApi.place took ${Math.round(trigger.duration / MS)} ms; almost all of it waited for a lock.`,
      `Thread http-nio-8080-exec-1 waited for the monitor of OrderBook, in OrderBook.append at OrderBook.java:97.`,
      `Thread http-nio-8080-exec-3 held it for ${Math.round((stallTo - stallFrom) / MS)} ms: its Journal.flush waited for the file system (fsync). ${threads - 2} more threads queued up behind it.`,
    ],
    methods: NAMES.map((n) => METHODS[n]),
    threads: all,
    pauses,
    chain,
    losses: clean ? {} : { "brake: quota of records a tick": 41_822, overwritten: 1_204 },
    hidden: clean ? null : { slices: 48_210, reason: "trimmed to the longest calls; shorter than 4 µs" },
  };
}

function request(t: Recorder, grain: number, stall: "no" | "waits" | "holds", stallEnds: number): void {
  const r = t.random;
  const order = stall !== "no" || r() < 0.4;
  t.call("socket", () => {
    t.call("http", () => {
      t.wait("read", 30 * US + r() * 200 * US);
      t.call("chain", () => {
        t.call("auth", () => {
          t.call("verify", () => t.work(grain * 0.5));
          t.call("chain", () => {
            t.call("dispatch", () => {
              if (order) t.call("order", () => place(t, grain, stall, stallEnds), stall === "waits" && t.name.endsWith("exec-1") ? FLAG.trigger : 0);
              else t.call("list", () => browse(t, grain));
              t.call("json", () => serialize(t, grain, 3));
            });
          });
        });
      });
    });
  });
}

function place(t: Recorder, grain: number, stall: "no" | "waits" | "holds", stallEnds: number): void {
  t.work(80 * US);
  t.call("price", () => {
    const rules = 4 + Math.floor(t.random() * 10);
    for (let i = 0; i < rules; i++) t.call("rule", () => t.work(grain * 0.6));
  });
  t.call("book", () => {
    t.work(12 * US);
    if (stall === "waits") t.wait("monitor", Math.max(MS, stallEnds - t.now));
    t.call("journal", () => {
      t.work(grain * 0.4);
      t.call("flush", () => t.wait("fsync", stall === "holds" ? Math.max(MS, stallEnds - t.now) : (0.2 + t.random()) * MS));
    });
  });
}

function browse(t: Recorder, grain: number): void {
  t.call("cache", () => t.work(grain * 0.3));
  t.call("repo", () => t.call("query", () => t.call("exec", () => {
    const rows = 5 + Math.floor(t.random() * 30);
    for (let i = 0; i < rows; i++) t.call("next", () => t.work(grain * 0.35));
  })));
  if (t.random() < 0.4) t.call("search", () => {
    const docs = 3 + Math.floor(t.random() * 12);
    for (let i = 0; i < docs; i++) t.call("score", () => t.work(grain * 0.5));
  });
}

function serialize(t: Recorder, grain: number, levels: number): void {
  t.call("bean", () => {
    const fields = 2 + Math.floor(t.random() * 5);
    for (let i = 0; i < fields; i++) {
      t.call("field", () => {
        t.work(grain * 0.3);
        if (levels > 0 && t.random() < 0.3) serialize(t, grain, levels - 1);
      });
    }
  });
}

/** The longest path below call `at`, as the analysis reports it. */
function chainOf(t: Recorder, at: number): ChainData[] {
  const links: ChainData[] = [];
  for (let call = at; call >= 0; ) {
    let longest = -1;
    let inner = 0;
    for (let i = call + 1; i < t.size && t.start[i] <= t.start[call] + t.dur[call] && t.depth[i] > t.depth[call]; i++) {
      if (t.depth[i] !== t.depth[call] + 1) continue;
      inner += t.dur[i];
      if (longest < 0 || t.dur[i] > t.dur[longest]) longest = i;
    }
    const wait = (t.flags[call] & FLAG.wait) === 0 ? null : t.method[call] === methodIndex("monitor") ? "monitor" : "file";
    links.push({ method: t.method[call], start: t.start[call], total: t.dur[call], self: t.dur[call] - inner, wait, depth: links.length });
    call = longest >= 0 && t.dur[longest] > t.dur[call] * 0.02 ? longest : -1;
  }
  return links;
}

/** What the writing program puts in place of the template's placeholder. */
export function encode(report: unknown): string {
  return deflateRawSync(Buffer.from(JSON.stringify(report), "utf8")).toString("base64");
}

/** The template filled with a report. */
export function fill(template: string, report: unknown): string {
  return template.replace("@@LOOKBACK_DATA@@", () => encode(report));
}
