// The overlay with every key and gesture.
import { el } from "./dom.ts";

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["Move in time", [
    ["W / S, + / −", "zoom in / out"],
    ["A / D, ← / →", "earlier / later"],
    ["F or 0", "fit the whole recording"],
    ["T", "zoom to the trigger"],
    ["Z", "zoom to the selected call"],
  ]],
  ["Threads", [
    ["↑ / ↓", "scroll"],
    ["E", "open or close every thread"],
    ["O", "open or close the selected thread"],
  ]],
  ["Calls", [
    ["Shift + arrows", "to caller, callee, neighbours"],
    ["N / P", "next / previous call of this method"],
    ["C", "copy the finding as text"],
    ["Esc", "clear search, then selection"],
  ]],
  ["Search and panels", [
    ["/ or Ctrl+F", "search methods: text, glob (*Api.h?ndle), \"exact\""],
    ["Enter / Shift+Enter", "next / previous match"],
    ["1 2 3", "slow call, flame graph, methods"],
    ["?", "this help"],
  ]],
  ["Pointer", [
    ["Wheel", "zoom at the pointer (with Ctrl: finer)"],
    ["Drag", "move; with Shift: mark a time range"],
    ["Wheel over names, Alt + wheel", "scroll threads"],
    ["Click / double click", "select / zoom to a call"],
    ["Strip on top", "drag the window, its edges, or a new one"],
  ]],
];

export class Help {
  private readonly dialog: HTMLDialogElement;

  constructor() {
    const columns = el("div", { class: "help-columns" });
    for (const [title, keys] of KEYS) {
      const list = el("dl", { class: "keys" });
      for (const [key, what] of keys) list.append(el("dt", {}, key), el("dd", {}, what));
      columns.append(el("section", {}, el("h3", {}, title), list));
    }
    const close = el("button", { type: "button", class: "button" }, "Close");
    this.dialog = el("dialog", { class: "help", "aria-label": "Keys and gestures" },
      el("header", {}, el("h2", {}, "Keys and gestures"), close), columns,
      el("p", { class: "muted" }, "Times of ordinary calls are exact to one recorder tick (± in the details); wait points are exact at both ends. Striped blue-grey: waiting. Striped amber: records lost. Pink bands: the VM paused every thread."));
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (e) => {
      if (e.target === this.dialog) this.dialog.close();
    });
    document.body.append(this.dialog);
  }

  get isOpen(): boolean {
    return this.dialog.open;
  }

  toggle(): void {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }
}
