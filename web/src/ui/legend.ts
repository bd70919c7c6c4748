// What the colours and stripes mean, and buttons for the commonest moves.
import type { Model } from "../model/model.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";

export function buildToolbar(model: Model, state: State, search: HTMLElement): HTMLElement {
  const moves = el("div", { class: "button-group" },
    button("−", "Zoom out (S)", () => state.zoom(1 / 0.6, null, true), "button square"),
    button("+", "Zoom in (W)", () => state.zoom(0.6, null, true), "button square"),
    button("Fit", "Show the whole recording (F)", () => state.fit()),
  );
  if (model.report.trigger !== null) moves.append(button("Trigger", "Zoom to the slow call (T)", () => state.zoomToTrigger()));
  moves.append(button("Open all", "Open or close every thread (E)", () => state.toggleAll()));
  const key = (kind: string, text: string): HTMLElement => el("span", { class: "key" }, el("span", { class: `key-mark key-${kind}`, "aria-hidden": "true" }), text);
  const legend = el("div", { class: "legend" }, key("code", "colour: package"), key("wait", "waiting"), key("pause", "VM pause"));
  if (model.threadsWithGaps > 0) legend.append(key("gap", "records lost"));
  if (model.report.trigger !== null) legend.append(key("trigger", "trigger"));
  return el("div", { class: "toolbar" }, search, moves, legend);
}
