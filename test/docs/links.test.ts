import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pages, prose, read, root } from './pages.js';

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  const text = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/<[^>]+>/g, '');
  const kept = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '');
  return kept.replaceAll(' ', '-');
}

function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const found = prose(read(page)).flatMap((line) => {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) return [];
    const anchor = anchorOf(heading);
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return [times === 0 ? anchor : `${anchor}-${times}`];
  });
  return new Set(found);
}

const anchors = new Map(pages().map((page) => [page, anchorsOf(page)]));

/** The links of a page that lead nowhere. */
function dead(page: string): string[] {
  return prose(read(page)).flatMap((line, at) =>
    [...line.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap(([, target]) => {
      if (/^[a-z]+:/.test(target!)) return [];
      const [path, fragment] = target!.split('#') as [string, string?];
      const file = path === '' ? page : normalize(join(dirname(page), path));
      const isDead = !existsSync(join(root, file)) || (fragment && anchors.get(file)?.has(fragment) === false);
      return isDead ? [`${page}:${at + 1} ${target}`] : [];
    }),
  );
}

test('every link of every page leads to a file and to a heading', () => {
  expect(anchors.size).toBeGreaterThan(80);
  expect(pages().flatMap(dead)).toEqual([]);
});
