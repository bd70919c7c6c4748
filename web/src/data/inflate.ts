// Gets the report's JSON out of wherever it is: the page's own data element, a JSON file, another report.
//
// The data element holds base64 of a raw deflate stream; a `application/octet-stream` script is inert text to
// the browser, whatever is in it. Decoding is asynchronous so the page can paint its frame first. The
// placeholder is recognised by its marks only: writing it out here would put it into the bundle, where the
// filling program would find it first.
import { ReportError } from "./parse.ts";

/** The page's data, or null when the page is the unfilled template. */
export function embeddedData(text: string): string | null {
  const data = text.trim();
  return data === "" || data.startsWith("@@") ? null : data;
}

/** Base64 of raw deflate to text. Throws `ReportError` when it is not that. */
export async function inflateBase64(base64: string): Promise<string> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const binary = atob(base64.trim());
    bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  } catch {
    throw new ReportError("The report's data is not base64: the file was cut or changed on its way.");
  }
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch {
    throw new ReportError("The report's data does not inflate: the file was cut or changed on its way.");
  }
}

/** The JSON in a chosen file: either JSON itself or a report page that carries it. */
export async function jsonOfFile(text: string): Promise<string> {
  if (text.trimStart().startsWith("{")) return text;
  const start = text.indexOf('id="lookback-data">');
  if (start < 0) throw new ReportError("This file is neither a report's JSON nor a report page.");
  const from = start + 'id="lookback-data">'.length;
  const end = text.indexOf("</script", from);
  const data = embeddedData(text.slice(from, end < 0 ? undefined : end));
  if (data === null) throw new ReportError("This report page carries no data: it is the empty template.");
  return inflateBase64(data);
}
