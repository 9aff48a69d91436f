/** Places the boxes of a graph in layers from left to right, and routes its edges between them. */
import { ordered, placeVertically, type Cell } from './rows.js';

export interface Box {
  id: string;
  width: number;
  height: number;
}

export interface Link {
  from: string;
  to: string;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout<B extends Box, L extends Link> {
  width: number;
  height: number;
  /** Boxes with their left upper corners, by layer and from top to bottom. */
  boxes: (B & Point & { layer: number })[];
  /** Edges with the points that they pass, in pairs that bound each column. */
  links: { link: L; points: Point[] }[];
}

const columnGap = 52;
const passHeight = 10;

export function layoutGraph<B extends Box, L extends Link>(boxes: readonly B[], links: readonly L[]): Layout<B, L> {
  const layers = layersOf(boxes, links);
  const cells = new Map<string, Cell>();
  for (const { id, width, height } of boxes)
    cells.set(id, { id, width, height, layer: layers.get(id)!, before: [], after: [], y: 0 });
  const all = [...cells.values()];
  const routes = links.map((link) => ({ link, cells: routeOf(cells.get(link.from)!, cells.get(link.to)!, all) }));
  const columns = ordered(all);
  placeVertically(columns);
  const widths = columns.map((column) => Math.max(0, ...column.map(({ width }) => width)));
  const lefts = widths.map((_, layer) => widths.slice(0, layer).reduce((sum, width) => sum + width + columnGap, 0));
  const placed = boxes.map((box) => {
    const { layer, y } = cells.get(box.id)!;
    return { ...box, layer, x: lefts[layer]! + (widths[layer]! - box.width) / 2, y: y - box.height / 2 };
  });
  const boxOf = new Map(placed.map((box) => [box.id, box]));
  const pointsOf = (route: Cell[]): Point[] =>
    route.flatMap((cell, n) => {
      const box = boxOf.get(cell.id);
      const left = { x: box?.x ?? lefts[cell.layer]!, y: cell.y };
      const right = { x: box ? box.x + box.width : lefts[cell.layer]! + widths[cell.layer]!, y: cell.y };
      return n === 0 ? [right] : n === route.length - 1 ? [left] : [left, right];
    });
  return {
    width: lefts.length === 0 ? 0 : lefts.at(-1)! + widths.at(-1)!,
    height: Math.max(0, ...all.map(({ y, height }) => y + height / 2)),
    boxes: placed.sort((a, b) => a.layer - b.layer || a.y - b.y),
    links: routes.map(({ link, cells: route }) => ({ link, points: pointsOf(route) })),
  };
}

/** The length of the longest path to each box; an edge that would close a cycle does not count. */
function layersOf(boxes: readonly Box[], links: readonly Link[]): Map<string, number> {
  const layers = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    open.add(id);
    const before = links.filter(({ from, to }) => to === id && !open.has(from)).map(({ from }) => visit(from) + 1);
    open.delete(id);
    const layer = Math.max(0, ...before);
    layers.set(id, layer);
    return layer;
  };
  for (const { id } of boxes) visit(id);
  return layers;
}

/** The cells of an edge, with a gap in each layer that it passes. */
function routeOf(from: Cell, to: Cell, all: Cell[]): Cell[] {
  const route = [from];
  for (let layer = from.layer + 1; layer < to.layer; layer += 1) {
    const id = `${from.id} ${to.id} ${layer}`;
    const gap: Cell = { id, width: 0, height: passHeight, layer, before: [], after: [], y: 0 };
    all.push(gap);
    route.push(gap);
  }
  route.push(to);
  if (to.layer > from.layer)
    for (let n = 1; n < route.length; n += 1) {
      route[n - 1]!.after.push(route[n]!);
      route[n]!.before.push(route[n - 1]!);
    }
  return route;
}
