// A headless Chromium for the browser tests, with a profile of its own that is removed afterwards.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext, type Page } from "playwright-core";

const CANDIDATES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export interface Browser {
  readonly context: BrowserContext;
  /** Everything any page asked the network or the disk for, beyond opening itself. */
  readonly requests: string[];
  /** Errors that pages reported. */
  readonly errors: string[];
  page(): Promise<Page>;
  close(): Promise<void>;
}

export async function launch(scale = 1): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? CANDIDATES.find((p) => existsSync(p));
  if (executablePath === undefined) {
    throw new Error("No Chromium found. Install one (Debian: apt-get install chromium) or set CHROMIUM to its path; `npm run test:unit` needs none.");
  }
  const profile = mkdtempSync(join(tmpdir(), "lookback-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport: { width: 1440, height: 900 },
    deviceScaleFactor: scale,
    colorScheme: "light",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const requests: string[] = [];
  const errors: string[] = [];
  return {
    context,
    requests,
    errors,
    page: async () => {
      const page = await context.newPage();
      page.on("request", (r) => {
        if (!r.isNavigationRequest() && !r.url().startsWith("data:") && !r.url().startsWith("blob:")) requests.push(r.url());
      });
      page.on("pageerror", (e) => errors.push(String(e)));
      page.on("console", (m) => {
        if (m.type() === "error") errors.push(m.text());
      });
      return page;
    },
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
