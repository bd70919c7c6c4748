// The slow call's chain: where its time went, from the outside in, as an indented table.
import type { ChainData } from "../data/schema.ts";
import { chainWait } from "../model/describe.ts";
import { findCall, type Model } from "../model/model.ts";
import { duration, percent, plural } from "../time/units.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";

/** Indentation stops growing here, or a deep chain would push its names out of the panel. */
const MAX_INDENT = 24;
/** A longer chain is endless recursion; its first rows say so. */
const MAX_ROWS = 400;

export function buildChain(model: Model, state: State): HTMLElement {
  const { chain, trigger } = model.report;
  if (chain.length === 0) {
    const why = trigger === null
      ? "Nothing fired in this recording, so there is no slow call to explain. Select any call in the chart, or open the flame graph."
      : "The slow call's chain is not in this report: its records were lost or left out. The chart shows what is known.";
    return el("div", { class: "panel-empty" }, why);
  }
  const whole = Math.max(1, chain[0].total);
  const body = el("tbody");
  const outermost = chain.reduce((least, c) => Math.min(least, c.depth), Infinity);
  for (const link of chain.slice(0, MAX_ROWS)) body.append(row(model, state, link, whole, outermost));
  if (chain.length > MAX_ROWS) {
    body.append(el("tr", {}, el("td", { colspan: "5", class: "muted" }, `and ${plural(chain.length - MAX_ROWS, "more call")} below`)));
  }
  return el("div", { class: "panel-scroll" },
    el("table", { class: "chain", id: "chain" },
      el("thead", {}, el("tr", {},
        el("th", { scope: "col" }, "Call, from the outside in"),
        el("th", { scope: "col", class: "number" }, "Total"),
        el("th", { scope: "col", class: "number" }, "Own"),
        el("th", { scope: "col", class: "bar-column" }, "Share of the slow call"),
        el("th", { scope: "col" }, "Waits"))),
      body));
}

function row(model: Model, state: State, link: ChainData, whole: number, outermost: number): HTMLElement {
  const name = model.names[link.method];
  const go = button(el("span", {}, el("span", { class: "class-part" }, `${name.className.slice(name.pack.length ? name.pack.length + 1 : 0)}.`), el("b", {}, name.name)), name.full, () => {
    const thread = model.report.trigger?.thread;
    const call = thread === undefined ? null : findCall(model, thread, link.method, link.start);
    if (call !== null) state.select(call, true);
  }, "link mono");
  const cell = el("td", { class: "chain-name" }, go);
  cell.style.paddingLeft = `${8 + Math.min(link.depth - outermost, MAX_INDENT) * 13}px`;
  if (name.pack !== "") cell.append(el("span", { class: "muted pack" }, name.pack));
  const offset = Math.max(0, Math.min(1, (link.start - model.report.chain[0].start) / whole));
  const total = el("span", { class: "share-total" });
  total.style.left = `${offset * 100}%`;
  total.style.width = `${Math.min(1 - offset, link.total / whole) * 100}%`;
  const own = el("span", { class: link.wait === null ? "share-own" : "share-own share-wait" });
  own.style.left = `${offset * 100}%`;
  own.style.width = `${Math.min(1 - offset, link.self / whole) * 100}%`;
  const bars = el("div", { class: "share", title: `${percent(link.total, whole)} total, ${percent(link.self, whole)} own` }, total, own);
  const hot = link.self >= whole * 0.25;
  return el("tr", { class: hot ? "hot" : "" },
    cell,
    el("td", { class: "number" }, duration(link.total)),
    el("td", { class: "number" }, duration(link.self)),
    el("td", { class: "bar-column" }, bars),
    el("td", {}, link.wait === null ? "" : el("span", { class: "pill" }, chainWait(link.wait))));
}
