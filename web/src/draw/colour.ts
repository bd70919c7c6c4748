// The colours of calls: one hue a package, the same in every report and every view.
//
// Colours are chosen in OKLCH, whose lightness is perceptual: with lightness fixed by theme, every hue carries
// the label's text with the same contrast (unit-tested to 7:1). Wait points and library code get fixed calm
// tones, so that the application's own code is what catches the eye. Source of the conversion: B. Ottosson,
// "A perceptual color space for image processing" (2020).
import type { MethodName } from "../model/methods.ts";

export type ThemeName = "light" | "dark";

/** Colours as 0xRRGGBB. */
export interface Tones {
  readonly background: number;
  readonly text: string;
  /** Text on calls. */
  readonly label: number;
  readonly mutedText: string;
  readonly line: string;
  readonly strongLine: string;
  readonly wait: number;
  readonly waitHatch: number;
  readonly gap: number;
  readonly gapHatch: number;
  readonly pause: string;
  readonly pauseSolid: string;
  readonly trigger: string;
  readonly selection: string;
  readonly hover: string;
  readonly window: string;
  readonly shade: string;
  readonly running: string;
  readonly waiting: string;
}

export const TONES: Readonly<Record<ThemeName, Tones>> = {
  light: {
    background: 0xffffff,
    text: "#1c2128",
    label: 0x14181d,
    mutedText: "#59636e",
    line: "#e4e8ec",
    strongLine: "#c9d1d9",
    wait: 0xe3e8f1,
    waitHatch: 0xc6d0e2,
    gap: 0xfff1d6,
    gapHatch: 0xe9a63a,
    pause: "rgba(190, 60, 110, 0.13)",
    pauseSolid: "#c2417c",
    trigger: "#d1242f",
    selection: "#0a3fb8",
    hover: "#1c2128",
    window: "#2f6feb",
    shade: "rgba(110, 120, 135, 0.17)",
    running: "#4c8bd8",
    waiting: "#c6d0e2",
  },
  dark: {
    background: 0x12161c,
    text: "#e4e9f0",
    label: 0xf6f8fa,
    mutedText: "#97a2b0",
    line: "#222934",
    strongLine: "#374150",
    wait: 0x262e3b,
    waitHatch: 0x3a4659,
    gap: 0x3b2d12,
    gapHatch: 0xb37a1c,
    pause: "rgba(235, 100, 160, 0.17)",
    pauseSolid: "#e0639c",
    trigger: "#ff6b6b",
    selection: "#9cc4ff",
    hover: "#ffffff",
    window: "#5b9bff",
    shade: "rgba(4, 6, 10, 0.5)",
    running: "#3f7fcf",
    waiting: "#3a4659",
  },
};

/** OKLCH to 0xRRGGBB, out-of-range channels cut. Hue in degrees. */
export function oklch(lightness: number, chroma: number, hue: number): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (v: number): number => {
    const c = Math.min(1, Math.max(0, v));
    return Math.round((c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055) * 255);
  };
  const red = gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const green = gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const blue = gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
  return (red << 16) | (green << 8) | blue;
}

/** FNV-1a over UTF-16 units: stable across runs, machines and languages. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  // FNV's low bits are weak for short strings with a common prefix, as packages are; mix once more.
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

const PLATFORM = /^(java|javax|jdk|sun|com\.sun)(\.|$)/;

/** Fill of a method's calls: hue by package, a shade by class; the platform's own code is nearly grey. */
export function methodColour(name: MethodName, theme: ThemeName): number {
  // A class without a package, and a category of a native program, has a colour of its own.
  const h = hash(name.pack === "" ? name.className : name.pack);
  // Steps of 20 degrees, not 360 hues: two packages then differ visibly or not at all, and the second chroma keeps
  // many of the equal ones apart.
  const hue = (h % 18) * 20;
  const shade = ((hash(name.className) >>> 7) % 5) / 4 - 0.5;
  const chroma = PLATFORM.test(name.pack) ? 0.012 : (h >>> 9) & 1 ? 0.1 : 0.065;
  return theme === "light"
    ? oklch(0.845 + shade * 0.05, chroma, hue)
    : oklch(0.405 + shade * 0.045, chroma, hue);
}

/** `share` of `over` on top of `under`, both 0xRRGGBB. */
export function mix(under: number, over: number, share: number): number {
  const channel = (shift: number): number => {
    const u = (under >> shift) & 255;
    const o = (over >> shift) & 255;
    return Math.round(u + (o - u) * share) << shift;
  };
  return channel(16) | channel(8) | channel(0);
}

/** WCAG contrast ratio of two 0xRRGGBB colours, 1 to 21. */
export function contrast(a: number, b: number): number {
  const luminance = (c: number): number => {
    const part = (v: number): number => {
      const x = v / 255;
      return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part((c >> 16) & 255) + 0.7152 * part((c >> 8) & 255) + 0.0722 * part(c & 255);
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

export function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

/** 0xRRGGBB as an opaque pixel of a little-endian Uint32 view of ImageData (bytes R, G, B, A). */
export function pixel(colour: number): number {
  return (0xff000000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}

/** Colours of one theme for one set of methods, and of the same methods when a search leaves them out. */
export interface Palette {
  readonly tones: Tones;
  /** By method, 0xRRGGBB. */
  readonly fill: Uint32Array;
  readonly dimmed: Uint32Array;
}

export function buildPalette(names: readonly MethodName[], theme: ThemeName): Palette {
  const tones = TONES[theme];
  const fill = Uint32Array.from(names, (n) => methodColour(n, theme));
  const dimmed = fill.map((c) => mix(tones.background, greyOf(c), 0.3));
  return { tones, fill, dimmed };
}

function greyOf(c: number): number {
  const y = Math.round(0.3 * ((c >> 16) & 255) + 0.59 * ((c >> 8) & 255) + 0.11 * (c & 255));
  return (y << 16) | (y << 8) | y;
}
