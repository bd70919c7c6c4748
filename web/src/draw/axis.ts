// The time axis above the chart, with the pauses and the trigger marked on it.
import type { Nanos } from "../data/schema.ts";
import type { Model } from "../model/model.ts";
import { ticks, type Ticks } from "../time/ticks.ts";
import { duration } from "../time/units.ts";
import type { Range } from "../time/viewport.ts";
import { BOLD_FONT, SMALL_FONT, type Surface } from "./canvas.ts";
import { css, type Palette } from "./colour.ts";

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
  let freeFrom = 0;
  for (const [start, dur, name] of model.pauses) {
    const a = x(start);
    const b = x(start + dur);
    if (b < 0 || a > width) continue;
    g.fillStyle = tones.pauseSolid;
    g.fillRect(a, pauseTop + 2, Math.max(2, b - a), PAUSE_ROW - 4);
    const text = `${name} ${duration(dur)}`;
    const room = g.measureText(text).width;
    const left = Math.max(b + 4, 4);
    if (left > freeFrom && left + room < width) {
      g.fillText(text, left, pauseTop + PAUSE_ROW / 2 + 0.5);
      freeFrom = left + room + 10;
    }
  }
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
