// Writes a filled sample page: `npm run sample -- out.html [calls]`.
import { readFileSync, writeFileSync } from "node:fs";
import { fill, incident } from "./fixture.ts";

const out = process.argv[2] ?? "test-out/sample.html";
const slices = Number(process.argv[3] ?? 12_000);
const report = incident({ slices });
const page = fill(readFileSync("dist/report.html", "utf8"), report);
writeFileSync(out, page);
console.log(`${out}: ${report.threads.reduce((n, t) => n + t.start.length, 0)} calls, ${(page.length / 1024).toFixed(0)} KiB`);
