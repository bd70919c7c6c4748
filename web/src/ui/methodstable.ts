// The table of methods: calls, total, own, longest, mean; sortable, and filtered by the search.
//
// Real rows, so that it is read aloud and copied like any table; only the first few hundred of the order are
// made, because a report may know tens of thousands of methods. Computed when first shown, not on opening.
import { methodTable, type MethodRow } from "../model/stats.ts";
import type { Model } from "../model/model.ts";
import { count, duration, plural } from "../time/units.ts";
import { css } from "../draw/colour.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";

type Column = "name" | "calls" | "total" | "self" | "max" | "mean";

const COLUMNS: readonly (readonly [Column, string, string])[] = [
  ["name", "Method", ""],
  ["calls", "Calls", "Calls in the range"],
  ["total", "Total", "Time between entry and exit; recursion counted once"],
  ["self", "Own", "Total without the calls made from it"],
  ["max", "Longest", "The longest single call"],
  ["mean", "Mean", "Mean of whole calls"],
];

/** Rows made at once; the search reaches the rest. */
const MAX_ROWS = 300;

export class MethodsTable {
  readonly element = el("div", { class: "panel-column" });
  private readonly note = el("span", { class: "muted", id: "methods-note", "aria-live": "polite" });
  private readonly scroller = el("div", { class: "panel-scroll" });
  private readonly onlyVisible = el("input", { type: "checkbox", id: "methods-visible" });
  private sort: { column: Column; down: boolean } = { column: "self", down: true };
  private rows: MethodRow[] | null = null;
  private shown = false;
  private dirty = true;

  constructor(
    private readonly model: Model,
    private readonly state: State,
  ) {
    this.element.append(
      el("div", { class: "panel-bar" }, el("label", { for: "methods-visible", class: "check" }, this.onlyVisible, "Only the visible time"), this.note),
      this.scroller,
    );
    this.onlyVisible.addEventListener("change", () => this.recompute());
    state.on("search", () => this.refresh());
    state.on("theme", () => this.refresh());
    state.on("selection", () => this.refresh());
  }

  /** The panel was opened or closed; nothing is computed while closed. */
  setShown(shown: boolean): void {
    this.shown = shown;
    if (shown && this.dirty) this.refresh();
  }

  /** The visible time came to rest. */
  viewSettled(): void {
    if (this.onlyVisible.checked) this.recompute();
  }

  private recompute(): void {
    this.rows = null;
    this.refresh();
  }

  private refresh(): void {
    this.dirty = true;
    if (!this.shown) return;
    this.dirty = false;
    this.rows ??= methodTable(this.model, this.model.tracks, this.onlyVisible.checked ? this.state.view : null);
    const { found } = this.state;
    const rows = found === null ? [...this.rows] : this.rows.filter((r) => found.mask[r.method] !== 0);
    this.order(rows);
    const head = el("tr");
    for (const [column, label, hint] of COLUMNS) {
      const sorted = this.sort.column === column ? (this.sort.down ? "descending" : "ascending") : "none";
      const mark = sorted === "none" ? "" : this.sort.down ? " ↓" : " ↑";
      head.append(el("th", { scope: "col", class: column === "name" ? "" : "number", "aria-sort": sorted },
        button(label + mark, hint === "" ? "Sort by name" : hint, () => this.sortBy(column), "sort")));
    }
    const body = el("tbody");
    const top = Math.max(1, ...rows.slice(0, 1).map((r) => this.barValue(r)), this.largest(rows));
    const selected = this.state.selected;
    const current = selected === null ? -1 : this.model.tracks[selected.thread].method[selected.slice];
    for (const r of rows.slice(0, MAX_ROWS)) body.append(this.row(r, top, r.method === current));
    this.scroller.replaceChildren(el("table", { class: "methods", id: "methods" }, el("thead", {}, head), body));
    const cut = rows.length > MAX_ROWS ? `, the first ${MAX_ROWS} shown` : "";
    this.note.textContent = found === null ? `${plural(rows.length, "method")}${cut}` : `${plural(rows.length, "method")} ${rows.length === 1 ? "matches" : "match"} the search${cut}`;
  }

  private row(r: MethodRow, top: number, current: boolean): HTMLElement {
    const name = this.model.names[r.method];
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    const { palette } = this.state;
    swatch.style.background = css(r.wait ? palette.tones.waitHatch : palette.fill[r.method]);
    const meter = el("span", { class: "meter", "aria-hidden": "true" });
    meter.style.width = `${(this.barValue(r) / top) * 100}%`;
    const cell = el("td", { class: "method-name" }, meter, swatch,
      button(el("span", {}, el("span", { class: "muted" }, name.pack === "" ? "" : `${name.pack}.`), name.short), `Highlight ${name.full} and go to its next call`, () => {
        this.state.searchMethod(r.method);
        this.state.nextMatch(true);
      }, "link mono"));
    return el("tr", { class: current ? "current" : "" }, cell,
      el("td", { class: "number" }, count(r.calls)),
      ...[r.total, r.self, r.max, r.mean].map((v) => el("td", { class: "number" }, duration(v))));
  }

  private barValue(r: MethodRow): number {
    return this.sort.column === "name" ? r.self : r[this.sort.column];
  }

  private largest(rows: readonly MethodRow[]): number {
    let most = 0;
    for (const r of rows) most = Math.max(most, this.barValue(r));
    return most;
  }

  private sortBy(column: Column): void {
    this.sort = this.sort.column === column ? { column, down: !this.sort.down } : { column, down: column !== "name" };
    this.refresh();
    const index = COLUMNS.findIndex(([c]) => c === column);
    this.scroller.querySelectorAll<HTMLButtonElement>("th button")[index]?.focus();
  }

  private order(rows: MethodRow[]): void {
    const { column, down } = this.sort;
    const sign = down ? -1 : 1;
    const names = this.model.names;
    rows.sort((a, b) => {
      if (column === "name") return sign * (names[a.method].full < names[b.method].full ? -1 : 1);
      return sign * (a[column] - b[column]) || a.method - b.method;
    });
  }
}
