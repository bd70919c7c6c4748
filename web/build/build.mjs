// Bundles the report page into dist/report.html: one file, no request to anywhere.
//
// The page's content security policy forbids everything but the one script and the one style sheet whose
// SHA-256 are written into it here, so the hashes must be taken of exactly the bytes between the tags.
// The build must not put the data placeholder anywhere but in the data element: the program that fills the
// template replaces the first occurrence it finds.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const PLACEHOLDER = "@@LOOKBACK_DATA@@";

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome103", "firefox113", "safari16.4"],
    legalComments: "none",
    charset: "utf8",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const script = await bundle("src/main.ts");
const style = await bundle("src/style/index.css");
if (/<\/(script|style)/i.test(script) || /<\/style/i.test(style)) {
  throw new Error("the bundle holds a closing tag that would end its own element");
}
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// Function replacements: `$&` and friends in the bundle must not be read as replacement patterns.
const page = readFileSync(join(root, "src/template.html"), "utf8")
  .replace("@@POLICY@@", () => policy)
  .replace("@@STYLE@@", () => style)
  .replace("@@SCRIPT@@", () => script);

if (page.split(PLACEHOLDER).length !== 2) {
  throw new Error(`the page must hold ${PLACEHOLDER} exactly once`);
}
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(join(root, "dist/report.html"), page);
console.log(`dist/report.html: ${(Buffer.byteLength(page) / 1024).toFixed(1)} KiB`);
