import { describe, expect, test } from '@jest/globals';
import type { Answer, Item } from '../../../src/client/index.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { project, seedCandidates, seedRollouts, type SeededRollout } from '../../platform/http/seed.js';
import { createEvaluation, createSession, httpOfFile } from '../../platform/http/support.js';

const http = httpOfFile();
const get = (path: string, query: Record<string, string>, key = http.key) =>
  http.call('GET', `/api/v1/compare/many${path}?${new URLSearchParams(query).toString()}`, undefined, {
    authorization: `Bearer ${key}`,
  });
const many = (ids: readonly string[], query: Record<string, string> = {}) => get('', { ids: ids.join(), ...query });
const rowsOf = (ids: readonly string[], query: Record<string, string> = {}) =>
  get('/rows', { ids: ids.join(), ...query });

type Column = Answer<'compareMany'>['columns'][number];
type Row = Item<'listComparedRows'>;
type Rewards = readonly (number | 'failed' | null)[];

const rolloutsOf = (rewards: Rewards, candidate: number): SeededRollout[] =>
  rewards.flatMap((reward, seed): SeededRollout[] => {
    if (reward === null) return [];
    if (reward === 'failed') return [{ candidate, seed, status: 'failed', error: 'The container answered 500.' }];
    return [{ candidate, seed, status: 'succeeded', reward, tokens: [10, 5], cost: 0.25, feedback: `seed ${seed}` }];
  });

async function evaluated(rewards: Rewards, more: object = {}): Promise<string> {
  const id = await createEvaluation(http, { seeds: rewards.map((_, seed) => seed), ...more });
  await seedRollouts(http, id, rolloutsOf(rewards, 0));
  return id;
}

/** A session with these rewards of its best candidate; seeds 0 and 1 train, 2 and 3 evaluate. */
async function searched(rewards: Rewards, rngSeed: number, more: object = {}): Promise<string> {
  const gepa = {
    ...{ generations: 2, population_size: 2, minibatch_size: 1, train_seeds: [0, 1] },
    evaluation: { seeds: [2, 3], heldout_seeds: [4, 5, 6, 7] },
  };
  const id = await createSession(http, { env_name: 'train', rng_seed: rngSeed, gepa, ...more });
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0, generation: 0 },
    { status: 'evaluated', reward: 1, generation: 1, parents: [0], text: 'Answer with the number only.' },
  ]);
  await seedRollouts(http, id, [
    ...rolloutsOf(
      rewards.map(() => 0),
      0,
    ),
    ...rolloutsOf(rewards, 1),
  ]);
  await project(http, id, { bestCandidateId: candidateId(id, 1) });
  return id;
}

const zeros = Array<number>(10).fill(0);
const ones = Array<number>(10).fill(1);

describe('columns', () => {
  test('stand beside the pinned one, each on its own common seeds, with corrected p-values', async () => {
    const named = { name: 'first', candidate: { messages: [{ role: 'system', content: 'Answer it.' }] } };
    const a = await evaluated([...zeros, 1, 'failed'], named);
    const b = await evaluated(ones);
    const c = await evaluated([1, 0, 0, null, null, 'failed', 0, 0, 0, 0]);
    const { status, body } = await many([b, a, c], { baseline: a });
    expect(status).toBe(200);
    const alone = (await http.call('GET', `/api/v1/compare?a=${a}&b=${b}`)).body;
    expect(body.baseline).toBe(a);
    expect(body.columns[0]).toEqual({
      ...alone.b,
      name: null,
      seeds_selected: 0,
      prompt_tokens: null,
      against_baseline: {
        seeds_in_common: 10,
        seeds_compared: 10,
        basis: 'heldout',
        difference: alone.difference,
        p_value: expect.any(Number),
        p_corrected: expect.closeTo(2 * body.columns[0].against_baseline.p_value, 12),
        verdict: 'better',
        rows_needed: null,
        won: 10,
        lost: 0,
        tied: 0,
        baseline_reward: 0,
        search_spread: null,
      },
    });
    expect(body.columns[1]).toMatchObject({ id: a, name: 'first', seeds: 11, seeds_failed: 1, prompt_tokens: 3 });
    expect(body.columns[1].against_baseline).toBeNull();
    expect(body.columns[2].against_baseline).toMatchObject({ won: 1, lost: 0, tied: 6, verdict: 'inconclusive' });
    expect(body.pairs.map(({ a, b }: { a: string; b: string }) => [a, b])).toEqual([
      [b, a],
      [b, c],
      [a, c],
    ]);
    expect(body.pairs[0]).toMatchObject({ won: 0, lost: 10, verdict: 'worse' });
    expect(body.groups).toEqual([]);
  });

  test('that only chance among many calls better are inconclusive', async () => {
    // Four of four: shown alone, and not among seven.
    const winner = await evaluated([1, 1, 1, 1]);
    const [base, ...others] = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => evaluated([0, 0, 0, 0])));
    const [two, eight] = [await many([base!, winner]), await many([base!, winner, ...others])];
    expect(two.body.columns[1].against_baseline).toMatchObject({ verdict: 'better' });
    expect(eight.body.columns[1].against_baseline).toMatchObject({ verdict: 'inconclusive', won: 4 });
    expect(eight.body.columns[1].against_baseline.difference).toEqual(two.body.columns[1].against_baseline.difference);
  });

  test('that are searches of one request show how much the search varies', async () => {
    const rewards = (gain: number) => [0, 0, 0, 0, gain, gain, gain, gain];
    const seeds = [0.4, 0.5, 0.6];
    const runs: string[] = [];
    for (const [at, gain] of seeds.entries()) runs.push(await searched(rewards(gain), at + 1));
    const base = candidateId(runs[0]!, 0);
    const other = await searched(rewards(0.5), 4, { patience: 3 });
    const { body } = await many([base, ...runs, other]);
    expect(body.groups).toEqual([
      { ids: runs, rng_seeds: 3, difference: expect.closeTo(0.5, 12), spread: expect.closeTo(0.1, 12) },
    ]);
    const spreads = body.columns.map((column: Column) => column.against_baseline?.search_spread ?? null);
    expect(spreads).toEqual([null, ...seeds.map(() => expect.closeTo(0.1, 12)), null]);
    expect(body.columns[1]).toMatchObject({
      prompt_tokens: 7,
      against_baseline: { seeds_compared: 4, basis: 'heldout' },
    });
    expect(body.columns.map((column: { seeds_selected: number }) => column.seeds_selected)).toEqual([0, 0, 0, 0, 0]);
    const unheld = await searched([0, 0, 1, 1], 9);
    const { body: chosen } = await many([candidateId(unheld, 0), unheld]);
    expect(chosen.columns).toMatchObject([{ seeds_selected: 4 }, { seeds_selected: 4 }]);
    const within = (await many([runs[0]!, runs[1]!, runs[2]!])).body;
    expect(within.groups).toMatchObject([{ difference: null, spread: expect.closeTo(0.1, 12) }]);
    expect((await many([base, runs[0]!, runs[1]!])).body.groups).toMatchObject([{ rng_seeds: 2, spread: null }]);
  });

  test('without a seed in common with the baseline have no comparison', async () => {
    const [a, b] = [await evaluated([1, 1]), await evaluated([null, null, 1])];
    const { status, body } = await many([a, b]);
    expect([status, body.columns[1].against_baseline, body.columns[1].mean_reward, body.pairs]).toEqual([
      200,
      null,
      null,
      [],
    ]);
  });
});

describe('rows', () => {
  test('are those of the counts, with every answer, in pages', async () => {
    const a = await evaluated([0, 0, 1, 1, 'failed', 1, null]);
    const b = await evaluated([1, 0, 0, 1, 1, 'failed', 1]);
    const c = await evaluated([1, 1, 0, 1, null, 1, 1]);
    const ids = [a, b, c];
    const { body: counts } = await many(ids);
    for (const [at, id] of [b, c].entries()) {
      const { won, lost, tied } = counts.columns[at + 1].against_baseline;
      for (const [outcome, expected] of Object.entries({ won, lost, different: won + lost })) {
        const { body } = await rowsOf(ids, { outcome, column: id });
        expect([id, outcome, body.total, body.counts[outcome]]).toEqual([id, outcome, expected, expected]);
        expect(body.data).toHaveLength(expected);
      }
      const { body } = await rowsOf(ids);
      expect(body.data.filter(({ cells }: Row) => cells[at + 1]?.outcome === 'tied')).toHaveLength(tied);
    }
    const { body: all } = await rowsOf(ids);
    expect(all.counts).toEqual({ all: 6, won: 2, lost: 1, different: 3, failed: 2 });
    expect(all.data.map(({ row, cells }: Row) => [row, ...cells.map((cell) => cell?.outcome ?? null)])).toEqual([
      [0, 'baseline', 'won', 'won'],
      [1, 'baseline', 'tied', 'won'],
      [2, 'baseline', 'lost', 'lost'],
      [3, 'baseline', 'tied', 'tied'],
      [4, 'failed', 'left_out', null],
      [5, 'baseline', 'failed', 'tied'],
    ]);
    expect(all.data[2].cells[1]).toMatchObject({ job_id: b, reward: 0, feedback: 'seed 2', error: null });
    expect((await rowsOf(ids, { outcome: 'failed', column: a })).body.data[0].cells[0].error).toContain('500');
  });

  test('come in pages without a gap, on which the same seeds count', async () => {
    const common = await searched([1, 1, 1, 1, 1, 1, 1, 1, 1], 5);
    const onceUnseen = await searched([1, 0, 1, 1, 0], 6);
    const repeated = await createEvaluation(http, { seeds: [0, 1, 2, 3, 4, 5] });
    await seedRollouts(http, repeated, [
      ...rolloutsOf([0, 'failed', 1, 1, 0, 0], 0),
      ...Array(9).fill({ ...rolloutsOf([0.5], 0)[0]!, seed: 3 }),
    ]);
    const ids = [repeated, common, onceUnseen];
    for (const filter of [{}, { outcome: 'won' }, { outcome: 'different', column: common }, { outcome: 'failed' }]) {
      const whole = (await rowsOf(ids, filter)).body;
      const pages = [(await rowsOf(ids, { ...filter, limit: '1' })).body];
      for (let last = pages[0]; last.has_more; last = pages.at(-1))
        pages.push((await rowsOf(ids, { ...filter, limit: '1', cursor: last.next_cursor })).body);
      expect(pages.flatMap(({ data }) => data)).toEqual(whole.data);
      expect(whole.data.length).toBe(whole.total);
      const [first, ...others] = pages;
      expect([first.total, first.counts]).toEqual([whole.total, whole.counts]);
      for (const { total, counts } of others) expect([total, counts]).toEqual([null, null]);
    }
    const { next_cursor: cursor } = (await rowsOf(ids, { limit: '1' })).body;
    const refused = await rowsOf(ids.slice(1), { cursor });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/cursor']);
  });

  test('are found by a part of a text', async () => {
    const rows = [1, 2, 3, 4].map((n) => ({ text: `Question ${n}`, label: n === 2 ? 'Lemon' : 'pear' }));
    const onRows = (rewards: Rewards) =>
      evaluated(rewards, {
        ...{ container_url: undefined, env_name: undefined, scorer: 'exact' },
        dataset: { rows, input: 'text', expected: 'label' },
        candidate: { messages: [{ role: 'user', content: '{{text}}' }] },
      });
    const ids = [await onRows([0, 0, 1, 1]), await onRows([1, 1, 1, 1])];
    const { body } = await rowsOf(ids, { q: 'lemon' });
    expect(body).toMatchObject({ total: 1, counts: { all: 4, won: 2 } });
    expect(body.data[0]).toMatchObject({ row: 1, input: 'Question 2', expected: 'Lemon' });
    expect((await rowsOf(ids, { q: 'QUESTION', outcome: 'won' })).body.total).toBe(2);
    expect((await rowsOf(ids, { q: 'plum' })).body.data).toEqual([]);
  });
});

describe('a request', () => {
  test('names two to eight ids, and one of them as baseline and column', async () => {
    const [a, b] = [await evaluated([1]), await evaluated([1])];
    const pointerOf = async (answer: ReturnType<typeof get>) => {
      const { status, body } = await answer;
      return [status, body.errors[0].pointer];
    };
    expect(await pointerOf(many([a]))).toEqual([422, '/ids']);
    expect(await pointerOf(many(Array<string>(9).fill(a)))).toEqual([422, '/ids']);
    expect(await pointerOf(many([a, '\0']))).toEqual([422, '/ids/1']);
    expect(await pointerOf(many([a, b], { baseline: 'evl_other' }))).toEqual([422, '/baseline']);
    expect(await pointerOf(rowsOf([a, b], { column: 'evl_other' }))).toEqual([422, '/column']);
    expect(await pointerOf(rowsOf([a, b], { outcome: 'tied' }))).toEqual([422, '/outcome']);
    expect(await pointerOf(rowsOf([a, b], { cursor: 'x' }))).toEqual([422, '/cursor']);
  });

  test('refuses other instances, and names the column', async () => {
    const [a, b] = [await evaluated([1], { name: 'First' }), await evaluated([1], { env_name: 'other' })];
    const { status, body } = await many([a, a, b]);
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, 'not_comparable', '/ids']);
    expect(body.detail).toContain(b);
    expect(body.detail).toContain(`${a} ("First")`);
  });

  test('finds nothing of another organization', async () => {
    const [a, b] = [await evaluated([1]), await searched([1, 1, 1, 1, 1], 1)];
    for (const path of ['', '/rows']) expect((await get(path, { ids: `${a},${b}` }, http.otherKey)).status).toBe(404);
  });
});
