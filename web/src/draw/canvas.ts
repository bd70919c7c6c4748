// A canvas that keeps its pixels equal to the screen's, and text that fits a width.
//
// Browsers scale a canvas of the wrong size, which blurs one-pixel calls; the buffer is resized before drawing
// whenever the element or the device's pixel ratio has changed.
export interface Surface {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  /** CSS pixels. */
  width: number;
  height: number;
  /** Device pixels a CSS pixel. */
  ratio: number;
}

export function surface(canvas: HTMLCanvasElement): Surface {
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) throw new Error("this browser gives no 2d canvas");
  return { canvas, context, width: 0, height: 0, ratio: 1 };
}

/** Fits the buffer to `width` x `height` CSS pixels; the element's own size is the style sheet's business. */
export function fit(s: Surface, width: number, height: number): void {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (s.canvas.width !== w || s.canvas.height !== h) {
    s.canvas.width = w;
    s.canvas.height = h;
    s.canvas.style.width = `${width}px`;
    s.canvas.style.height = `${height}px`;
  }
  s.width = width;
  s.height = height;
  s.ratio = ratio;
}

export const FONT = "11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
export const SMALL_FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
export const BOLD_FONT = "600 11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/**
 * Labels cut to a width. The font is monospaced, so a label's width is its length times one advance; names with
 * wide characters may be cut a little late, which clipping by the next call's box hides.
 */
export class Labeller {
  private advance = 0;

  fits(context: CanvasRenderingContext2D, width: number, ...candidates: readonly string[]): string {
    if (this.advance === 0) this.advance = context.measureText("mmmmmmmmmm").width / 10;
    const room = Math.floor(width / this.advance);
    for (const c of candidates) if (c.length <= room) return c;
    const last = candidates[candidates.length - 1];
    return room >= 3 ? `${last.slice(0, room - 1)}…` : "";
  }
}
