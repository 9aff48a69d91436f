import { expect, test } from '@jest/globals';
import { pagesBefore, referencePages, shellBlocks, takenBy, tutorial, variablesOf } from './blocks.js';

// The blocks of a page take variables from the tutorial, and from no page that the reference does
// not name for it. `readme.long.test.ts` runs each page with these alone.

const others = referencePages().filter((page) => shellBlocks(page).length > 0);

test.each(others)('%s takes what the list of examples says', (page) => {
  const code = shellBlocks(page)
    .map((block) => block.code)
    .join('\n');
  const used = new Set([...code.matchAll(/\$\{?([A-Z][A-Z_]+)/g)].map(([, name]) => name!));
  const own = [...variablesOf(page), ...variablesOf(tutorial)];
  const foreign = [...used].filter((name) => !own.includes(name));
  const taken = takenBy(page).filter((name) => /^[A-Z_]+$/.test(name));
  expect(foreign.sort()).toEqual(taken.sort());
  const before = pagesBefore(page).flatMap(variablesOf);
  expect(taken.filter((name) => !before.includes(name))).toEqual([]);
});

test('most pages have blocks', () => {
  expect(others.length).toBeGreaterThan(12);
});
