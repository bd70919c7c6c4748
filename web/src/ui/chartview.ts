// The chart with its names, axis and overview, and what the pointer does to them.
//
// The names at the left are real buttons that scroll natively beside a sticky canvas of the visible part, so a
// thousand threads cost a thousand small elements and one screen of pixels. The view owns sizes and gestures;
// drawing is in draw/, choices are in the state.
import type { Nanos } from "../data/schema.ts";
import { durationWords, errorWords, flagWords } from "../model/describe.ts";
import type { Model } from "../model/model.ts";
import type { CallRef } from "../model/track.ts";
import { count, duration, offset, percent, plural } from "../time/units.ts";
import { clampRange, type Range } from "../time/viewport.ts";
import { AXIS_HEIGHT, drawAxis } from "../draw/axis.ts";
import { fit, surface, type Surface } from "../draw/canvas.ts";
import { Chart, type ChartFrame, type ChartHit } from "../draw/chart.ts";
import { ROW, type Strip } from "../draw/layout.ts";
import { Overview, OVERVIEW_HEIGHT, GRIP } from "../draw/overview.ts";
import type { State } from "../state.ts";
import { el } from "./dom.ts";
import type { Tooltip, TooltipText } from "./tooltip.ts";

/** A press that moves less than this is a click, CSS pixels. */
const CLICK_SLOP = 4;
/** Names of pools differ in their last characters: these many are never cut away. */
const NAME_TAIL = 9;
/** Room for the last thread to scroll clear of the edge. */
const FOOT = 24;

export class ChartView {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", { class: "chart", id: "chart", tabindex: "0", role: "img" });
  private readonly names = el("div", { class: "names" });
  private readonly spacer = el("div", { class: "spacer" }, this.names, this.canvas);
  private readonly scroller = el("div", { class: "scroller", id: "scroller" }, this.spacer);
  private readonly anchor = el("div", { class: "anchor" });
  private readonly axisCanvas = el("canvas", { class: "axis", "aria-hidden": "true" });
  private readonly overviewCanvas = el("canvas", { class: "overview", id: "overview", "aria-hidden": "true" });
  private readonly axis: Surface;
  private readonly chart: Chart;
  private readonly overview: Overview;
  private readonly nameButtons = new Map<number, HTMLButtonElement>();
  private marked: Range | null = null;
  private namesWidth = 0;

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly tooltip: Tooltip,
  ) {
    const whole = duration(model.report.span[1] - model.report.span[0]);
    this.element = el("section", { class: "timeline", "aria-label": "Call chart" },
      el("div", { class: "overview-row" }, el("div", { class: "corner" }, el("b", {}, plural(model.tracks.length, "thread")), el("span", { class: "muted" }, `${whole} recorded`)), this.overviewCanvas),
      el("div", { class: "axis-row" }, this.anchor, this.axisCanvas),
      this.scroller,
    );
    this.canvas.setAttribute("aria-label", `Call chart: ${plural(model.calls, "call")} of ${plural(model.tracks.length, "thread")} over ${whole}. W, S, A and D move, slash searches; the selected call is described in the details panel.`);
    this.axis = surface(this.axisCanvas);
    this.chart = new Chart(model, surface(this.canvas));
    this.overview = new Overview(model, surface(this.overviewCanvas));
    this.makeNames();
    state.on("layout", () => this.placeNames());
    this.placeNames();
    this.listenToChart();
    this.listenToOverview();
  }

  get width(): number {
    return this.chart.surface.width;
  }

  get drawn(): number {
    return this.chart.drawn;
  }

  get scrollTop(): number {
    return this.scroller.scrollTop;
  }

  scrollBy(rows: number): void {
    this.scroller.scrollTop += rows * ROW;
  }

  /** Takes the element's size; call when it may have changed. */
  resize(): void {
    this.namesWidth = this.names.offsetWidth;
    const width = Math.max(50, this.scroller.clientWidth - this.namesWidth);
    fit(this.chart.surface, width, Math.max(20, this.scroller.clientHeight));
    fit(this.axis, width, AXIS_HEIGHT);
    fit(this.overview.surface, width, OVERVIEW_HEIGHT);
    this.sizeSpacer();
  }

  draw(): void {
    this.scrollToReveal();
    const frame = this.frame();
    this.chart.draw(frame);
    const ticks = drawAxis(this.axis, this.model, frame.view, frame.palette, frame.cursor);
    this.overview.draw(frame.view, frame.palette);
    const width = `${duration(frame.view.to - frame.view.from)} visible`;
    this.anchor.replaceChildren(
      ...(ticks.anchor === null ? [] : [el("b", {}, `${offset(ticks.anchor, ticks.step * 100)} +`)]),
      el("span", { class: "muted" }, width));
  }

  private frame(): ChartFrame {
    const s = this.state;
    return {
      view: s.view, scroll: this.scroller.scrollTop, layout: s.layout, palette: s.palette,
      mask: s.found?.mask ?? null, matches: s.matches, selected: s.selected, hovered: s.hovered,
      trigger: s.trigger, marked: this.marked, cursor: s.cursor,
    };
  }

  /** Where a call is drawn, in page coordinates; null when off screen. For tests and for the pointer. */
  locate(call: CallRef): { x: number; y: number; width: number; height: number } | null {
    const box = this.chart.boxOf(this.frame(), call);
    if (box === null) return null;
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: left + box.x, y: top + box.y, width: box.width, height: box.height };
  }

  private makeNames(): void {
    const triggerThread = this.model.report.trigger?.thread;
    for (const thread of this.model.order) {
      const t = this.model.tracks[thread];
      const parts: Node[] = [el("span", { class: "chevron", "aria-hidden": "true" }), threadName(t.name)];
      const share = percent(t.busy, this.model.report.span[1] - this.model.report.span[0]);
      const facts = t.kind === "gc" ? "collector" : `${share} busy`;
      const lost = t.gaps.reduce((n, g) => n + g[2], 0);
      const sub = el("span", { class: "thread-facts" }, facts);
      if (lost > 0) sub.append(el("span", { class: "lost" }, ` · ${count(lost)} lost`));
      parts.push(sub);
      const b = el("button", { type: "button", class: thread === triggerThread ? "name name-trigger" : "name", title: `${t.name} (${t.id}): ${plural(t.count, "call")}, busy ${duration(t.busy)}, waiting ${duration(t.waiting)}. Press to open or close.` }, el("span", { class: "name-inner" }, ...parts));
      b.addEventListener("click", () => this.state.toggle(thread));
      this.nameButtons.set(thread, b);
      this.names.append(b);
    }
  }

  private placeNames(): void {
    for (const strip of this.state.layout.strips) {
      const b = this.nameButtons.get(strip.thread);
      if (b === undefined) continue;
      b.style.top = `${strip.top}px`;
      b.style.height = `${strip.height - 3}px`;
      b.setAttribute("aria-expanded", String(strip.open));
    }
    this.sizeSpacer();
  }

  private sizeSpacer(): void {
    const height = Math.max(this.state.layout.height + FOOT, this.scroller.clientHeight);
    this.spacer.style.height = `${height}px`;
    this.names.style.height = `${height}px`;
  }

  private scrollToReveal(): void {
    const call = this.state.reveal;
    if (call === null) return;
    this.state.reveal = null;
    const strip = this.state.layout.strips.find((s) => s.thread === call.thread);
    if (strip === undefined) return;
    const depth = Math.min(this.model.tracks[call.thread].depth[call.slice], Math.max(0, strip.rows - 1));
    const top = strip.top + depth * strip.row;
    const room = this.scroller.clientHeight;
    const at = this.scroller.scrollTop;
    if (top < at + ROW || top + ROW * 2 > at + room) {
      // The whole thread if it fits, else the call in the middle.
      this.scroller.scrollTop = strip.height < room ? Math.max(0, strip.top - 6) : Math.max(0, top - room / 2);
    }
  }

  private timeAt(x: number): Nanos {
    const { from, to } = this.state.view;
    return from + (x / this.width) * (to - from);
  }

  private listenToChart(): void {
    this.scroller.addEventListener("scroll", () => this.state.hover(null, null));
    this.scroller.addEventListener("wheel", (e) => {
      const box = this.canvas.getBoundingClientRect();
      const x = e.clientX - box.left;
      // Over the names, or with Alt, the wheel scrolls as everywhere else.
      if (x < 0) return;
      e.preventDefault();
      if (e.altKey) {
        this.scroller.scrollTop += e.deltaY;
        return;
      }
      const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const sideways = e.shiftKey && e.deltaX === 0 ? e.deltaY : e.deltaX;
      if (Math.abs(sideways) > Math.abs(e.deltaY) || e.shiftKey) {
        const by = ((sideways * unit) / this.width) * (this.state.view.to - this.state.view.from);
        this.state.show({ from: this.state.view.from + by, to: this.state.view.to + by });
        return;
      }
      // A notch of a mouse wheel is about 100; a trackpad sends many small steps. Cut so that no step leaps.
      const delta = Math.max(-240, Math.min(240, e.deltaY * unit));
      // A pinch arrives as wheel with Ctrl and much smaller steps; a mouse wheel with Ctrl stays finer.
      const gain = e.ctrlKey ? (Math.abs(delta) < 40 ? 0.01 : 0.0012) : 0.0024;
      this.state.zoom(Math.exp(delta * gain), this.timeAt(x), false);
    }, { passive: false });

    let press: { x: number; y: number; view: Range; scroll: number; moved: boolean; mark: Nanos | null } | null = null;
    const point = (e: MouseEvent): { x: number; y: number } => {
      const box = this.canvas.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      const { x, y } = point(e);
      press = { x, y, view: this.state.view, scroll: this.scroller.scrollTop, moved: false, mark: e.shiftKey ? this.timeAt(x) : null };
      this.canvas.setPointerCapture(e.pointerId);
      this.tooltip.hide();
    });
    this.canvas.addEventListener("pointermove", (e) => {
      const { x, y } = point(e);
      if (press === null) {
        this.point(x, y, e);
        return;
      }
      if (Math.hypot(x - press.x, y - press.y) > CLICK_SLOP) press.moved = true;
      if (!press.moved) return;
      if (press.mark !== null) {
        const t = this.timeAt(x);
        this.marked = { from: Math.min(press.mark, t), to: Math.max(press.mark, t) };
        this.state.hover(null, t);
        return;
      }
      this.canvas.classList.add("dragging");
      const by = ((press.x - x) / this.width) * (press.view.to - press.view.from);
      this.scroller.scrollTop = press.scroll + press.y - y;
      this.state.show({ from: press.view.from + by, to: press.view.to + by });
    });
    const release = (e: PointerEvent): void => {
      const { x, y } = point(e);
      const was = press;
      press = null;
      this.canvas.classList.remove("dragging");
      if (was === null) return;
      if (this.marked !== null) {
        const range = this.marked;
        this.marked = null;
        this.state.glide(range);
      } else if (!was.moved && e.type === "pointerup") {
        const hit = this.chart.hit(this.frame(), x, y);
        this.state.select(hit.call, false);
        if (hit.call === null && hit.strip !== null && !hit.strip.open) this.state.toggle(hit.strip.thread);
      }
    };
    this.canvas.addEventListener("pointerup", release);
    this.canvas.addEventListener("pointercancel", release);
    this.canvas.addEventListener("pointerleave", () => {
      if (press !== null) return;
      this.tooltip.hide();
      this.state.hover(null, null);
    });
    this.canvas.addEventListener("dblclick", (e) => {
      const { x, y } = point(e);
      const { call } = this.chart.hit(this.frame(), x, y);
      if (call !== null) this.state.zoomToCall(call);
    });
  }

  private point(x: number, y: number, e: PointerEvent): void {
    const hit = this.chart.hit(this.frame(), x, y);
    this.state.hover(hit.call, hit.time);
    const text = this.tooltipFor(hit);
    if (text === null) this.tooltip.hide();
    else this.tooltip.show(text, e.clientX, e.clientY);
  }

  private tooltipFor(hit: ChartHit): TooltipText | null {
    if (hit.call !== null) return this.callTooltip(hit.call);
    if (hit.strip !== null && hit.gap >= 0) return this.gapTooltip(hit.strip, hit.gap);
    if (hit.pause >= 0) {
      const [, dur, name] = this.model.pauses[hit.pause];
      return { title: name, facts: [["Paused", duration(dur)]], notes: ["the VM stopped every thread"] };
    }
    return null;
  }

  private callTooltip(call: CallRef): TooltipText {
    const t = this.model.tracks[call.thread];
    const i = call.slice;
    const full = this.model.names[t.method[i]].full;
    return {
      title: full,
      facts: [
        ["Took", `${durationWords(t.dur[i], t.flags[i])}  ${errorWords(t.err[i])}`],
        ["Own", `${duration(t.self[i])}  ${percent(t.self[i], t.dur[i])}`],
        ["Start", offset(t.start[i] - this.model.report.span[0], t.err[i] >= 1e6 ? 1e5 : 1e3)],
        ["Thread", t.name],
      ],
      notes: flagWords(t.flags[i], full),
    };
  }

  private gapTooltip(strip: Strip, gap: number): TooltipText {
    const [from, to, records, cause] = this.model.tracks[strip.thread].gaps[gap];
    return { title: `${plural(records, "record")} lost`, facts: [["Cause", cause], ["For", duration(to - from)]], notes: ["calls in here were not recorded; those that reach over it were"] };
  }

  private listenToOverview(): void {
    type Grip = "left" | "right" | "body" | "new";
    let drag: { grip: Grip; at: number; view: Range } | null = null;
    const gripAt = (x: number): Grip => {
      const a = this.overview.x(this.state.view.from);
      const b = this.overview.x(this.state.view.to);
      if (Math.abs(x - a) <= GRIP && a > 1) return "left";
      if (Math.abs(x - b) <= GRIP && b < this.width - 1) return "right";
      const whole = a <= 1 && b >= this.width - 1;
      return x > a && x < b && !whole ? "body" : "new";
    };
    const canvas = this.overviewCanvas;
    const x = (e: PointerEvent): number => e.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      drag = { grip: gripAt(x(e)), at: x(e), view: this.state.view };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (drag === null) {
        const cursors: Readonly<Record<Grip, string>> = { left: "ew-resize", right: "ew-resize", body: "grab", new: "crosshair" };
        canvas.style.cursor = cursors[gripAt(x(e))];
        return;
      }
      const t = this.overview.timeAt(x(e));
      const { view } = drag;
      const by = t - this.overview.timeAt(drag.at);
      if (drag.grip === "body") this.state.show({ from: view.from + by, to: view.to + by });
      else if (drag.grip === "left") this.state.show({ from: Math.min(t, view.to), to: view.to });
      else if (drag.grip === "right") this.state.show({ from: view.from, to: Math.max(t, view.from) });
      else if (Math.abs(x(e) - drag.at) > CLICK_SLOP) {
        const start = this.overview.timeAt(drag.at);
        this.state.show({ from: Math.min(start, t), to: Math.max(start, t) });
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      // A click beside the window moves it there.
      if (drag !== null && drag.grip === "new" && Math.abs(x(e) - drag.at) <= CLICK_SLOP) {
        const middle = this.overview.timeAt(x(e));
        const half = (drag.view.to - drag.view.from) / 2;
        this.state.glide(clampRange({ from: middle - half, to: middle + half }, this.model.bounds));
      }
      drag = null;
    });
    canvas.addEventListener("dblclick", () => this.state.fit());
  }
}

/** A thread's name that is cut in its middle when there is no room. */
function threadName(name: string): HTMLElement {
  const cut = Math.max(0, name.length - NAME_TAIL);
  return el("span", { class: "thread-name" }, el("span", { class: "name-head" }, name.slice(0, cut)), el("span", { class: "name-tail" }, name.slice(cut)));
}
