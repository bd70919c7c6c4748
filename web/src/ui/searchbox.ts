// The search field with its counts and steps.
import { count, plural } from "../time/units.ts";
import type { State } from "../state.ts";
import { button, el } from "./dom.ts";

export class SearchBox {
  readonly element: HTMLElement;
  private readonly input = el("input", {
    type: "text", id: "search", class: "search-input", placeholder: "Search methods: text, glob*, \"exact\"  ( / )",
    "aria-label": "Search methods", spellcheck: "false", autocomplete: "off",
  });
  private readonly status = el("span", { class: "search-status muted", id: "search-status", "aria-live": "polite" });

  constructor(private readonly state: State) {
    const previous = button("‹", "Previous match (Shift+Enter)", () => state.nextMatch(false), "button square");
    const next = button("›", "Next match (Enter)", () => state.nextMatch(true), "button square");
    this.element = el("div", { class: "search", role: "search" }, this.input, this.status, previous, next);
    this.input.addEventListener("input", () => state.search(this.input.value));
    this.input.addEventListener("keydown", (e) => {
      if (e.key === "Enter") state.nextMatch(!e.shiftKey);
      else if (e.key === "Escape") {
        state.search("");
        this.input.blur();
      } else return;
      e.preventDefault();
      e.stopPropagation();
    });
    state.on("search", () => this.update());
    state.on("selection", () => this.update());
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private update(): void {
    const { state } = this;
    if (this.input.value !== state.query) this.input.value = state.query;
    this.element.classList.toggle("no-match", state.found !== null && state.foundCalls === 0);
    if (state.found === null) this.status.textContent = "";
    else if (state.foundCalls === 0) this.status.textContent = "no match";
    else {
      const place = state.foundRank === 0 ? "" : `${count(state.foundRank)} of `;
      this.status.textContent = `${place}${plural(state.foundCalls, "call")}, ${plural(state.found.methods.length, "method")}`;
    }
  }
}
