import { beforeAll, describe, expect, test } from '@jest/globals';
import { childJobId } from '../../../src/core/jobs/kinds.js';
import { project, seedCandidates, seedRollouts } from '../../platform/http/seed.js';
import { createEvaluation, createGraphJob, finish, httpOfFile, sessionRequest } from '../../platform/http/support.js';

const base = '/api/v1/runs';
const http = httpOfFile();
const list = async (query = '') => (await http.call('GET', `${base}?${query}`)).body;

interface Run {
  job_id: string;
  name: string | null;
  created_at: string;
  ended_at: string | null;
  best_reward: number | null;
  total_cost_usd: number | null;
  rollouts: number;
  comparison: { difference: number } | null;
  [field: string]: unknown;
}

/** Few different values, so that there are ties; null: none. */
const gains = [0.2, null, -0.1, 0.2, 0.4, null, 0.2];
const costs = [0.01, 0.01, 0.5, 0, 0.003];
const names = ['beta', 'Alpha', 'ärger', 'beta', null, 'alpha 2'];
const dataset = { rows: Array.from({ length: 12 }, (_, n) => ({ input: `q${n}`, expected: `${n % 3}` })) };
const policy = { provider: 'local', model: 'local' };

async function createRowsSession(more: object): Promise<string> {
  const body = {
    policy_optimization: {
      ...{ algorithm: 'gepa', dataset, scorer: 'exact', policy, gepa: { generations: 2, population_size: 2 } },
      initial_prompt: { messages: [{ role: 'system', content: 'Answer {{input}}' }] },
    },
    ...more,
  };
  const { status, body: made } = await http.call('POST', '/api/v1/online/sessions', body);
  expect(status).toBe(201);
  return made.job_id as string;
}

async function end(jobId: string, n: number): Promise<void> {
  const gain = gains[n % gains.length]!;
  const verdict = gain !== null && {
    ...{ verdict: gain > 0 ? 'better' : 'worse', basis: 'heldout', seeds: 3, rowsNeeded: null },
    ...{ baseline: 0.3, winner: 0.3 + gain, difference: gain, low: gain - 0.1, high: gain + 0.1 },
    ...{ baselineInterval: { low: 0, high: 1 }, winnerInterval: { low: 0, high: 1 } },
  };
  const cost = costs[n % costs.length]!;
  const rollouts = Array.from({ length: 1 + (n % 3) }, (_, seed) => ({
    ...{ candidate: 0, seed, status: 'succeeded' as const, reward: 0.5, tokens: [3, 4] as [number, number] },
    cost: cost / (1 + (n % 3)),
  }));
  if (!jobId.startsWith('evl_')) {
    await seedCandidates(http, jobId, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
    await project(http, jobId, {
      bestCandidateId: `cand_${jobId.slice(4)}_0`,
      bestReward: 0.25 * (n % 4),
      history: [{ generation: 0, bestReward: 0.3 }],
      ...(verdict && { verdict }),
    });
  }
  await seedRollouts(http, jobId, rollouts);
  await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));
}

let ids: { sessions: string[]; evaluations: string[]; graphs: string[]; open: string[]; part: string };

beforeAll(async () => {
  const labels = (n: number) => ({
    name: names[n % names.length] ?? null,
    tags: [['nightly'], ['nightly', 'b'], []][n % 3]!,
  });
  ids = { sessions: [], evaluations: [], graphs: [], open: [], part: '' };
  for (let n = 0; n < 9; n += 1) ids.sessions.push(await createRowsSession(labels(n)));
  for (let n = 0; n < 5; n += 1) ids.evaluations.push(await createEvaluation(http, labels(n)));
  for (let n = 0; n < 4; n += 1) ids.graphs.push(await createGraphJob(http, labels(n)));
  const ended = [...ids.sessions, ...ids.evaluations, ...ids.graphs];
  for (const [n, id] of ended.entries()) await end(id, n);
  for (let n = 0; n < 3; n += 1)
    ids.open.push(
      (await http.call('POST', '/api/v1/online/sessions', { policy_optimization: sessionRequest, tags: ['open'] })).body
        .job_id,
    );
  await http.db.org('default', async (tx) => {
    // Times are shown in milliseconds. Two runs were created at the same instant.
    await tx.query(`update jobs set created_at = date_trunc('milliseconds', created_at)`);
    const same = 'update jobs set created_at = (select created_at from jobs where id = $2) where id = $1';
    await tx.query(same, ids.open.slice(0, 2));
  });
  const parent = childJobId('deployment', ids.open[0]!, 1);
  ids.part = ids.evaluations.pop()!;
  await http.db.org('default', (tx) => tx.query('update jobs set parent_id = $2 where id = $1', [ids.part, parent]));
}, 60_000);

describe('pages of each order', () => {
  /** What an order compares: a plain reading of the items. */
  const valueOf: Record<string, (run: Run) => number | string | null> = {
    created: ({ created_at }) => created_at,
    gain: ({ comparison }) => comparison?.difference ?? null,
    reward: ({ best_reward, ended_at }) => (ended_at === null ? null : best_reward),
    cost: ({ total_cost_usd, ended_at }) => (ended_at === null ? null : total_cost_usd),
    rollouts: ({ rollouts, ended_at }) => (ended_at === null ? null : rollouts),
    name: ({ name }) => name?.toLowerCase() ?? null,
  };
  const orders = Object.keys(valueOf).flatMap((by) => [by, `-${by}`]);

  test.each(orders)('are a plain sort: %s', async (sort) => {
    const all: Run[] = (await list('limit=1000')).data;
    expect(all).toHaveLength(20);
    const isDown = sort.startsWith('-');
    const value = valueOf[sort.replace('-', '')]!;
    const compared = (left: Run, right: Run): number => {
      const [a, b] = [value(left), value(right)];
      if (a === null || b === null) return a === b ? all.indexOf(left) - all.indexOf(right) : a === null ? 1 : -1;
      const order = a < b ? -1 : a > b ? 1 : left.job_id < right.job_id ? -1 : 1;
      return isDown ? -order : order;
    };
    const expected = all.toSorted(compared).map(({ job_id }) => job_id);
    for (const limit of [1, 3, 7, 100]) {
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const page = await list(`sort=${sort}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
        seen.push(...page.data.map(({ job_id }: Run) => job_id));
        expect(page.totals === null).toBe(cursor !== '');
        if (!page.has_more) break;
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(expected);
    }
  });

  test('a cursor belongs to its order', async () => {
    const { next_cursor: cursor } = await list('sort=-gain&limit=1');
    for (const sort of ['name', 'created'])
      expect((await http.call('GET', `${base}?sort=${sort}&cursor=${cursor}`)).status).toBe(422);
    expect((await http.call('GET', `${base}?cursor=bm9uc2Vuc2U`)).body.error.param).toBe('cursor');
  });
});

describe('a run', () => {
  test('has verdict, baseline, winner, data set, scorer, cost and length of its prompt', async () => {
    const run = (await list('limit=100')).data.find(({ job_id }: Run) => job_id === ids.sessions[0]);
    expect(run).toMatchObject({
      ...{ kind: 'session', parent_id: null, algorithm: 'gepa', models: ['local/local'], scorer: 'exact' },
      ...{ baseline_reward: 0.3, best_reward: 0, verdict: 'better', total_cost_usd: 0.01, rollouts: 1 },
      ...{ prompt_tokens: 3, last_result_at: null, created_by: { key_name: 'bootstrap' } },
      dataset: { num_rows: 12, name: null },
      comparison: { basis: 'heldout', difference: 0.2, interval: { low: 0.1, high: 0.30000000000000004 } },
    });
  });

  test('has no better prompt if its best one is the baseline', async () => {
    const id = await createRowsSession({});
    const isBaseline = async () => (await list('limit=1')).data[0].best_is_baseline;
    await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
    expect(await isBaseline()).toBeNull();
    const best = async (number: number) => {
      await project(http, id, { bestCandidateId: `cand_${id.slice(4)}_${number}` });
      return isBaseline();
    };
    expect([await best(0), await best(1)]).toEqual([true, false]);
    await http.db.org('default', (tx) => tx.query('delete from jobs where id = $1', [id]));
  });

  test('shares its key with runs on the same rows and scorer only', async () => {
    const runs: Run[] = (await list('limit=100')).data;
    const keysOf = (wanted: string[]) =>
      new Set(runs.filter(({ job_id }) => wanted.includes(job_id)).map((run) => run['comparable_key']));
    const keys = [ids.sessions, ids.evaluations, ids.graphs].map(keysOf);
    expect(keys.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(keys.flatMap((each) => [...each])).size).toBe(3);
  });

  test('that another job started is left out, unless parts are asked for', async () => {
    const find = async (query: string) => (await list(query)).data.find(({ job_id }: Run) => job_id === ids.part);
    expect(await find('limit=100')).toBeUndefined();
    expect((await find('limit=100&parts=true')).parent_id).toMatch(/^dep_/);
  });
});

describe('totals and groups', () => {
  test('are of all that passes, whatever the page', async () => {
    const all = await list('limit=100');
    const { totals } = await list('limit=1');
    expect(totals).toEqual(all.totals);
    const sum = (field: 'total_cost_usd' | 'rollouts') =>
      all.data.reduce((total: number, run: Run) => total + (run[field] ?? 0), 0);
    expect(totals).toMatchObject({ runs: 20, rollouts: sum('rollouts'), runs_of_unknown_cost: 3 });
    expect(totals.total_cost_usd).toBeCloseTo(sum('total_cost_usd'), 9);
  });

  test.each(['dataset', 'model', 'tag'])('by %s have the runs that their filter has', async (grouping) => {
    const { groups } = await list(`group_by=${grouping}&limit=1`);
    expect(groups.length).toBeGreaterThan(1);
    for (const { key, runs, rollouts } of groups) {
      const page = await list(`${grouping}=${encodeURIComponent(key ?? '-')}&limit=100`);
      expect([page.data.length, page.totals.rollouts]).toEqual([runs, rollouts]);
    }
  });
});

describe('commands', () => {
  const command = async (body: object) => http.call('POST', `${base}/commands`, body);
  const outcomes = ({ body }: { body: { runs: { job_id: string; outcome: string; status: string }[] } }) =>
    body.runs.map(({ job_id, outcome, status }) => [job_id, outcome, status]);

  test('list what they touch, then touch that alone, each as its own command', async () => {
    const filter = { tag: 'open' };
    const newest = [...ids.open].reverse();
    const dry = await command({ action: 'pause', filter, dry_run: true });
    expect(outcomes(dry).toSorted()).toEqual(newest.map((id) => [id, 'would', 'running']).toSorted());
    const sent = http.commander.sent.length;
    const done = await command({ action: 'pause', filter });
    expect(outcomes(done).toSorted()).toEqual(newest.map((id) => [id, 'done', 'paused']).toSorted());
    expect(http.commander.sent).toHaveLength(sent + 3);
    expect(outcomes(await command({ action: 'pause', filter }))).toEqual([]);
    const provider = await command({ action: 'resume', filter: { provider: 'openai' }, dry_run: true });
    expect(outcomes(provider)).toHaveLength(3);
  });

  test('answer for each id, also those that refuse or are unknown', async () => {
    const unknown = `ses_${'0'.repeat(32)}`;
    const body = (await command({ action: 'cancel', job_ids: [ids.sessions[0], unknown, ids.open[2]] })).body;
    const shown = body.runs.map(({ outcome, error }: { outcome: string; error: { code: string } | null }) => [
      outcome,
      error?.code,
    ]);
    expect(shown).toEqual([
      ['refused', 'invalid_state'],
      ['done', undefined],
      ['refused', 'not_found'],
    ]);
  });

  test('archive and tag', async () => {
    const job_ids = ids.sessions.slice(0, 2);
    expect(outcomes(await command({ action: 'tag', tag: 'kept', job_ids })).map(([, outcome]) => outcome)).toEqual([
      'done',
      'done',
    ]);
    expect((await list('tag=kept')).data).toHaveLength(2);
    expect(outcomes(await command({ action: 'tag', tag: 'kept', job_ids })).map(([, outcome]) => outcome)).toEqual([
      'unchanged',
      'unchanged',
    ]);
    await command({ action: 'archive', job_ids });
    expect((await list('tag=kept')).data).toEqual([]);
    await command({ action: 'unarchive', job_ids });
    expect((await list('tag=kept')).data).toHaveLength(2);
  });

  test.each([
    { action: 'pause' },
    { action: 'pause', job_ids: [], filter: {} },
    { action: 'pause', filter: {} },
    { action: 'tag', job_ids: ['ses_1'] },
    { action: 'pause', job_ids: ['ses_1'], tag: 'x' },
    { action: 'delete', job_ids: ['ses_1'] },
  ])('%j is 422', async (body) => {
    expect((await command(body)).status).toBe(422);
  });
});
