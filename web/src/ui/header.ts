// The top of the page: what happened, in words, before any picture.
//
// Real text in reading order, so that it can be selected, printed and read aloud. The verdict's first sentence is
// the page's most important line and looks it.
import type { ReportData } from "../data/schema.ts";
import { lossLine } from "../model/describe.ts";
import type { Model } from "../model/model.ts";
import { duration, plural, utcDate, wallClock } from "../time/units.ts";
import { button, el } from "./dom.ts";

export interface HeaderActions {
  readonly copy: () => void;
  readonly theme: () => void;
  readonly help: () => void;
  readonly trigger: () => void;
}

export function brand(): HTMLElement {
  return el("span", { class: "brand", "aria-label": "Lookback" }, el("span", { class: "brand-mark", "aria-hidden": "true" }), "Lookback");
}

export function buildHeader(model: Model, actions: HeaderActions): HTMLElement {
  const { report } = model;
  const copy = button("Copy as text", "Copy the finding as text (C)", actions.copy, "button");
  copy.id = "copy";
  const bar = el("div", { class: "bar" },
    brand(),
    el("h1", {}, report.title),
    el("dl", { class: "where" }, ...where(report)),
    el("div", { class: "bar-actions" },
      copy,
      button("Theme", "Switch between light and dark", actions.theme, "button"),
      button("?", "Keys and gestures (?)", actions.help, "button square"),
    ),
  );

  const verdict = el("div", { class: "verdict", id: "verdict" });
  report.summary.forEach((sentence, i) => verdict.append(el("p", { class: i === 0 ? "headline" : "" }, sentence)));
  if (report.summary.length === 0) verdict.append(el("p", { class: "headline" }, report.trigger === null ? "A recording made on request; nothing fired." : "A detector fired."));
  const loss = lossLine(report);
  const lost = el("p", { class: loss.lost ? "loss loss-some" : "loss loss-none", id: "losses" }, el("span", { class: "loss-mark", "aria-hidden": "true" }, loss.lost ? "!" : "✓"), loss.text);

  const facts = el("dl", { class: "facts header-facts" });
  const fact = (name: string, value: string | Node): void => {
    facts.append(el("dt", {}, name), el("dd", {}, value));
  };
  const trigger = report.trigger;
  if (trigger !== null) {
    const name = model.names[trigger.method];
    const took = `${duration(trigger.duration)}${trigger.running ? " so far, still running" : ""}`;
    const call = button(`${name.short} — ${took}`, `Zoom to ${name.full} (T)`, actions.trigger, "link");
    fact("Slow call", call);
    fact("Thread", report.threads[trigger.thread].name);
    fact("Rule", el("code", {}, trigger.rule));
    fact("Fired", `${utcDate(model.base, trigger.at)} ${wallClock(model.base, trigger.at)} UTC`);
  }
  // Native programs have no tick: each of their times is exact.
  const tick = report.tick_ns === 0 ? "" : `, tick ${duration(report.tick_ns)}`;
  const whole = `${plural(model.tracks.length, "thread")} in ${duration(report.span[1] - report.span[0])}`;
  if (report.samples?.only === true) fact("Sampled", `${plural(report.samples.at.length, "sample")} of ${whole}; calls are made of them`);
  else fact("Recorded", `${plural(model.calls, "call")} of ${whole}${tick}`);
  const dropped = report.dropped ?? [];
  if (dropped.length > 0) {
    const title = dropped.slice(0, 40).join("\n") + (dropped.length > 40 ? `\nand ${dropped.length - 40} more` : "");
    fact("Not traced", el("span", { id: "dropped", title }, `${plural(dropped.length, "method")}, to keep within the budget`));
  }
  const waiting = report.waiting_classes ?? 0;
  if (waiting > 0) fact("Not traced yet", `${plural(waiting, "class", "classes")} of libraries, at this first start`);
  if (report.costs !== undefined) fact("Tracing cost", report.costs);
  return el("header", { class: "top" }, bar, el("div", { class: "finding" }, verdict, facts, lost));
}

function where(report: ReportData): HTMLElement[] {
  const parts: readonly (readonly [string, string])[] = [["Program", report.program], ["JVM", report.jvm], ["Machine", report.host]];
  return parts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => el("div", { title: `${name}: ${value}` }, el("dt", { class: "visually-hidden" }, name), el("dd", {}, value)));
}
