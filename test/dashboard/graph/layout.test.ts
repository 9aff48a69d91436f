/** Edges lead to the right, boxes do not overlap, and long edges pass between boxes. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { layoutGraph, type Link } from '../../../dashboard/src/pages/graph/layout/layout.js';

const boxes = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `s${n}`, width: 100, height: 40 }));
const link = (from: number, to: number): Link => ({ from: `s${from}`, to: `s${to}` });

const dags = fc
  .array(fc.tuple(fc.nat(29), fc.nat(29)), { maxLength: 60 })
  .map((pairs) => pairs.filter(([a, b]) => a < b).map(([a, b]) => link(a, b)));

test('an edge of an acyclic graph ends right of its start', () => {
  fc.assert(
    fc.property(dags, (links) => {
      const layout = layoutGraph(boxes(30), links);
      const left = new Map(layout.boxes.map(({ id, x }) => [id, x]));
      for (const { from, to } of links) expect(left.get(to)!).toBeGreaterThanOrEqual(left.get(from)! + 100);
      for (const { points } of layout.links)
        for (const [n, { x }] of points.entries()) if (n > 0) expect(x).toBeGreaterThanOrEqual(points[n - 1]!.x);
    }),
  );
});

test('boxes stay apart and inside', () => {
  fc.assert(
    fc.property(dags, (links) => {
      const { boxes: placed, width, height } = layoutGraph(boxes(30), links);
      const isInside = ({ x, y }: (typeof placed)[number]) =>
        Math.min(x, y) >= -1e-6 && x + 100 <= width + 1e-6 && y + 40 <= height + 1e-6;
      expect(placed.filter((box) => !isInside(box))).toEqual([]);
      const overlaps = placed.flatMap((a, n) =>
        placed.slice(n + 1).filter((b) => Math.abs(a.x - b.x) < 100 && Math.abs(a.y - b.y) < 40 + 10),
      );
      expect(overlaps).toEqual([]);
    }),
  );
});

test('an edge over several layers passes no box', () => {
  const { boxes: placed, links } = layoutGraph(boxes(4), [link(0, 1), link(1, 2), link(2, 3), link(0, 3)]);
  const points = links.at(-1)!.points;
  expect(points).toHaveLength(6);
  for (const box of placed.slice(1, 3))
    for (const { y } of points.slice(1, -1)) expect(Math.abs(y - (box.y + 20))).toBeGreaterThan(20);
});

test('edges do not cross where they need not', () => {
  const crossed = layoutGraph(boxes(4), [link(0, 3), link(1, 2)]);
  const y = Object.fromEntries(crossed.boxes.map((box) => [box.id, box.y]));
  expect(Math.sign(y['s0']! - y['s1']!)).toBe(Math.sign(y['s3']! - y['s2']!));
});

test('the steps of two versions may form a cycle', () => {
  const { boxes: placed } = layoutGraph(boxes(2), [link(0, 1), link(1, 0)]);
  expect(new Set(placed.map(({ layer }) => layer)).size).toBe(2);
});
