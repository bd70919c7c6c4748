// The box beside the pointer that says what is under it.
//
// Purely visual help for the pointer; everything it says is also in the details panel, which the keyboard
// reaches, so it is hidden from assistive technology.
import { el } from "./dom.ts";

export interface TooltipText {
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  readonly notes: readonly string[];
}

export class Tooltip {
  private readonly element = el("div", { class: "tooltip", "aria-hidden": "true" });

  constructor(parent: HTMLElement) {
    this.element.hidden = true;
    parent.append(this.element);
  }

  show(text: TooltipText, x: number, y: number): void {
    const facts = el("dl", { class: "facts" });
    for (const [name, value] of text.facts) facts.append(el("dt", {}, name), el("dd", {}, value));
    this.element.replaceChildren(el("div", { class: "tooltip-title" }, text.title), facts);
    for (const note of text.notes) this.element.append(el("div", { class: "tooltip-note" }, note));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 16 + width > window.innerWidth ? Math.max(4, x - width - 12) : x + 16;
    const top = y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
