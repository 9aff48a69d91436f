import { expect, test } from '@jest/globals';
import type { Row } from '../../../dashboard/src/data/rows/types.js';
import { csvOf } from '../../../dashboard/src/pages/rows/csv.js';
import { filterOf } from '../../../dashboard/src/pages/rows/filter.js';
import { hintOfRows } from '../../../dashboard/src/pages/rows/hint.js';

const answer = (text: string | null) => ({ reward: 0, answer: text, feedback: null, error: null, traceId: 'rol_1' });
const row = (seed: number, seen: boolean | null, input: string): Row => ({
  seed,
  name: String(seed),
  group: 'failing',
  seen,
  input,
  expected: 'a',
  before: null,
  after: answer('b'),
  reviews: [],
});

test('a CSV quotes what would end a cell or a line', () => {
  const [, ...lines] = csvOf([row(1, false, 'x, "y"\nz'), row(2, null, 'plain')]).split('\r\n');
  expect(lines).toEqual(['1,failing,true,"x, ""y""\nz",a,,,b,0,,,rol_1', '2,failing,,plain,a,,,b,0,,,rol_1', '']);
});

test('a hint shows rows that the search has seen, and no others', () => {
  expect(hintOfRows([row(1, false, 'held out'), row(2, true, 'seen')])).toBe(
    'These rows need other answers:\n- "seen" expects "a", and got "b".',
  );
  expect(hintOfRows([row(1, false, 'held out')])).toBeNull();
  const said = (more: Partial<Row['reviews'][number]>) => ({ verdict: null, note: null, corrected: null, ...more });
  const reviewed = (...reviews: object[]): Row => ({ ...row(3, true, 'seen'), reviews: reviews as Row['reviews'] });
  expect(hintOfRows([reviewed(said({ verdict: 'right' }))])).toBeNull();
  expect(hintOfRows([reviewed(said({ verdict: 'bad_expected', note: 'Ask first.' }))])).toBe(
    'These rows need other answers:\n- "seen" and got "b". Note: Ask first.',
  );
  expect(hintOfRows([reviewed(said({ corrected: 'c' }), said({ verdict: 'bad_expected' }))])).toContain('expects "c"');
});

test('the filter of an address has what the service knows', () => {
  expect(filterOf(new URLSearchParams('group=failing&seen=false&expected=a&q=&answered=b&tab=rows'))).toEqual({
    group: 'failing',
    seen: false,
    expected: 'a',
    answered: 'b',
  });
  expect(filterOf(new URLSearchParams('group=toString&seen=perhaps'))).toEqual({});
});
