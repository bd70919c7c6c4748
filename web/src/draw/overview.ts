// The strip above the chart: the whole recording, how busy it was, and the window being looked at.
//
// The activity is fixed, so it is painted once to a background bitmap and only the window moves over it.
import type { Nanos } from "../data/schema.ts";
import { activity, type Activity } from "../model/activity.ts";
import type { Model } from "../model/model.ts";
import type { Range } from "../time/viewport.ts";
import type { Surface } from "./canvas.ts";
import { css, type Palette } from "./colour.ts";
import { fillShares, pauseShares } from "./pauses.ts";

export const OVERVIEW_HEIGHT = 46;
const COLUMNS = 1200;
/** Handles at the window's edges can be gripped this far away, CSS pixels. */
export const GRIP = 6;

export class Overview {
  private readonly activity: Activity;
  private backdrop: { canvas: HTMLCanvasElement; palette: Palette } | null = null;

  constructor(
    private readonly model: Model,
    readonly surface: Surface,
  ) {
    this.activity = activity(model.tracks, model.bounds, COLUMNS);
  }

  x(t: Nanos): number {
    const { from, to } = this.model.bounds;
    return ((t - from) / (to - from)) * this.surface.width;
  }

  timeAt(x: number): Nanos {
    const { from, to } = this.model.bounds;
    return from + (x / this.surface.width) * (to - from);
  }

  draw(view: Range, palette: Palette): void {
    const s = this.surface;
    const g = s.context;
    const { tones } = palette;
    const { width: w, height: h } = s.canvas;
    const old = this.backdrop;
    if (old === null || old.palette !== palette || old.canvas.width !== w || old.canvas.height !== h) {
      this.backdrop = { canvas: this.paint(w, h, palette), palette };
    }
    g.setTransform(1, 0, 0, 1, 0, 0);
    if (this.backdrop !== null) g.drawImage(this.backdrop.canvas, 0, 0);
    g.setTransform(s.ratio, 0, 0, s.ratio, 0, 0);
    const a = this.x(view.from);
    const b = Math.max(this.x(view.to), a + 2);
    g.fillStyle = tones.shade;
    g.fillRect(0, 0, a, s.height);
    g.fillRect(b, 0, s.width - b, s.height);
    g.strokeStyle = tones.window;
    g.lineWidth = 1.5;
    g.strokeRect(a + 0.75, 0.75, Math.max(1, b - a - 1.5), s.height - 1.5);
    g.fillStyle = tones.window;
    for (const edge of [a, b]) g.fillRect(edge - 2, s.height / 2 - 8, 4, 16);
  }

  private paint(w: number, h: number, palette: Palette): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = w;
    canvas.height = h;
    const g = canvas.getContext("2d");
    if (g === null) return canvas;
    const { tones } = palette;
    g.fillStyle = css(tones.background);
    g.fillRect(0, 0, w, h);
    const { running, waiting, peak } = this.activity;
    const { from, to } = this.model.bounds;
    const x = (t: Nanos): number => ((t - from) / (to - from)) * w;
    for (let c = 0; c < COLUMNS; c++) {
      const a = (c / COLUMNS) * w;
      const width = w / COLUMNS + 0.5;
      const r = peak > 0 ? (running[c] / peak) * h * 0.88 : 0;
      const q = peak > 0 ? (waiting[c] / peak) * h * 0.88 : 0;
      g.fillStyle = tones.running;
      g.fillRect(a, h - r, width, r);
      g.fillStyle = tones.waiting;
      g.fillRect(a, h - r - q, width, q);
    }
    g.fillStyle = tones.pauseSolid;
    fillShares(g, pauseShares(this.model.pauses, this.model.bounds, w), 0, h, 1);
    const trigger = this.model.report.trigger;
    if (trigger !== null) {
      g.fillStyle = tones.trigger;
      g.fillRect(x(trigger.at) - 1, 0, 2, h);
    }
    return canvas;
  }
}
