// The time axis above the chart, with the pauses and the trigger marked on it.
import type { Nanos } from "../data/schema.ts";
import type { Model } from "../model/model.ts";
import { ticks, type Ticks } from "../time/ticks.ts";
import { duration } from "../time/units.ts";
import type { Range } from "../time/viewport.ts";
import { BOLD_FONT, SMALL_FONT, type Surface } from "./canvas.ts";
import { css, type Palette } from "./colour.ts";
import { fillShares, pauseShares } from "./pauses.ts";

export const AXIS_HEIGHT = 38;
const PAUSE_ROW = 15;

/** Draws the axis and returns its marks, whose anchor the page shows at the left. */
export function drawAxis(s: Surface, model: Model, view: Range, palette: Palette, cursor: Nanos | null): Ticks {
  const { context: g, width, height, ratio } = s;
  const { tones } = palette;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = css(tones.background);
  g.fillRect(0, 0, width, height);
  const x = (t: Nanos): number => ((t - view.from) / (view.to - view.from)) * width;
  const marks = ticks(view.from, view.to, Math.max(2, width / 110), model.report.span[0]);
  g.font = SMALL_FONT;
  g.textBaseline = "middle";
  for (const { at, label } of marks.marks) {
    const px = Math.round(x(at));
    g.fillStyle = tones.strongLine;
    g.fillRect(px, 0, 1, 7);
    g.fillStyle = tones.mutedText;
    g.fillText(label, px + 4, 10);
  }
  const pauseTop = height - PAUSE_ROW - 1;
  const columns = Math.ceil(width);
  g.fillStyle = tones.pauseSolid;
  fillShares(g, pauseShares(model.pauses, view, columns), pauseTop + 2, PAUSE_ROW - 4, width / columns);
  model.pauses.forEach(([start, dur, name], i) => {
    const a = x(start);
    const b = x(start + dur);
    if (b < 0 || a > width) return;
    // A name needs free room up to the next pause.
    const next = i + 1 < model.pauses.length ? Math.min(width, x(model.pauses[i + 1][0])) : width;
    const left = Math.max(Math.max(b, a + 1) + 4, 4);
    if (next - left < 40) return;
    const text = `${name} ${duration(dur)}`;
    if (left + g.measureText(text).width < next) g.fillText(text, left, pauseTop + PAUSE_ROW / 2 + 0.5);
  });
  g.fillStyle = tones.strongLine;
  g.fillRect(0, height - 1, width, 1);
  const trigger = model.report.trigger;
  if (trigger !== null) {
    const at = x(trigger.at);
    if (at >= -60 && at <= width + 60) flag(g, at, "trigger", tones.trigger, width);
  }
  if (cursor !== null) {
    g.fillStyle = tones.text;
    g.fillRect(Math.round(x(cursor)), 0, 1, height);
  }
  return marks;
}

function flag(g: CanvasRenderingContext2D, at: number, text: string, colour: string, width: number): void {
  g.font = BOLD_FONT;
  const w = g.measureText(text).width + 10;
  const left = at + w > width ? at - w : at;
  g.fillStyle = colour;
  g.fillRect(left, 2, w, 15);
  g.fillRect(Math.round(at), 0, 1.5, AXIS_HEIGHT);
  g.fillStyle = luminous(colour) ? "#14181d" : "#ffffff";
  g.fillText(text, left + 5, 10);
}

function luminous(colour: string): boolean {
  const v = Number.parseInt(colour.slice(1), 16);
  return 0.3 * ((v >> 16) & 255) + 0.59 * ((v >> 8) & 255) + 0.11 * (v & 255) > 130;
}
