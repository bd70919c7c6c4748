// Puts the page together and keeps it painted.
//
// The only place that knows all views. Painting happens in one animation frame after a change, however many
// changes there were; slow followers of the visible time (flame graph, table) wait until it comes to rest.
import { buildModel, type Model } from "./model/model.ts";
import { reportText } from "./model/describe.ts";
import type { ReportData } from "./data/schema.ts";
import type { ThemeName } from "./draw/colour.ts";
import type { CallRef } from "./model/track.ts";
import { State } from "./state.ts";
import { buildChain } from "./ui/chain.ts";
import { ChartView } from "./ui/chartview.ts";
import { copyText } from "./ui/copy.ts";
import { Details } from "./ui/details.ts";
import { Dock } from "./ui/dock.ts";
import { el } from "./ui/dom.ts";
import { FlameView } from "./ui/flameview.ts";
import { buildHeader } from "./ui/header.ts";
import { Help } from "./ui/help.ts";
import { listenToKeys } from "./ui/keyboard.ts";
import { buildToolbar } from "./ui/legend.ts";
import { MethodsTable } from "./ui/methodstable.ts";
import { SearchBox } from "./ui/searchbox.ts";
import { followTheme } from "./ui/theme.ts";
import { Tooltip } from "./ui/tooltip.ts";

/** The visible time counts as at rest after this long without change, milliseconds. */
const REST = 140;

/** What the browser tests read; the page itself never does. */
export interface Inspector {
  state(): Readonly<Record<string, unknown>>;
  locate(thread: number, slice: number): { x: number; y: number; width: number; height: number } | null;
  /** Draws now and returns how long it took, milliseconds. */
  drawNow(): number;
  show(from: number, to: number): void;
}

export function startApp(root: HTMLElement, report: ReportData): Inspector {
  const model: Model = buildModel(report);
  document.title = `${report.title} – Lookback`;
  const smooth = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const theme = followTheme((name) => {
    state.setTheme(name);
  });
  const state = new State(model, theme.current(), smooth);

  const tooltip = new Tooltip(document.body);
  const help = new Help();
  const search = new SearchBox(state);
  const chart = new ChartView(model, state, tooltip);
  const details = new Details(model, state);
  const flame = new FlameView(model, state, tooltip);
  const methods = new MethodsTable(model, state);
  const said = el("div", { class: "toast", role: "status" });

  const copy = (): void => {
    void copyText(reportText(report)).then((done) => say(done ? "Copied as text." : "The browser refused the clipboard."));
  };
  let quiet = 0;
  const say = (text: string): void => {
    said.textContent = text;
    said.classList.add("shown");
    window.clearTimeout(quiet);
    quiet = window.setTimeout(() => said.classList.remove("shown"), 2500);
  };

  let resizeWanted = true;
  const dock = new Dock([
    { id: "chain", label: "Slow call", panel: buildChain(model, state), shown: () => undefined },
    { id: "flame", label: "Flame graph", panel: flame.element, shown: (s) => flame.setShown(s) },
    { id: "methods", label: "Methods", panel: methods.element, shown: (s) => methods.setShown(s) },
  ], details.element, () => {
    resizeWanted = true;
    paint();
  });
  const header = buildHeader(model, { copy, theme: () => theme.toggle(), help: () => help.toggle(), trigger: () => state.zoomToTrigger() });
  const toolbar = buildToolbar(model, state, search.element);
  root.replaceChildren(header, toolbar, chart.element, dock.splitter, dock.element, said);

  let scheduled = false;
  let rest = 0;
  let frames = 0;
  let lastFrame = 0;
  const paint = (): void => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(frame);
  };
  const frame = (now: number): void => {
    scheduled = false;
    if (resizeWanted) {
      resizeWanted = false;
      chart.resize();
      flame.resized();
    }
    state.step(now, chart.width);
    const before = performance.now();
    chart.draw();
    lastFrame = performance.now() - before;
    frames++;
    if (!state.settled) paint();
  };
  for (const change of ["view", "selection", "search", "layout", "theme", "hover"] as const) state.on(change, paint);
  state.on("view", () => {
    window.clearTimeout(rest);
    rest = window.setTimeout(() => {
      flame.viewSettled();
      methods.viewSettled();
    }, REST);
  });
  new ResizeObserver(() => {
    resizeWanted = true;
    paint();
  }).observe(chart.element);

  // Paper is white: print the canvases light whatever the screen shows. Drawn at once, no frame comes in between.
  const printAs = (name: ThemeName): void => {
    document.documentElement.dataset["theme"] = name;
    state.setTheme(name);
    chart.draw();
  };
  window.addEventListener("beforeprint", () => printAs("light"));
  window.addEventListener("afterprint", () => printAs(theme.current()));

  listenToKeys({
    zoom: (factor) => state.zoom(factor, state.cursor, true),
    pan: (share) => state.pan(share),
    scroll: (rows) => chart.scrollBy(rows),
    fit: () => state.fit(),
    toTrigger: () => state.zoomToTrigger(),
    toSelected: () => state.zoomToCall(state.selected),
    walk: (direction) => state.walk(direction),
    sameMethod: (forward) => state.sameMethod(forward),
    nextMatch: (forward) => state.nextMatch(forward),
    toggleAll: () => state.toggleAll(),
    toggleThread: () => {
      const thread = state.selected?.thread ?? model.order[0];
      if (thread !== undefined) state.toggle(thread);
    },
    focusSearch: () => search.focus(),
    tab: (index) => dock.open(index),
    copy,
    help: () => help.toggle(),
    escape: () => {
      if (state.found !== null) state.search("");
      else state.select(null, false);
    },
  }, () => help.isOpen);

  // The report opens on what it is about: the slow call, selected, with some time before it.
  if (report.trigger !== null) {
    const { start, at, duration } = report.trigger;
    const end = Math.max(at, start + duration);
    const before = Math.max(end - start, report.tick_ns * 10);
    state.show({ from: start - before * 0.6, to: end + before * 0.15 });
    if (state.trigger !== null) state.select(state.trigger, false);
  }
  // A profile has no such thing: where the time went is what somebody wants to know.
  if (report.samples?.only === true) dock.open(1);
  paint();

  return {
    state: () => ({
      view: state.view, settled: state.settled, bounds: model.bounds, selected: named(model, state.selected), selectedRef: state.selected,
      hovered: named(model, state.hovered), query: state.query, foundCalls: state.foundCalls,
      foundMethods: state.found?.methods.length ?? 0, foundRank: state.foundRank, theme: state.theme, tab: dock.activeTab,
      open: [...state.open], scroll: chart.scrollTop, frames, lastFrame, drawn: chart.drawn, calls: model.calls, trigger: state.trigger, flame: flame.describe(),
    }),
    locate: (thread, slice) => chart.locate({ thread, slice }),
    drawNow: () => {
      const before = performance.now();
      chart.draw();
      return performance.now() - before;
    },
    show: (from, to) => state.show({ from, to }),
  };
}

function named(model: Model, call: CallRef | null): string | null {
  return call === null ? null : model.names[model.tracks[call.thread].method[call.slice]].full;
}
