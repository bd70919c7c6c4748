// Light or dark: as the system says, until the reader chooses.
//
// The choice is kept where the browser allows it; a page opened from a file may have no storage, and then the
// choice lasts as long as the page.
import type { ThemeName } from "../draw/colour.ts";

const KEY = "lookback-theme";

function stored(): ThemeName | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

/** Applies the theme to the document, tells `changed`, and returns a function that switches. */
export function followTheme(changed: (theme: ThemeName) => void): { current: () => ThemeName; toggle: () => void } {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = stored();
  const current = (): ThemeName => chosen ?? (dark.matches ? "dark" : "light");
  const apply = (): void => {
    document.documentElement.dataset["theme"] = current();
    changed(current());
  };
  dark.addEventListener("change", apply);
  document.documentElement.dataset["theme"] = current();
  return {
    current,
    toggle: () => {
      chosen = current() === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, chosen);
      } catch {
        // No storage here; the choice holds for this page.
      }
      apply();
    },
  };
}
