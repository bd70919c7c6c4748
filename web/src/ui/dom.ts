// Building elements. Text only ever becomes a text node: names in a report may contain anything.
//
// Attributes are limited to those below, none of which can run code; inline style attributes are not among them
// because the page's policy forbids them (style properties are set through the object model instead).
type Attributes = Readonly<Partial<Record<
  | "class" | "id" | "type" | "title" | "role" | "for" | "placeholder" | "tabindex" | "scope" | "colspan"
  | "aria-label" | "aria-live" | "aria-selected" | "aria-expanded" | "aria-controls" | "aria-pressed"
  | "aria-labelledby" | "aria-hidden" | "aria-sort" | "aria-modal" | "aria-orientation" | "accept" | "spellcheck" | "autocomplete",
  string
>>>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that does something when pressed; `hint` says what, and which key does it too. */
export function button(label: string | Node, hint: string, run: () => void, className = "button"): HTMLButtonElement {
  const element = el("button", { type: "button", class: className, title: hint }, label);
  element.addEventListener("click", run);
  return element;
}

/** The element of the template with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}
