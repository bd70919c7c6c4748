// The call chart: every thread over time.
//
// A frame is: a pixel buffer of the visible rows (raster.ts), put on the canvas in one go, then the few things
// that need real drawing on top: labels, pauses, marks, outlines. Only rows on screen are computed. The chart
// holds no state of the app; what it shows is handed in with each frame.
import { FLAG, type Nanos } from "../data/schema.ts";
import { laneAt } from "../model/lanes.ts";
import type { Model } from "../model/model.ts";
import type { CallRef, Track } from "../model/track.ts";
import type { Range } from "../time/viewport.ts";
import { BOLD_FONT, FONT, Labeller, type Surface } from "./canvas.ts";
import { css, mix, pixel, type Palette } from "./colour.ts";
import { depthAt, ROW, stripAt, type Layout, type Strip } from "./layout.ts";
import { fillShares, pauseShares } from "./pauses.ts";
import { Boxes, hatch, rasterLane, type LaneLook } from "./raster.ts";

export interface ChartFrame {
  readonly view: Range;
  /** Scroll offset, CSS pixels. */
  readonly scroll: number;
  readonly layout: Layout;
  readonly palette: Palette;
  readonly mask: Uint8Array | null;
  /** By thread: running count of matches over lane positions. */
  readonly matches: readonly Uint32Array[] | null;
  readonly selected: CallRef | null;
  readonly hovered: CallRef | null;
  readonly trigger: CallRef | null;
  /** Time range being marked with the pointer. */
  readonly marked: Range | null;
  readonly cursor: Nanos | null;
}

/** What is under a point of the chart. */
export interface ChartHit {
  readonly strip: Strip | null;
  readonly time: Nanos;
  readonly call: CallRef | null;
  /** Position in the thread's gaps, -1 for none. */
  readonly gap: number;
  /** Position in the model's pauses, -1 for none. */
  readonly pause: number;
}

export class Chart {
  private pixels: ImageData | null = null;
  private buffer = new Uint32Array(0);
  private readonly boxes = new Boxes();
  private readonly waits = new Boxes();
  private readonly labeller = new Labeller();
  /** Calls and merged groups painted in the last frame. */
  drawn = 0;

  constructor(
    private readonly model: Model,
    readonly surface: Surface,
  ) {}

  draw(frame: ChartFrame): void {
    const { context: g, ratio, width, height } = this.surface;
    const { tones } = frame.palette;
    const w = this.surface.canvas.width;
    const h = this.surface.canvas.height;
    this.drawn = 0;
    if (this.pixels === null || this.pixels.width !== w || this.pixels.height !== h) {
      this.pixels = new ImageData(w, h);
      this.buffer = new Uint32Array(this.pixels.data.buffer);
    }
    this.buffer.fill(pixel(tones.background));
    const visible = frame.layout.strips.filter(
      (s) => s.top + s.height > frame.scroll && s.top < frame.scroll + height,
    );
    const texts: { text: string; x: number; y: number; dim: boolean; wait: boolean }[] = [];
    g.font = FONT;
    for (const strip of visible) this.strip(frame, strip, w, h, ratio, texts);
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.putImageData(this.pixels, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);

    g.fillStyle = tones.line;
    for (const s of visible) g.fillRect(0, s.top + s.height - 3 - frame.scroll, width, 1);

    const x = (t: Nanos): number => ((t - frame.view.from) / (frame.view.to - frame.view.from)) * width;
    const columns = Math.ceil(width);
    g.fillStyle = tones.pause;
    fillShares(g, pauseShares(this.model.pauses, frame.view, columns), 0, height, width / columns);
    g.fillStyle = tones.pauseSolid;
    g.globalAlpha = 0.5;
    for (const [start, dur] of this.model.pauses) {
      const [a, b] = [x(start), x(start + dur)];
      if (b - a <= 8 || b < 0 || a > width) continue;
      g.fillRect(a, 0, 1, height);
      g.fillRect(b - 1, 0, 1, height);
    }
    g.globalAlpha = 1;

    g.textBaseline = "middle";
    g.font = FONT;
    const label = css(tones.label);
    const dim = css(mix(tones.background, tones.label, 0.45));
    for (const t of texts) {
      g.fillStyle = t.dim ? dim : t.wait ? tones.mutedText : label;
      g.fillText(t.text, t.x, t.y);
    }

    const trigger = this.model.report.trigger;
    if (trigger !== null) {
      const at = Math.round(x(trigger.at)) + 0.5;
      g.strokeStyle = tones.trigger;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(at, 0);
      g.lineTo(at, height);
      g.stroke();
    }
    this.outline(frame, frame.trigger, tones.trigger, 1.5);
    if (!same(frame.hovered, frame.selected)) this.outline(frame, frame.hovered, tones.hover, 1);
    this.outline(frame, frame.selected, tones.selection, 2.5);

    if (frame.cursor !== null && frame.marked === null) {
      const at = Math.round(x(frame.cursor)) + 0.5;
      g.fillStyle = tones.strongLine;
      g.globalAlpha = 0.8;
      g.fillRect(at - 0.5, 0, 1, height);
      g.globalAlpha = 1;
    }
    if (frame.marked !== null) {
      const a = x(frame.marked.from);
      const b = x(frame.marked.to);
      g.fillStyle = tones.shade;
      g.fillRect(0, 0, a, height);
      g.fillRect(b, 0, width - b, height);
      g.fillStyle = tones.window;
      g.fillRect(a - 1, 0, 1, height);
      g.fillRect(b, 0, 1, height);
    }
    if (visible.length === 0 || this.model.calls === 0) {
      g.fillStyle = tones.mutedText;
      g.font = BOLD_FONT;
      g.fillText("No calls in this report.", 16, 24);
    }
  }

  private strip(
    frame: ChartFrame,
    strip: Strip,
    w: number,
    h: number,
    ratio: number,
    texts: { text: string; x: number; y: number; dim: boolean; wait: boolean }[],
  ): void {
    const track = this.model.tracks[strip.thread];
    const { tones } = frame.palette;
    const look: LaneLook = {
      palette: frame.palette,
      mask: frame.mask,
      matches: frame.matches === null ? null : frame.matches[strip.thread],
      labelFrom: strip.open ? 28 * ratio : Infinity,
    };
    const bottomOf = (strip.top + strip.rows * strip.row - frame.scroll) * ratio;
    for (let d = 0; d < strip.rows; d++) {
      // Rounding each edge, not the height, keeps rows gapless at fractional pixel ratios.
      const top = Math.round((strip.top + d * strip.row - frame.scroll) * ratio);
      const bottom = Math.round((strip.top + (d + 1) * strip.row - frame.scroll) * ratio);
      if (bottom <= 0 || top >= h) continue;
      const a = Math.max(0, top);
      // The last pixel row of a lane stays background: a hairline between depths.
      const b = Math.min(h, strip.open ? bottom - Math.max(1, Math.round(ratio)) : bottom);
      if (b <= a) continue;
      this.boxes.clear();
      this.waits.clear();
      const line = this.buffer.subarray(a * w, (a + 1) * w);
      this.drawn += rasterLane(track, d, frame.view.from, frame.view.to, line, look, this.boxes, this.waits);
      for (let y = a + 1; y < b; y++) this.buffer.copyWithin(y * w, a * w, (a + 1) * w);
      const stripe = pixel(tones.waitHatch);
      const every = Math.round((strip.open ? 7 : 5) * ratio);
      for (let i = 0; i < this.waits.length; i++) {
        const box = this.waits.get(i);
        hatch(this.buffer, w, a, b, box.from, box.to, stripe, every, Math.max(1, Math.round(ratio * 1.3)));
      }
      if (top + ROW * ratio * 0.3 < 0) continue;
      for (let i = 0; i < this.boxes.length; i++) {
        const box = this.boxes.get(i);
        const name = this.model.names[track.lanes.method[box.at]];
        const room = (box.to - box.from) / ratio - 7;
        const text = this.labeller.fits(this.surface.context, room, name.short, name.name);
        if (text === "") continue;
        const dim = frame.mask !== null && frame.mask[track.lanes.method[box.at]] === 0;
        const wait = (track.flags[track.lanes.slice[box.at]] & FLAG.wait) !== 0;
        texts.push({ text, x: box.from / ratio + 4, y: (top + bottom) / 2 / ratio + 0.5, dim, wait });
      }
    }
    this.gaps(frame, strip, track, w, h, ratio, bottomOf);
  }

  private gaps(frame: ChartFrame, strip: Strip, track: Track, w: number, h: number, ratio: number, bottom: number): void {
    const scale = w / (frame.view.to - frame.view.from);
    const top = Math.max(0, Math.round((strip.top - frame.scroll) * ratio));
    const end = Math.min(h, Math.round(Math.max(bottom, (strip.top + strip.height - 6 - frame.scroll) * ratio)));
    // A brake may leave a gap in every tick; pixels already hatched are not visited again.
    let hatched = 0;
    for (const [from, to] of track.gaps) {
      const left = Math.round((from - frame.view.from) * scale);
      const a = Math.max(hatched, left);
      const b = Math.min(w, Math.max(left + Math.round(2 * ratio), Math.round((to - frame.view.from) * scale)));
      if (b <= a || a >= w) continue;
      hatched = b;
      // Only where nothing is drawn: a call that reaches over the gap is known and stays readable.
      const back = pixel(frame.palette.tones.background);
      const fill = pixel(frame.palette.tones.gap);
      const stripe = pixel(frame.palette.tones.gapHatch);
      const every = Math.round(6 * ratio);
      for (let y = top; y < end; y++) {
        for (let x = a; x < b; x++) {
          const p = y * w + x;
          if (this.buffer[p] === back) this.buffer[p] = (x + y) % every < ratio * 1.5 ? stripe : fill;
        }
      }
    }
  }

  /** Where a call is on screen, CSS pixels; null when its thread does not show its depth. */
  boxOf(frame: ChartFrame, call: CallRef): { x: number; y: number; width: number; height: number } | null {
    const strip = frame.layout.strips.find((s) => s.thread === call.thread);
    if (strip === undefined) return null;
    const track = this.model.tracks[call.thread];
    const depth = track.depth[call.slice];
    if (depth >= strip.rows) return null;
    const scale = this.surface.width / (frame.view.to - frame.view.from);
    return {
      x: (track.start[call.slice] - frame.view.from) * scale,
      y: strip.top + depth * strip.row - frame.scroll,
      width: track.dur[call.slice] * scale,
      height: strip.open ? strip.row - 1 : strip.row,
    };
  }

  private outline(frame: ChartFrame, call: CallRef | null, colour: string, thick: number): void {
    const box = call === null ? null : this.boxOf(frame, call);
    if (box === null) return;
    const g = this.surface.context;
    // Cut far outside the screen: strokes of a million pixels are slow and imprecise.
    const a = Math.max(-10, box.x);
    const b = Math.min(this.surface.width + 10, Math.max(box.x + box.width, box.x + 3));
    if (b < 0 || a > this.surface.width) return;
    g.strokeStyle = colour;
    g.lineWidth = thick;
    g.strokeRect(a, box.y, b - a, box.height);
  }

  hit(frame: ChartFrame, x: number, y: number): ChartHit {
    const perPixel = (frame.view.to - frame.view.from) / this.surface.width;
    const time = frame.view.from + x * perPixel;
    const strip = stripAt(frame.layout, y + frame.scroll);
    const slack = 2 * perPixel;
    let call: CallRef | null = null;
    let gap = -1;
    if (strip !== null) {
      const track = this.model.tracks[strip.thread];
      const lane = laneAt(track.lanes, depthAt(strip, y + frame.scroll), time, slack);
      if (lane >= 0) call = { thread: strip.thread, slice: track.lanes.slice[lane] };
      gap = track.gaps.findIndex(([from, to]) => time >= from - slack && time <= to + slack);
    }
    const pause = this.model.pauses.findIndex(([s, d]) => time >= s - slack && time <= s + d + slack);
    return { strip, time, call, gap, pause };
  }
}

export function same(a: CallRef | null, b: CallRef | null): boolean {
  return a === b || (a !== null && b !== null && a.thread === b.thread && a.slice === b.slice);
}
