// Where the page starts: the embedded incident if there is one, a file chooser if not.
import { embeddedData, inflateBase64, jsonOfFile } from "./data/inflate.ts";
import { parseReport } from "./data/parse.ts";
import { startApp, type Inspector } from "./app.ts";
import { byId } from "./ui/dom.ts";
import { showChooser } from "./ui/chooser.ts";
import { followTheme } from "./ui/theme.ts";

declare global {
  interface Window {
    /** For tests only. */
    lookback?: Inspector;
  }
}

async function start(): Promise<void> {
  const root = byId("app");
  const element = byId("lookback-data");
  const data = embeddedData(element.textContent ?? "");
  const open = async (file: string): Promise<void> => {
    const report = parseReport(await jsonOfFile(file));
    window.lookback = startApp(root, report);
  };
  if (data === null) {
    followTheme(() => undefined);
    showChooser(root, open, null);
    return;
  }
  try {
    const text = await inflateBase64(data);
    // The text is megabytes that nobody needs twice.
    element.textContent = "";
    window.lookback = startApp(root, parseReport(text));
  } catch (error) {
    followTheme(() => undefined);
    showChooser(root, open, error instanceof Error ? error.message : String(error));
  }
}

void start();
