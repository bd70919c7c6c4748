// The flame graph panel: which calls are merged, where the reader has zoomed to, and keys to walk the boxes.
//
// The tree follows the visible time of the chart, so it is rebuilt when that comes to rest and not while it
// moves. The reader's place in the tree is kept over a rebuild by its path of methods.
import { ACTIVITY } from "../data/schema.ts";
import { callTree, matchedTime, pathTo, reversed, type CallTree } from "../model/calltree.ts";
import type { Model } from "../model/model.ts";
import { sampleTree } from "../model/samples.ts";
import { count, duration, percent, plural } from "../time/units.ts";
import type { Range } from "../time/viewport.ts";
import { fit, surface } from "../draw/canvas.ts";
import { Flame, type FlameFrame } from "../draw/flame.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";
import type { Tooltip } from "./tooltip.ts";

export class FlameView {
  readonly element = el("div", { class: "panel-column" });
  private readonly canvas = el("canvas", { class: "flame", id: "flame", tabindex: "0", role: "img" });
  private readonly scroller = el("div", { class: "panel-scroll" }, this.canvas);
  private readonly crumbs = el("nav", { class: "crumbs", "aria-label": "Place in the flame graph" });
  private readonly readout = el("p", { class: "flame-readout", "aria-live": "polite" });
  private readonly visibleOnly = el("input", { type: "checkbox", id: "flame-visible" });
  private readonly oneThread = el("input", { type: "checkbox", id: "flame-thread" });
  private readonly inverted = el("input", { type: "checkbox", id: "flame-reversed" });
  private readonly source = el("select", { id: "flame-source", class: "button" });
  private readonly activity = el("select", { id: "flame-activity", class: "button" });
  private readonly flame: Flame;
  private tree: CallTree | null = null;
  private focus = 0;
  private selected = 0;
  private hovered = -1;
  private shown = false;

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly tooltip: Tooltip,
  ) {
    this.flame = new Flame(model.names, surface(this.canvas));
    this.visibleOnly.checked = true;
    const check = (input: HTMLInputElement, label: string): HTMLElement => {
      input.addEventListener("change", () => this.rebuild());
      return el("label", { for: input.id, class: "check" }, input, label);
    };
    this.element.append(
      el("div", { class: "panel-bar" },
        ...this.chooseSamples(),
        check(this.visibleOnly, "Only the visible time"),
        check(this.oneThread, "Only the selected call's thread"),
        check(this.inverted, "Callers (reversed)"),
        this.crumbs),
      this.scroller,
      this.readout,
    );
    this.listen();
    state.on("theme", () => this.draw());
    state.on("search", () => this.draw());
    state.on("selection", () => {
      if (this.oneThread.checked) this.rebuild();
    });
  }

  /** What chooses between calls and samples; nothing where there is no choice. */
  private chooseSamples(): HTMLElement[] {
    const { samples } = this.model;
    if (samples === null) return [];
    const option = (value: string, label: string): HTMLElement => {
      const element = el("option", {}, label);
      element.value = value;
      return element;
    };
    if (!samples.data.only) this.source.append(option("calls", "Calls"));
    this.source.append(option("samples", "Samples"));
    this.activity.append(option("running", "of running threads"), option("waiting", "of waiting threads"), option("all", "of all threads"));
    // A profile of waiting threads alone would begin empty.
    if (!samples.data.activity.some((a) => ACTIVITY[a] !== "waiting")) this.activity.value = "all";
    const show = (): void => {
      this.activity.hidden = this.source.value !== "samples";
      this.rebuild();
    };
    this.source.addEventListener("change", show);
    this.activity.addEventListener("change", show);
    this.activity.hidden = this.source.value !== "samples";
    this.source.title = samples.data.how;
    this.source.setAttribute("aria-label", "What the flame graph is made of");
    this.activity.setAttribute("aria-label", "Which samples");
    return samples.data.only ? [this.activity] : [this.source, this.activity];
  }

  /** What a box counts. */
  private get things(): "call" | "sample" {
    return this.source.value === "samples" ? "sample" : "call";
  }

  /** For tests: the tree's size and the zoomed node's name. */
  describe(): { nodes: number; focus: string; selected: string } {
    return { nodes: this.tree?.size ?? 0, focus: this.name(this.focus), selected: this.name(this.selected) };
  }

  setShown(shown: boolean): void {
    this.shown = shown;
    if (!shown) return;
    if (this.tree === null) this.rebuild();
    else this.draw();
  }

  viewSettled(): void {
    if (this.visibleOnly.checked) this.rebuild();
  }

  resized(): void {
    this.draw();
  }

  private rebuild(): void {
    const old = this.tree;
    const methods = (node: number): number[] => (old === null ? [] : pathTo(old, node).map((n) => old.method[n]));
    const [focus, selected] = [methods(this.focus), methods(this.selected)];
    this.tree = null;
    if (!this.shown) return;
    // Without a selection "the selected call's thread" is the trigger's, else the first of the chart.
    const one = this.state.selected?.thread ?? this.model.report.trigger?.thread ?? this.model.order[0];
    const range = this.visibleOnly.checked ? this.state.view : null;
    const forward = this.forward(this.oneThread.checked && one !== undefined ? one : null, range);
    const tree = this.inverted.checked ? reversed(forward, this.model.names.length) : forward;
    this.tree = tree;
    // As far as the same calls are there.
    const walk = (path: number[]): number => {
      let node = 0;
      for (const method of path) {
        const child = tree.children[node].find((c) => tree.method[c] === method);
        if (child === undefined) break;
        node = child;
      }
      return node;
    };
    [this.focus, this.selected] = [walk(focus), walk(selected)];
    this.hovered = -1;
    this.draw();
  }

  /** The tree from the outside in, of one thread or all. */
  private forward(thread: number | null, range: Range | null): CallTree {
    const { samples, tracks, names } = this.model;
    if (samples === null || this.source.value !== "samples") {
      return callTree(thread === null ? tracks : [tracks[thread]], names.length, range);
    }
    const chosen = this.activity.value;
    // Native code may run or wait: it is among those that run.
    const activities = chosen === "all" ? null : ACTIVITY.map((_, i) => i).filter((i) => (ACTIVITY[i] === "waiting") === (chosen === "waiting"));
    return sampleTree(samples, { thread, range, activities }, names.length);
  }

  private frame(): FlameFrame | null {
    if (this.tree === null) return null;
    return { tree: this.tree, focus: this.focus, selected: this.selected, hovered: this.hovered, palette: this.state.palette, mask: this.state.found?.mask ?? null };
  }

  private draw(): void {
    const frame = this.frame();
    if (!this.shown || frame === null) return;
    const height = Math.max(Flame.height(frame.tree, this.focus), this.scroller.clientHeight - 4);
    fit(this.flame.surface, this.scroller.clientWidth, height);
    this.flame.draw(frame);
    this.update(frame.tree);
  }

  private name(node: number): string {
    return node <= 0 || this.tree === null ? "all" : this.model.names[this.tree.method[node]].full;
  }

  private update(tree: CallTree): void {
    const path = [0, ...pathTo(tree, this.focus)];
    this.crumbs.replaceChildren();
    path.forEach((node, k) => {
      // Long paths keep their ends: the root to get out, the last few to see where one is.
      if (path.length > 7 && k > 0 && k < path.length - 5) {
        if (k === 1) this.crumbs.append(el("span", { class: "muted" }, " › …"));
        return;
      }
      if (k > 0) this.crumbs.append(el("span", { class: "muted" }, " › "));
      const label = node === 0 ? "all" : this.model.names[tree.method[node]].short;
      this.crumbs.append(button(label, `Zoom out to ${this.name(node)}`, () => this.zoom(node), "link"));
    });
    const node = this.hovered >= 0 ? this.hovered : this.selected;
    const share = `${percent(tree.total[node], tree.total[0])} of all`;
    const own = `own ${duration(tree.self[node])}`;
    const { found } = this.state;
    const matched = found === null || this.inverted.checked ? "" : `. The search matches ${percent(matchedTime(tree, found.mask), tree.total[0])}`;
    this.readout.textContent = tree.total[0] <= 0
      ? `No ${this.things}s in this time.`
      : `${this.name(node)} — total ${duration(tree.total[node])} (${share}), ${own}${node === 0 ? "" : `, ${plural(tree.calls[node], this.things)}`}${matched}`;
    this.canvas.setAttribute("aria-label", `Flame graph. ${this.readout.textContent} Arrow keys walk, Enter zooms, Escape zooms out.`);
  }

  private zoom(node: number): void {
    this.focus = this.selected = node;
    this.draw();
    if (this.tree !== null) this.scroller.scrollTop = 0;
  }

  private listen(): void {
    const at = (e: MouseEvent): number => {
      const box = this.canvas.getBoundingClientRect();
      return this.flame.hit(e.clientX - box.left, e.clientY - box.top);
    };
    this.canvas.addEventListener("pointermove", (e) => {
      const node = at(e);
      const tree = this.tree;
      if (node !== this.hovered) {
        this.hovered = node;
        this.draw();
      }
      if (node < 0 || tree === null) this.tooltip.hide();
      else {
        this.tooltip.show({
          title: this.name(node),
          facts: [
            ["Total", `${duration(tree.total[node])}  ${percent(tree.total[node], tree.total[0])}`],
            ["Own", `${duration(tree.self[node])}  ${percent(tree.self[node], tree.total[0])}`],
            ...(node === 0 ? [] : [[this.things === "call" ? "Calls" : "Samples in it", count(tree.calls[node])] as const]),
          ],
          notes: tree.wait[node] ? ["wait point"] : [],
        }, e.clientX, e.clientY);
      }
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.hovered = -1;
      this.tooltip.hide();
      this.draw();
    });
    this.canvas.addEventListener("click", (e) => {
      const node = at(e);
      if (node >= 0) this.zoom(node);
    });
    this.canvas.addEventListener("keydown", (e) => {
      if (this.key(e.key)) {
        e.preventDefault();
        e.stopPropagation();
      }
    });
  }

  private key(key: string): boolean {
    const tree = this.tree;
    if (tree === null) return false;
    const go = (node: number | undefined): boolean => {
      if (node !== undefined && node >= 0) {
        this.selected = node;
        this.draw();
      }
      return true;
    };
    const row = (by: number): boolean => {
      const nodes = this.flame.row(tree, tree.depth[this.selected]);
      return go(nodes[nodes.indexOf(this.selected) + by]);
    };
    switch (key) {
      case "ArrowUp": return go(tree.parent[this.selected]);
      case "ArrowDown": return go(tree.children[this.selected][0]);
      case "ArrowLeft": return row(-1);
      case "ArrowRight": return row(1);
      case "Enter": this.zoom(this.selected); return true;
      case "Escape":
      case "Backspace":
        if (this.focus === 0) return false;
        this.zoom(Math.max(0, tree.parent[this.focus]));
        return true;
      default: return false;
    }
  }
}
