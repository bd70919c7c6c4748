// The lower part of the page: tabs at the left, the selected call at the right, a bar to resize.
import { el } from "./dom.ts";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly panel: HTMLElement;
  /** Called when the tab is opened or left. */
  readonly shown: (shown: boolean) => void;
}

export class Dock {
  readonly element: HTMLElement;
  readonly splitter = el("div", { class: "splitter", role: "separator", "aria-orientation": "horizontal", tabindex: "0", "aria-label": "Height of the lower panel; arrow keys change it" });
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly panels: HTMLElement[] = [];
  private active = -1;

  constructor(
    private readonly tabs: readonly Tab[],
    side: HTMLElement,
    private readonly resized: () => void,
  ) {
    const list = el("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
    const body = el("div", { class: "panels" });
    tabs.forEach((tab, i) => {
      const b = el("button", { type: "button", class: "tab", role: "tab", id: `tab-${tab.id}`, "aria-controls": `panel-${tab.id}`, title: `${tab.label} (${i + 1})` }, tab.label);
      b.addEventListener("click", () => this.open(i));
      b.addEventListener("keydown", (e) => {
        const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
        if (by === 0) return;
        e.preventDefault();
        this.open((i + by + tabs.length) % tabs.length);
        this.buttons[this.active].focus();
      });
      const panel = el("div", { class: "panel", role: "tabpanel", id: `panel-${tab.id}`, "aria-labelledby": `tab-${tab.id}` }, tab.panel);
      this.buttons.push(b);
      this.panels.push(panel);
      list.append(b);
      body.append(panel);
    });
    this.element = el("div", { class: "dock" }, el("div", { class: "dock-main" }, list, body), side);
    this.splitter.setAttribute("aria-valuemin", "90");
    this.splitter.setAttribute("aria-valuenow", "90");
    this.listen();
    this.open(0);
  }

  get activeTab(): string {
    return this.tabs[this.active].id;
  }

  open(index: number): void {
    if (index === this.active || index < 0 || index >= this.tabs.length) return;
    const old = this.active;
    this.active = index;
    this.buttons.forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === index));
      b.tabIndex = i === index ? 0 : -1;
      this.panels[i].classList.toggle("active", i === index);
    });
    if (old >= 0) this.tabs[old].shown(false);
    this.tabs[index].shown(true);
  }

  private setHeight(px: number): void {
    const most = window.innerHeight - 240;
    const height = Math.round(Math.max(90, Math.min(most, px)));
    this.element.style.height = `${height}px`;
    this.splitter.setAttribute("aria-valuenow", String(height));
    this.splitter.setAttribute("aria-valuemax", String(most));
    this.resized();
  }

  private listen(): void {
    let from: { y: number; height: number } | null = null;
    this.splitter.addEventListener("pointerdown", (e) => {
      from = { y: e.clientY, height: this.element.offsetHeight };
      this.splitter.setPointerCapture(e.pointerId);
    });
    this.splitter.addEventListener("pointermove", (e) => {
      if (from !== null) this.setHeight(from.height + from.y - e.clientY);
    });
    this.splitter.addEventListener("pointerup", () => (from = null));
    this.splitter.addEventListener("pointercancel", () => (from = null));
    this.splitter.addEventListener("keydown", (e) => {
      const by = e.key === "ArrowUp" ? 24 : e.key === "ArrowDown" ? -24 : 0;
      if (by === 0) return;
      e.preventDefault();
      this.setHeight(this.element.offsetHeight + by);
    });
  }
}
