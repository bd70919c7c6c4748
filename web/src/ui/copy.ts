// Puts text on the clipboard, also where the modern interface is refused (a page opened from a file).
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    // Deprecated, and still the only way without the permission.
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
