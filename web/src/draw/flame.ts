// The flame graph: the merged call tree as an icicle, callers above, width by time.
//
// Boxes narrower than half a pixel are left out together with what is below them, which bounds a frame by the
// screen's width times the depth shown. Positions of the last frame are kept for hit tests.
import type { MethodName } from "../model/methods.ts";
import type { CallTree } from "../model/calltree.ts";
import { FONT, Labeller, type Surface } from "./canvas.ts";
import { css, mix, type Palette } from "./colour.ts";

export const FLAME_ROW = 19;

export interface FlameFrame {
  readonly tree: CallTree;
  /** The node that fills the width; 0 shows everything. */
  readonly focus: number;
  readonly selected: number;
  readonly hovered: number;
  readonly palette: Palette;
  readonly mask: Uint8Array | null;
}

export class Flame {
  private readonly labeller = new Labeller();
  private nodes: number[] = [];
  private boxes: number[] = [];

  constructor(
    private readonly names: readonly MethodName[],
    readonly surface: Surface,
  ) {}

  /** Height of all rows of a tree below `focus`, CSS pixels. */
  static height(tree: CallTree, focus: number): number {
    let deepest = 0;
    const visit: number[] = [focus];
    for (let n = visit.pop(); n !== undefined; n = visit.pop()) {
      deepest = Math.max(deepest, tree.depth[n]);
      for (const child of tree.children[n]) visit.push(child);
    }
    return (deepest + 1) * FLAME_ROW;
  }

  draw(frame: FlameFrame): void {
    const { context: g, width, height, ratio } = this.surface;
    const { tree, palette } = frame;
    const { tones } = palette;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = css(tones.background);
    g.fillRect(0, 0, width, height);
    g.font = FONT;
    g.textBaseline = "middle";
    this.nodes = [];
    this.boxes = [];
    // Ancestors of the focus span the whole width; below it, children share their parent's.
    const ancestors: number[] = [];
    for (let n = tree.parent[frame.focus]; n >= 0; n = tree.parent[n]) ancestors.push(n);
    for (const n of ancestors) this.box(frame, n, 0, width, true);
    const stack: { node: number; x: number; w: number }[] = [{ node: frame.focus, x: 0, w: width }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      this.box(frame, top.node, top.x, top.w, false);
      const whole = tree.total[top.node];
      if (whole <= 0) continue;
      let x = top.x;
      for (const child of tree.children[top.node]) {
        const w = (tree.total[child] / whole) * top.w;
        if (w < 0.5) break;
        stack.push({ node: child, x, w });
        x += w;
      }
    }
    g.lineWidth = 1;
    this.outline(frame.hovered, frame.selected === frame.hovered ? "" : tones.hover, 1);
    this.outline(frame.selected, tones.selection, 2);
  }

  private box(frame: FlameFrame, node: number, x: number, w: number, faded: boolean): void {
    const g = this.surface.context;
    const { tree, palette } = frame;
    const { tones } = palette;
    const y = tree.depth[node] * FLAME_ROW;
    this.nodes.push(node);
    this.boxes.push(x, y, w);
    const method = tree.method[node];
    const shown = frame.mask === null || (node > 0 && frame.mask[method] !== 0);
    let colour = node === 0 ? mix(tones.background, tones.label, 0.12) : tree.wait[node] ? tones.wait : (shown ? palette.fill : palette.dimmed)[method];
    if (faded) colour = mix(tones.background, colour, 0.5);
    g.fillStyle = css(colour);
    g.fillRect(x, y, w > 2 ? w - 1 : w, FLAME_ROW - 1);
    if (tree.wait[node] && w > 6) stripes(g, x, y, w - 1, FLAME_ROW - 1, css(tones.waitHatch));
    if (w < 26) return;
    const name = node === 0 ? null : this.names[method];
    const text = name === null ? this.labeller.fits(g, w - 8, "all") : this.labeller.fits(g, w - 8, name.full, name.short, name.name);
    g.fillStyle = shown || node === 0 ? css(tones.label) : tones.mutedText;
    g.fillText(text, x + 4, y + FLAME_ROW / 2);
  }

  private outline(node: number, colour: string, thick: number): void {
    const box = colour === "" ? null : this.boxOf(node);
    if (box === null) return;
    const g = this.surface.context;
    g.strokeStyle = colour;
    g.lineWidth = thick;
    g.strokeRect(box.x + thick / 2, box.y + thick / 2, Math.max(1, box.w - 1 - thick), FLAME_ROW - 1 - thick);
  }

  boxOf(node: number): { x: number; y: number; w: number } | null {
    const i = this.nodes.indexOf(node);
    return i < 0 ? null : { x: this.boxes[i * 3], y: this.boxes[i * 3 + 1], w: this.boxes[i * 3 + 2] };
  }

  /** The node at a point of the last frame, -1 for none. */
  hit(x: number, y: number): number {
    for (let i = 0; i < this.nodes.length; i++) {
      const [bx, by, bw] = [this.boxes[i * 3], this.boxes[i * 3 + 1], this.boxes[i * 3 + 2]];
      if (x >= bx && x < bx + bw && y >= by && y < by + FLAME_ROW) return this.nodes[i];
    }
    return -1;
  }

  /** Nodes of the last frame at one depth, left to right. */
  row(tree: CallTree, depth: number): number[] {
    return this.nodes
      .map((node, i) => ({ node, x: this.boxes[i * 3] }))
      .filter(({ node }) => tree.depth[node] === depth)
      .sort((a, b) => a.x - b.x)
      .map(({ node }) => node);
  }
}

function stripes(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string): void {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = colour;
  g.lineWidth = 1.3;
  g.beginPath();
  for (let s = x - h; s < x + w; s += 7) {
    g.moveTo(s, y + h);
    g.lineTo(s + h, y);
  }
  g.stroke();
  g.restore();
}
