// What the reader has chosen: visible time, selection, search, open threads, theme.
//
// The only mutable thing the views share. A view reads it and asks it to change; it never calls another view.
// Changes are announced by kind, and drawing happens at most once a frame (the app listens and schedules).
// Must not touch the document.
import type { MethodIndex, Nanos, ThreadIndex } from "./data/schema.ts";
import { buildPalette, type Palette, type ThemeName } from "./draw/colour.ts";
import { layOut, type Layout } from "./draw/layout.ts";
import { countCalls, nextCall, rankOf } from "./model/find.ts";
import { matchMethods, type Matches } from "./model/methods.ts";
import { triggerCall, type Model } from "./model/model.ts";
import { callers, type CallRef } from "./model/track.ts";
import { around, between, clampRange, panBy, sameOnScreen, zoomAround, type Range } from "./time/viewport.ts";

export type Change = "view" | "selection" | "search" | "layout" | "theme" | "hover";

export class State {
  view: Range;
  selected: CallRef | null = null;
  hovered: CallRef | null = null;
  cursor: Nanos | null = null;
  query = "";
  found: Matches | null = null;
  foundCalls = 0;
  /** 1-based place of the selected call among the matches; 0 when it is none of them. */
  foundRank = 0;
  /** By thread: running count of matches over lane positions. */
  matches: Uint32Array[] | null = null;
  readonly open = new Set<ThreadIndex>();
  layout: Layout;
  theme: ThemeName;
  palette: Palette;
  readonly trigger: CallRef | null;
  /** Set by the selection: the chart scrolls until this call is on screen. */
  reveal: CallRef | null = null;

  private target: Range;
  private animatedAt = 0;
  private readonly listeners = new Map<Change, (() => void)[]>();

  constructor(
    readonly model: Model,
    theme: ThemeName,
    /** Whether movement may be animated. */
    private readonly smooth: boolean,
  ) {
    this.view = this.target = model.bounds;
    this.theme = theme;
    this.palette = buildPalette(model.names, theme);
    this.trigger = triggerCall(model);
    const first = model.report.trigger?.thread ?? model.order[0];
    if (first !== undefined) this.open.add(first);
    this.layout = layOut(model, this.open);
  }

  on(change: Change, listener: () => void): void {
    const list = this.listeners.get(change);
    if (list === undefined) this.listeners.set(change, [listener]);
    else list.push(listener);
  }

  private announce(...changes: Change[]): void {
    for (const c of changes) for (const listener of this.listeners.get(c) ?? []) listener();
  }

  // The visible time.

  /** Shows `range` at once. */
  show(range: Range): void {
    this.view = this.target = clampRange(range, this.model.bounds);
    this.announce("view");
  }

  /** Moves to `range` over the next frames. */
  glide(range: Range): void {
    this.target = clampRange(range, this.model.bounds);
    if (!this.smooth) this.view = this.target;
    this.announce("view");
  }

  get settled(): boolean {
    return this.view === this.target;
  }

  /** One step of a movement; called once a frame with the frame's time in milliseconds. */
  step(now: number, width: number): void {
    if (this.settled) {
      this.animatedAt = 0;
      return;
    }
    const elapsed = this.animatedAt === 0 ? 16 : Math.min(50, now - this.animatedAt);
    this.animatedAt = now;
    // Exponential approach with a time constant of 45 ms: quick to answer, done in about a fifth of a second.
    this.view = between(this.view, this.target, 1 - Math.exp(-elapsed / 45));
    if (sameOnScreen(this.view, this.target, width)) this.view = this.target;
    this.announce("view");
  }

  zoom(factor: number, anchor: Nanos | null, smooth: boolean): void {
    const from = smooth ? this.target : this.view;
    const next = zoomAround(from, anchor ?? (from.from + from.to) / 2, factor, this.model.bounds);
    if (smooth) this.glide(next);
    else this.show(next);
  }

  pan(share: number): void {
    this.glide(panBy(this.target, share, this.model.bounds));
  }

  fit(): void {
    this.glide(this.model.bounds);
  }

  zoomToCall(call: CallRef | null): void {
    if (call === null) return;
    const t = this.model.tracks[call.thread];
    this.glide(around(t.start[call.slice], t.start[call.slice] + t.dur[call.slice], 0.12, this.model.bounds));
    this.revealCall(call);
  }

  zoomToTrigger(): void {
    const trigger = this.model.report.trigger;
    if (trigger === null) return;
    const end = Math.max(trigger.start + trigger.duration, trigger.at);
    this.glide(around(trigger.start, end, 0.12, this.model.bounds));
    if (this.trigger !== null) this.revealCall(this.trigger);
  }

  // Selection.

  select(call: CallRef | null, bringIntoView: boolean): void {
    this.selected = call;
    this.foundRank = this.rankOfSelected();
    if (call !== null && bringIntoView) {
      const t = this.model.tracks[call.thread];
      const [start, end] = [t.start[call.slice], t.start[call.slice] + t.dur[call.slice]];
      const width = this.target.to - this.target.from;
      const tooWide = end - start > width * 1.5;
      const tooThin = end - start < width / 400;
      const outside = start > this.target.to - width * 0.02 || end < this.target.from + width * 0.02;
      if (tooThin || tooWide) this.glide(around(start, end, tooThin ? 12 : 0.15, this.model.bounds));
      else if (outside || start < this.target.from || end > this.target.to) {
        const middle = (start + end) / 2;
        this.glide({ from: middle - width / 2, to: middle + width / 2 });
      }
      this.revealCall(call);
    }
    this.announce("selection");
  }

  /** Opens the call's thread if its depth is not drawn, and has the chart scroll to it. */
  private revealCall(call: CallRef): void {
    if (!this.open.has(call.thread)) {
      this.open.add(call.thread);
      this.layout = layOut(this.model, this.open);
      this.announce("layout");
    }
    this.reveal = call;
  }

  private rankOfSelected(): number {
    const call = this.selected;
    if (call === null || this.found === null) return 0;
    const matches = this.found.mask[this.model.tracks[call.thread].method[call.slice]] !== 0;
    return matches ? rankOf(this.model, this.found.mask, call) : 0;
  }

  /** To the next or previous call of the selected call's method. */
  sameMethod(forward: boolean): void {
    const call = this.selected;
    if (call === null) return;
    const mask = new Uint8Array(this.model.names.length);
    mask[this.model.tracks[call.thread].method[call.slice]] = 1;
    const next = nextCall(this.model, mask, call, forward);
    if (next !== null) this.select(next.call, true);
  }

  /** To the caller, the first callee, or a neighbour at the same depth. */
  walk(direction: "up" | "down" | "left" | "right"): void {
    const call = this.selected;
    if (call === null) return;
    const t = this.model.tracks[call.thread];
    let to = -1;
    if (direction === "up") to = t.parent[call.slice];
    else if (direction === "down") {
      if (call.slice + 1 < t.count && t.parent[call.slice + 1] === call.slice) to = call.slice + 1;
    } else {
      const by = direction === "left" ? -1 : 1;
      for (let i = call.slice + by; i >= 0 && i < t.count; i += by) {
        if (t.depth[i] === t.depth[call.slice]) {
          to = i;
          break;
        }
      }
    }
    if (to >= 0) this.select({ thread: call.thread, slice: to }, true);
  }

  callersOfSelected(): number[] {
    return this.selected === null ? [] : callers(this.model.tracks[this.selected.thread], this.selected.slice);
  }

  hover(call: CallRef | null, cursor: Nanos | null): void {
    this.hovered = call;
    this.cursor = cursor;
    this.announce("hover");
  }

  // Search.

  search(query: string): void {
    this.query = query;
    this.found = matchMethods(this.model.names, query);
    this.foundCalls = this.found === null ? 0 : countCalls(this.model, this.found.mask);
    this.matches = this.found === null ? null : this.countMatches(this.found.mask);
    this.foundRank = this.rankOfSelected();
    this.announce("search");
  }

  /** Searches for exactly this method. */
  searchMethod(method: MethodIndex): void {
    this.search(`"${this.model.names[method].full}"`);
  }

  nextMatch(forward: boolean): void {
    if (this.found === null) return;
    const next = nextCall(this.model, this.found.mask, this.selected, forward);
    if (next !== null) this.select(next.call, true);
  }

  private countMatches(mask: Uint8Array): Uint32Array[] {
    return this.model.tracks.map(({ lanes }) => {
      const running = new Uint32Array(lanes.method.length + 1);
      for (let k = 0; k < lanes.method.length; k++) running[k + 1] = running[k] + mask[lanes.method[k]];
      return running;
    });
  }

  // Rows and theme.

  toggle(thread: ThreadIndex): void {
    if (!this.open.delete(thread)) this.open.add(thread);
    this.layout = layOut(this.model, this.open);
    this.announce("layout");
  }

  /** Opens every thread, or closes all when all are open. */
  toggleAll(): void {
    const all = this.open.size === this.model.tracks.length;
    this.open.clear();
    if (!all) for (const t of this.model.order) this.open.add(t);
    this.layout = layOut(this.model, this.open);
    this.announce("layout");
  }

  setTheme(theme: ThemeName): void {
    this.theme = theme;
    this.palette = buildPalette(this.model.names, theme);
    this.announce("theme");
  }
}
