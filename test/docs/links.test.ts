import { expect, test } from '@jest/globals';
import { dirname, join, normalize } from 'node:path';
import { brokenLinks } from '../support/links.js';
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

/** The links of a page to a heading that its target does not have. */
function deadAnchors(page: string): string[] {
  return prose(read(page)).flatMap((line, at) =>
    [...line.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)/g)].flatMap(([, path, anchor]) => {
      const target = path === '' ? page : normalize(join(dirname(page), path!));
      return anchors.get(target)?.has(anchor!) === false ? [`${page}:${at + 1} ${path}#${anchor}`] : [];
    }),
  );
}

test('every link of every page leads to a file and to a heading', () => {
  expect(anchors.size).toBeGreaterThan(80);
  const broken = (page: string) => brokenLinks(root, page).map((link) => `${page} ${link}`);
  expect(pages().flatMap((page) => [...broken(page), ...deadAnchors(page)])).toEqual([]);
});

test('llms.txt lists each page of the reference', () => {
  const listed = read('llms.txt');
  const reference = pages('docs/reference').filter((page) => !page.endsWith('README.md'));
  expect(reference.length).toBeGreaterThan(20);
  expect(reference.filter((page) => !listed.includes(`](${page})`))).toEqual([]);
});
