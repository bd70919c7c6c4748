// Which key does what. Keys act on the page as a whole unless the reader is typing.
//
// Buttons, tabs, tables and the flame graph handle their own arrows and Enter; an event they have taken
// (`defaultPrevented`) is left alone here.
export interface KeyActions {
  zoom(factor: number): void;
  pan(share: number): void;
  scroll(rows: number): void;
  fit(): void;
  toTrigger(): void;
  toSelected(): void;
  walk(direction: "up" | "down" | "left" | "right"): void;
  sameMethod(forward: boolean): void;
  nextMatch(forward: boolean): void;
  toggleAll(): void;
  toggleThread(): void;
  focusSearch(): void;
  tab(index: number): void;
  copy(): void;
  help(): void;
  escape(): void;
}

const ARROWS: Readonly<Record<string, "up" | "down" | "left" | "right">> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

export function listenToKeys(actions: KeyActions, modal: () => boolean): void {
  const plain: Readonly<Record<string, () => void>> = {
    w: () => actions.zoom(0.7),
    "+": () => actions.zoom(0.7),
    "=": () => actions.zoom(0.7),
    s: () => actions.zoom(1 / 0.7),
    "-": () => actions.zoom(1 / 0.7),
    a: () => actions.pan(-0.18),
    d: () => actions.pan(0.18),
    ArrowLeft: () => actions.pan(-0.18),
    ArrowRight: () => actions.pan(0.18),
    ArrowUp: () => actions.scroll(-3),
    ArrowDown: () => actions.scroll(3),
    PageUp: () => actions.scroll(-20),
    PageDown: () => actions.scroll(20),
    f: () => actions.fit(),
    "0": () => actions.fit(),
    t: () => actions.toTrigger(),
    z: () => actions.toSelected(),
    n: () => actions.sameMethod(true),
    p: () => actions.sameMethod(false),
    e: () => actions.toggleAll(),
    o: () => actions.toggleThread(),
    "/": () => actions.focusSearch(),
    "1": () => actions.tab(0),
    "2": () => actions.tab(1),
    "3": () => actions.tab(2),
    c: () => actions.copy(),
    "?": () => actions.help(),
    Escape: () => actions.escape(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const search = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
    if (search && !modal()) {
      actions.focusSearch();
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    if (modal()) {
      if (event.key === "?") actions.help();
      return;
    }
    const arrow = ARROWS[event.key];
    if (event.shiftKey && arrow !== undefined) {
      actions.walk(arrow);
      event.preventDefault();
      return;
    }
    if (event.key === "Enter" && !(event.target instanceof HTMLButtonElement)) {
      actions.nextMatch(!event.shiftKey);
      return;
    }
    const run = plain[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (run === undefined) return;
    run();
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement ? target.type !== "checkbox" : target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
