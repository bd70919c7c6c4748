// The panel about the selected call.
import type { Nanos } from "../data/schema.ts";
import { FLAG } from "../data/schema.ts";
import { durationWords, errorWords, flagWords } from "../model/describe.ts";
import { waitKind } from "../model/methods.ts";
import type { Model } from "../model/model.ts";
import { distribution, histogramBin, HISTOGRAM_BINS, type Distribution } from "../model/stats.ts";
import { callees, callers, siblings, type CallRef } from "../model/track.ts";
import { count, duration, offset, percent, plural, wallClock } from "../time/units.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";

/** Callees are summed by method; the longest few tell the story. */
const TOP_CALLEES = 6;
/** Beyond this many callers the middle of the list is folded. */
const MANY_CALLERS = 14;

export class Details {
  readonly element = el("aside", { class: "details", id: "details", "aria-label": "Selected call" });

  constructor(
    private readonly model: Model,
    private readonly state: State,
  ) {
    state.on("selection", () => this.update());
    this.update();
  }

  private update(): void {
    const call = this.state.selected;
    this.element.replaceChildren(...(call === null ? this.empty() : this.describe(call)));
    this.element.scrollTop = 0;
  }

  private empty(): HTMLElement[] {
    return [
      el("h2", {}, "Selected call"),
      el("p", { class: "muted" }, "Click a call in the chart, in the slow call's chain or in the methods, and this panel tells its times, callers and how it compares with other calls of the same method."),
    ];
  }

  private describe(call: CallRef): HTMLElement[] {
    const { model, state } = this;
    const t = model.tracks[call.thread];
    const i = call.slice;
    const name = model.names[t.method[i]];
    const stats = distribution(model, t.method[i]);
    const origin = model.report.span[0];

    const facts = el("dl", { class: "facts" });
    const fact = (term: string, value: string): void => {
      facts.append(el("dt", {}, term), el("dd", {}, value));
    };
    const values = t.values === null ? 0 : t.values[i];
    if (values > 0) fact("Values", model.report.values?.[values - 1] ?? "unknown");
    if (t.values === null) fact("Source", name.source ?? "unknown");
    fact("Thread", `${t.name} (${t.id})`);
    fact("Total", `${durationWords(t.dur[i], t.flags[i])}  ${errorWords(t.err[i])}`);
    fact("Own", `${duration(t.self[i])}  (${percent(t.self[i], t.dur[i])})`);
    fact("Start", `${offset(t.start[i] - origin, precision(t.err[i]))} into the recording`);
    fact("Clock", `${wallClock(model.base, t.start[i])} UTC`);
    const trigger = model.report.trigger;
    if (trigger !== null) fact("Trigger", relative(t.start[i], trigger.at));
    if (t.flags[i] & FLAG.wait) fact("Waits for", waitKind(name.full) ?? "an event (timed exactly)");
    fact("Siblings", `${plural(siblings(t, i), "call")} from the same caller`);
    const notes = flagWords(t.flags[i], name.full).map((w) => el("li", {}, w));

    const actions = el("div", { class: "details-actions" },
      button("Zoom", "Zoom to this call (Z)", () => state.zoomToCall(call)),
      button("‹ Previous", "Previous call of this method (P)", () => state.sameMethod(false)),
      button("Next ›", "Next call of this method (N)", () => state.sameMethod(true)),
      button("Highlight", "Highlight every call of this method", () => state.searchMethod(t.method[i])),
    );

    const parts: HTMLElement[] = [
      el("h2", { class: "mono" }, el("span", { class: "muted" }, name.className, "."), el("wbr"), name.name),
      actions,
      facts,
    ];
    if (notes.length > 0) parts.push(el("ul", { class: "notes" }, ...notes));
    parts.push(...this.methodStats(stats, t.dur[i]), ...this.callees(call), ...this.callers(call));
    return parts;
  }

  private methodStats(stats: Distribution, own: Nanos): HTMLElement[] {
    const plot = el("div", { class: "histogram", "aria-hidden": "true" });
    const peak = Math.max(...stats.histogram);
    const mine = histogramBin(own, stats.histogramFrom, stats.histogramTo);
    for (let b = 0; b < HISTOGRAM_BINS; b++) {
      const bar = el("span", { class: b === mine ? "mine" : "" });
      // Log height: one slow call among thousands must still be seen.
      bar.style.height = `${stats.histogram[b] === 0 ? 0 : 12 + 88 * (Math.log1p(stats.histogram[b]) / Math.log1p(peak))}%`;
      plot.append(bar);
    }
    const cut = stats.cut === 0 ? "" : `; ${count(stats.cut)} of them cut, so these are lower bounds`;
    const parts: HTMLElement[] = [
      el("h3", {}, "All calls of this method"),
      el("p", {}, `${plural(stats.calls, "call")}, median ${duration(stats.median)}, longest ${duration(stats.max)}, together ${duration(stats.total)}${cut}.`),
    ];
    if (stats.calls > 1) {
      parts.push(plot, el("div", { class: "histogram-scale muted" }, el("span", {}, duration(stats.histogramFrom)), el("span", {}, duration(stats.histogramTo))));
    }
    return parts;
  }

  private callees(call: CallRef): HTMLElement[] {
    const t = this.model.tracks[call.thread];
    const made = callees(t, call.slice);
    if (made.length === 0) return [];
    const byMethod = new Map<number, { total: number; calls: number; longest: number }>();
    for (const c of made) {
      const sum = byMethod.get(t.method[c]);
      if (sum === undefined) byMethod.set(t.method[c], { total: t.dur[c], calls: 1, longest: c });
      else {
        sum.total += t.dur[c];
        sum.calls++;
        if (t.dur[c] > t.dur[sum.longest]) sum.longest = c;
      }
    }
    const rows = [...byMethod.entries()].sort(([, a], [, b]) => b.total - a.total);
    const list = el("ul", { class: "call-list" });
    for (const [method, sum] of rows.slice(0, TOP_CALLEES)) {
      const times = sum.calls === 1 ? "" : ` × ${count(sum.calls)}`;
      list.append(this.link({ thread: call.thread, slice: sum.longest }, `${this.model.names[method].short}${times}`, duration(sum.total)));
    }
    const more = rows.length - TOP_CALLEES;
    if (more > 0) list.append(el("li", { class: "muted" }, `and ${plural(more, "more method")}`));
    return [el("h3", {}, "Calls made directly"), list];
  }

  private callers(call: CallRef): HTMLElement[] {
    const t = this.model.tracks[call.thread];
    const chain = callers(t, call.slice);
    if (chain.length === 0) return [el("h3", {}, "Callers"), el("p", { class: "muted" }, "None: the outermost call that was recorded.")];
    const list = el("ol", { class: "call-list" });
    const hidden = chain.length > MANY_CALLERS ? chain.length - MANY_CALLERS : 0;
    chain.forEach((slice, k) => {
      if (hidden > 0 && k >= 4 && k < 4 + hidden) {
        if (k === 4) list.append(el("li", { class: "muted" }, `${plural(hidden, "caller")} in between`));
        return;
      }
      list.append(this.link({ thread: call.thread, slice }, this.model.names[t.method[slice]].short, duration(t.dur[slice])));
    });
    return [el("h3", {}, `Callers, outermost first (${chain.length})`), list];
  }

  private link(call: CallRef, text: string, value: string): HTMLElement {
    const full = this.model.names[this.model.tracks[call.thread].method[call.slice]].full;
    return el("li", {}, button(text, full, () => this.state.select(call, true), "link mono"), el("span", { class: "number" }, value));
  }
}

/** Digits finer than the timing error would be noise. */
function precision(err: Nanos): Nanos {
  return err >= 1e6 ? 1e5 : err >= 1e3 ? 1e3 : 1;
}

function relative(start: Nanos, trigger: Nanos): string {
  const d = start - trigger;
  return d < 0 ? `starts ${duration(-d)} before it` : d === 0 ? "starts with it" : `starts ${duration(d)} after it`;
}
