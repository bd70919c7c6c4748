// Colours, rows and the pixel lines of lanes: the drawing that needs no browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildPalette, contrast, hash, methodColour, mix, oklch, pixel, TONES, type ThemeName } from "../src/draw/colour.ts";
import { depthAt, layOut, ROW, stripAt, THIN_ROW } from "../src/draw/layout.ts";
import { pauseShares } from "../src/draw/pauses.ts";
import { Boxes, hatch, rasterLane, type LaneLook } from "../src/draw/raster.ts";
import { methodNames } from "../src/model/methods.ts";
import { buildTrack } from "../src/model/track.ts";
import { METHODS, model, NESTED, thread } from "./support.ts";

test("labels have a contrast of at least 7 to 1 on every call, in both themes", () => {
  for (const theme of ["light", "dark"] as ThemeName[]) {
    const { label, wait } = TONES[theme];
    for (let i = 0; i < 500; i++) {
      const [name] = methodNames([[`org.p${i}.q.C${i * 7}`, "m", null, 0]]);
      assert.ok(contrast(methodColour(name, theme), label) >= 7, `${theme} ${name.full}`);
    }
    assert.ok(contrast(wait, Number.parseInt(TONES[theme].mutedText.slice(1), 16)) >= 4.5, `${theme} wait`);
  }
});

test("a package keeps its colour", () => {
  assert.equal(hash("com.acme"), hash("com.acme"));
  const [a, b] = methodNames([["x.y.A", "m", null, 0], ["x.y.A", "n", null, 0]]);
  assert.equal(methodColour(a, "light"), methodColour(b, "light"));
  assert.equal(oklch(1, 0, 0), 0xffffff);
  assert.equal(oklch(0, 0, 0), 0);
  assert.equal(mix(0x000000, 0xffffff, 0.5), 0x808080);
  assert.equal(pixel(0x112233), 0xff332211);
});

const palette = buildPalette(methodNames(METHODS), "light");
const background = pixel(palette.tones.background);
const look: LaneLook = { palette, mask: null, matches: null, labelFrom: 10 };

function line(calls: Parameters<typeof thread>[1], width: number, to: number, with_: Partial<LaneLook> = {}): { pixels: Uint32Array; boxes: Boxes; waits: Boxes; drawn: number } {
  const pixels = new Uint32Array(width);
  const boxes = new Boxes();
  const waits = new Boxes();
  const drawn = rasterLane(buildTrack(thread("t", calls), 0), 0, 0, to, pixels, { ...look, ...with_ }, boxes, waits);
  return { pixels, boxes, waits, drawn };
}

test("a wide call fills its pixels, leaves a gap at its end and asks for a label", () => {
  const { pixels, boxes, drawn } = line([{ m: 0, s: 100, d: 300 }], 100, 1000);
  const fill = pixel(palette.fill[0]);
  assert.equal(drawn, 1);
  assert.equal(pixels[9], background);
  assert.equal(pixels[10], fill);
  assert.equal(pixels[38], fill);
  assert.notEqual(pixels[39], fill);
  assert.equal(pixels[40], background);
  assert.equal(boxes.length, 1);
  assert.deepEqual(boxes.get(0), { from: 10, to: 40, at: 0 });
});

test("a hundred thousand calls in view become at most two boxes a pixel, and none of them vanishes", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => ({ m: i % 2, s: i * 10, d: 5 }));
  const { pixels, drawn } = line(many, 500, 1_000_000);
  assert.ok(drawn <= 1000, String(drawn));
  assert.ok(pixels.every((p) => p !== background));
  const lone = line([{ m: 0, s: 500, d: 1 }], 100, 1000);
  assert.notEqual(lone.pixels[50], background);
});

test("a pixel's colour deepens with the share of its time that calls cover", () => {
  const distance = (p: number): number => Math.abs((p & 255) - 255) + Math.abs(((p >> 8) & 255) - 255) + Math.abs(((p >> 16) & 255) - 255);
  const dense = line(Array.from({ length: 10 }, (_, i) => ({ m: 1, s: i * 10, d: 9 })), 10, 1000).pixels[0];
  const sparse = line(Array.from({ length: 10 }, (_, i) => ({ m: 1, s: i * 10, d: 1 })), 10, 1000).pixels[0];
  assert.ok(distance(dense) > distance(sparse));
});

test("a long call that starts in a pixel of short ones is drawn in full", () => {
  const { pixels } = line([{ m: 1, s: 10, d: 1 }, { m: 1, s: 12, d: 1 }, { m: 0, s: 15, d: 500 }], 100, 1000);
  assert.equal(pixels[30], pixel(palette.fill[0]));
});

test("one match among a thousand short calls lights up its pixel", () => {
  const calls = Array.from({ length: 1000 }, (_, i) => ({ m: i === 777 ? 2 : 1, s: i * 10, d: 9 }));
  const mask = Uint8Array.from([0, 0, 1, 0]);
  const matches = new Uint32Array(1001);
  for (let i = 0; i < 1000; i++) matches[i + 1] = matches[i] + (i === 777 ? 1 : 0);
  const { pixels } = line(calls, 100, 10_000, { mask, matches });
  const lit = [...pixels].filter((p) => p === pixel(palette.fill[2])).length;
  assert.equal(lit, 1);
  assert.equal(pixels[77], pixel(palette.fill[2]));
});

test("wait points are listed for hatching and take the calm colour", () => {
  const { pixels, waits } = line([{ m: 3, s: 0, d: 500, f: 16 }], 100, 1000);
  assert.equal(waits.length, 1);
  assert.equal(pixels[20], pixel(palette.tones.wait));
});

test("a view inside one call, or past all of them, draws what is there", () => {
  const t = buildTrack(thread("t", [{ m: 0, s: 0, d: 1e9 }]), 0);
  const pixels = new Uint32Array(10);
  rasterLane(t, 0, 5e8, 5e8 + 100, pixels, look, new Boxes(), new Boxes());
  assert.ok(pixels.every((p) => p === pixel(palette.fill[0])));
  assert.equal(rasterLane(t, 0, 2e9, 3e9, pixels, look, new Boxes(), new Boxes()), 0);
  assert.ok(pixels.every((p) => p === background));
});

test("pauses tint a column by the share of it they cover", () => {
  const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.01;
  const view = { from: 0, to: 1000 };
  const one = pauseShares([[95, 110, "gc"], [5000, 10, "gc"]], view, 10);
  assert.ok(near(one[0], 0.05) && near(one[1], 1) && near(one[2], 0.05) && one[3] === 0);
  const many = pauseShares(Array.from({ length: 100 }, (_, i) => [i * 10, 2, "safepoint"] as const), view, 10);
  assert.ok(many.every((s) => near(s, 0.21)));
  const instant = pauseShares([[500, 0, "safepoint"], [1000, 0, "at the end"]], view, 10);
  assert.ok(instant[5] > 0 && instant[4] === 0 && instant.length === 10);
});

test("stripes run diagonally and stay inside", () => {
  const buffer = new Uint32Array(100);
  hatch(buffer, 10, 2, 6, 3, 9, 7, 3, 1);
  const at = (x: number, y: number): number => buffer[y * 10 + x];
  let inside = 0;
  for (let y = 0; y < 10; y++) for (let x = 0; x < 10; x++) {
    if (at(x, y) === 0) continue;
    assert.ok(x >= 3 && x < 9 && y >= 2 && y < 6);
    assert.equal((x + y) % 3, 0);
    inside++;
  }
  assert.equal(inside, 8);
});

test("rows are found by their place, open and collapsed", () => {
  const m = model([NESTED, thread("b", [{ m: 0, s: 0, d: 10 }])]);
  const layout = layOut(m, new Set([0]));
  assert.deepEqual(layout.strips.map((s) => [s.thread, s.open, s.row]), [[0, true, ROW], [1, false, THIN_ROW]]);
  const [first, second] = layout.strips;
  assert.equal(stripAt(layout, 0), first);
  assert.equal(stripAt(layout, second.top), second);
  assert.equal(stripAt(layout, layout.height + 5), null);
  assert.equal(depthAt(first, ROW * 2 + 1), 2);
  assert.equal(depthAt(first, ROW * 3 + 1), -1);
});
