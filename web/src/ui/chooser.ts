// What the page shows without data: what it is, and a place to give it a report.
import { brand } from "./header.ts";
import { el } from "./dom.ts";

/** Shows the chooser; `opened` gets the text of each chosen file and may reject with a sentence to show. */
export function showChooser(parent: HTMLElement, opened: (text: string) => Promise<void>, problem: string | null): void {
  const input = el("input", { type: "file", id: "file", class: "visually-hidden", accept: ".json,.html,application/json,text/html" });
  const message = el("p", { class: "chooser-problem", id: "problem", role: "alert" }, problem ?? "");
  const pick = el("label", { for: "file", class: "button primary" }, "Choose a file");
  const zone = el("main", { class: "chooser" },
    el("div", { class: "chooser-card" },
      brand(),
      el("h1", {}, "Incident report viewer"),
      el("p", {}, "This page shows a Lookback incident: what every thread of a Java program did in the seconds before something got slow. It carries no incident itself. Choose a report's JSON, or another report page, or drop it here."),
      el("p", {}, input, pick),
      message,
      el("p", { class: "muted" }, "Everything stays on this machine: the page makes no request to anywhere.")));
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    message.textContent = `Reading ${file.name} …`;
    file.text().then(opened).catch((e: unknown) => {
      message.textContent = e instanceof Error ? e.message : String(e);
    });
  };
  input.addEventListener("change", () => read(input.files?.[0]));
  zone.addEventListener("dragover", (e) => {
    e.preventDefault();
    zone.classList.add("dropping");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("dropping"));
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    zone.classList.remove("dropping");
    read(e.dataTransfer?.files[0]);
  });
  parent.replaceChildren(zone);
}
