import { describe, expect, test } from '@jest/globals';
import { nextSort, requestOf, viewOf } from '../../../dashboard/src/pages/runs/address.js';
import { gainOf, scaleOf } from '../../../dashboard/src/pages/runs/scale.js';

type Run = Parameters<typeof scaleOf>[0][number];

const run = (key: string | null, difference: number | null, reach = 0.1) =>
  ({
    comparable_key: key,
    comparison:
      difference === null
        ? null
        : { difference, interval: { low: difference - reach, high: difference + reach }, basis: 'heldout' },
  }) as Run;

describe('the axis of gains', () => {
  test('is that of most runs, as wide as their intervals, to one digit', () => {
    const runs = [run('a', 0.2), run('b', 0.9), run('a', -0.264), run('c', null), run('c', null), run('c', null)];
    expect(scaleOf(runs, null)).toEqual({ key: 'a', reach: 0.4 });
    expect(scaleOf(runs, 'b')).toEqual({ key: 'b', reach: 1 });
    // Of runs that are not shown: as without a wish.
    expect(scaleOf(runs, 'c')?.key).toBe('a');
  });

  test('ignores ends without a bound, and runs that are comparable with no other', () => {
    expect(scaleOf([run('a', 0.2, Number.MAX_VALUE)], null)).toEqual({ key: 'a', reach: 0.2 });
    expect(scaleOf([run(null, 0.2)], null)).toBeNull();
    expect(gainOf(run('a', null))).toBeNull();
  });
});

describe('the address of a view', () => {
  const view = (query: string) => viewOf(new URLSearchParams(query));

  test('names order and filters; what it does not know is left out', () => {
    expect(requestOf(view('sort=-gain&kind=session&status=running&dataset=-&tag=a&by=key_1'))).toEqual({
      ...{ sort: '-gain', kind: 'session', state: 'running', dataset: '-', tag: 'a', created_by: 'key_1' },
      archived: 'true',
    });
    expect(requestOf(view('sort=speed&kind=deployment&group=month'))).toEqual({ sort: '-created' });
  });

  test('sorts by the best first, then the other way', () => {
    expect(nextSort(view(''), 'gain')).toBe('-gain');
    expect(nextSort(view('sort=-gain'), 'gain')).toBe('gain');
    expect(nextSort(view('sort=-gain'), 'cost')).toBe('cost');
  });
});
