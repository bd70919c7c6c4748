// Draws one lane of calls into one line of pixels.
//
// The chart is painted into a pixel buffer, not with rectangles: a lane is computed once as a line of pixels and
// copied down the rows of its height, so a frame's cost depends on the screen and not on the number of calls.
// Calls too short to see are not skipped: a pixel shows the exact share of its time that calls cover, and lights
// up if any of them matches the search. Must not allocate: it runs for every visible lane of every frame.
import type { Nanos } from "../data/schema.ts";
import { gallopTo, firstAbove, type Lanes } from "../model/lanes.ts";
import { FLAG } from "../data/schema.ts";
import { mix, pixel, type Palette } from "./colour.ts";
import type { Track } from "../model/track.ts";

/** A call wide enough to deserve a label or a hatch; positions in device pixels. */
export interface Box {
  from: number;
  to: number;
  /** Position in the lane arrays. */
  at: number;
}

/** Reused list of boxes: grows, never shrinks. */
export class Boxes {
  private readonly items: Box[] = [];
  length = 0;

  clear(): void {
    this.length = 0;
  }

  push(from: number, to: number, at: number): void {
    const box = this.items[this.length];
    if (box === undefined) this.items.push({ from, to, at });
    else {
      box.from = from;
      box.to = to;
      box.at = at;
    }
    this.length++;
  }

  get(i: number): Box {
    return this.items[i];
  }
}

export interface LaneLook {
  readonly palette: Palette;
  /** Methods that stand out; null: all do. */
  readonly mask: Uint8Array | null;
  /** Per thread and lane position: running count of matches, one longer than the lanes; null without search. */
  readonly matches: Uint32Array | null;
  /** Calls at least this wide get a separator and go to the label list, device pixels. */
  readonly labelFrom: number;
}

/** Below this share of a pixel a call would vanish; it keeps at least this much of its colour. */
const FAINTEST = 0.3;
/** Narrower calls are merged with their neighbours, device pixels. */
const MERGE_BELOW = 1.5;

/**
 * Fills `line` (device pixels of the visible range) with lane `d` of `track` and lists wide calls in `boxes`,
 * wait points in `waits`. Returns the number of calls or merged groups drawn.
 */
export function rasterLane(
  track: Track,
  d: number,
  from: Nanos,
  to: Nanos,
  line: Uint32Array,
  look: LaneLook,
  boxes: Boxes,
  waits: Boxes,
): number {
  const lanes: Lanes = track.lanes;
  const { tones, fill, dimmed } = look.palette;
  const width = line.length;
  const scale = width / (to - from);
  const perPixel = 1 / scale;
  const background = tones.background;
  line.fill(pixel(background));
  const hi = lanes.first[d + 1];
  let i = firstAbove(lanes.end, lanes.first[d], hi, from);
  let drawn = 0;
  while (i < hi && lanes.start[i] < to) {
    const x0 = (lanes.start[i] - from) * scale;
    const x1 = (lanes.end[i] - from) * scale;
    drawn++;
    if (x1 - x0 >= MERGE_BELOW) {
      const a = x0 <= 0 ? 0 : Math.round(x0);
      const b = x1 >= width ? width : Math.max(a + 1, Math.round(x1));
      const wait = (track.flags[lanes.slice[i]] & FLAG.wait) !== 0;
      const shown = look.mask === null || look.mask[lanes.method[i]] !== 0;
      const colour = wait ? (shown ? tones.wait : mix(background, tones.wait, 0.5)) : (shown ? fill : dimmed)[lanes.method[i]];
      line.fill(pixel(colour), a, b);
      // A thin gap at the right end keeps equal neighbours apart.
      if (x1 < width && b - a >= 4) line[b - 1] = pixel(mix(background, colour, 0.35));
      if (b - a >= look.labelFrom) boxes.push(a, b, i);
      if (wait && shown && b - a >= 3) waits.push(a, b, i);
      i++;
      continue;
    }
    const x = Math.floor(x0);
    let j = gallopTo(lanes.start, i + 1, hi, from + (x + 1) * perPixel);
    // Only the last of the group can reach far beyond this pixel; it is drawn as its own.
    if (j - 1 > i && (lanes.end[j - 1] - lanes.start[j - 1]) * scale >= MERGE_BELOW) j--;
    if (x >= 0 && x < width) {
      let speaker = i + ((j - i) >> 1);
      let shown = true;
      if (look.matches !== null && look.mask !== null) {
        const before = look.matches[i];
        shown = look.matches[j] > before;
        // A group with a match speaks with the match's colour: find the first one.
        if (shown) {
          speaker = i;
          while (look.mask[lanes.method[speaker]] === 0) speaker++;
        }
      }
      const covered = (lanes.covered[j] - lanes.covered[i]) * scale;
      const share = covered >= 1 ? 1 : FAINTEST + (1 - FAINTEST) * covered;
      const wait = (track.flags[lanes.slice[speaker]] & FLAG.wait) !== 0;
      const colour = wait ? tones.waitHatch : (shown ? fill : dimmed)[lanes.method[speaker]];
      line[x] = pixel(mix(background, colour, shown && look.matches !== null ? 1 : share));
      // What the last of the group still covers of the next pixel, so that no hairline opens between groups.
      const rest = (lanes.end[j - 1] - from) * scale - (x + 1);
      if (rest > 0.25 && x + 1 < width) line[x + 1] = pixel(mix(background, colour, rest > 1 ? 1 : rest));
    }
    i = j;
  }
  return drawn;
}

/** Paints diagonal stripes into rows [top, bottom) and columns [from, to) of a buffer `stride` pixels wide. */
export function hatch(
  buffer: Uint32Array,
  stride: number,
  top: number,
  bottom: number,
  from: number,
  to: number,
  colour: number,
  every: number,
  thick: number,
): void {
  for (let y = top; y < bottom; y++) {
    const row = y * stride;
    const phase = ((y % every) + (from % every)) % every;
    for (let x = from - phase; x < to; x += every) {
      const a = x < from ? from : x;
      const b = x + thick > to ? to : x + thick;
      if (b > a) buffer.fill(colour, row + a, row + b);
    }
  }
}
