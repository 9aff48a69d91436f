import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../src/core/jobs/ids.js';
import { project, seedCandidates, seedRollouts, type SeededRollout } from '../platform/http/seed.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  evaluationRequest,
  httpOfFile,
} from '../platform/http/support.js';

const http = httpOfFile();
const sessions = '/api/v1/online/sessions';
const labels = ['a', 'b', 'c'];
const rows = Array.from({ length: 40 }, (_, n) => ({ text: `text ${n}`, team: labels[n % 3]!, note: n }));
const done = { status: 'succeeded' as const, tokens: [1, 1] as [number, number] };

interface JobRow {
  row: number;
  group: string;
  seen: boolean;
  input: string;
  expected: string;
  baseline: { reward: number; answer: string; trace_id: string } | null;
  candidate: { reward: number; answer: string; rollouts: number; error: string | null; trace_id: string } | null;
}

/** Replaces the answers of rollouts, by their ordinals. */
const answer = (jobId: string, answers: Record<number, string>) =>
  http.db.org('default', async (tx) => {
    for (const [ordinal, content] of Object.entries(answers))
      await tx.query('update model_calls set response = $2 where rollout_id = $1', [
        rolloutId(jobId, Number(ordinal)),
        JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }),
      ]);
  });

async function call(method: 'GET' | 'POST', path: string, body?: object) {
  const answered = await http.call(method, path, body);
  expect([answered.status, answered.body.errors]).toEqual([expect.any(Number), undefined]);
  return answered.body;
}

describe('of a session', () => {
  let id: string;
  let path: string;
  let heldOut: number[];
  let train: number[];

  beforeAll(async () => {
    const body = {
      policy_optimization: {
        dataset: { rows, input: 'text', expected: 'team' },
        scorer: 'exact',
        policy: { provider: 'local', model: 'local' },
        initial_prompt: { messages: [{ role: 'system', content: 'Choose a, b or c.' }] },
        algorithm: 'gepa',
        gepa: { population_size: 2, generations: 2 },
        budget: { max_rollouts: 400 },
      },
    };
    const created = await call('POST', sessions, body);
    id = created.session_id as string;
    path = `${sessions}/${id}/rows`;
    ({ heldout: heldOut, train } = created.split as { heldout: number[]; train: number[] });
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0.5, generation: 0 },
      { status: 'evaluated', reward: 0.9, generation: 1, parents: [0] },
      { status: 'rejected', generation: 1, parents: [0] },
    ]);
    const [h0, h1, h2, h3] = heldOut as [number, number, number, number];
    const seeded: SeededRollout[] = [
      { ...done, candidate: 0, seed: h0, reward: 0, stage: 'heldout' },
      { ...done, candidate: 1, seed: h0, reward: 1, stage: 'heldout' },
      { ...done, candidate: 0, seed: h1, reward: 0, stage: 'heldout' },
      { ...done, candidate: 1, seed: h1, reward: 0, stage: 'heldout', feedback: 'Wrong. "x".' },
      { ...done, candidate: 0, seed: h2, reward: 1, stage: 'heldout' },
      { ...done, candidate: 1, seed: h2, reward: 0, stage: 'heldout' },
      { ...done, candidate: 0, seed: h3, reward: 1, stage: 'heldout' },
      { candidate: 1, seed: h3, status: 'failed', error: 'no answer', stage: 'heldout' },
      { ...done, candidate: 0, seed: train[0]!, reward: 1 },
      { ...done, candidate: 1, seed: train[0]!, reward: 1 },
      { ...done, candidate: 1, seed: train[0]!, reward: 0 },
      { ...done, candidate: 0, seed: train[1]!, reward: 1 },
      { ...done, candidate: 2, seed: train[2]!, reward: 1 },
    ];
    await seedRollouts(http, id, seeded);
    await project(http, id, { bestCandidateId: candidateId(id, 1), bestReward: 0.9 });
    await answer(id, { 2: 'Zed', 3: 'zed', 5: 'zed' });
  });

  const page = async (query = '') => call('GET', `${path}?${query}`);
  const groupsOf = async (query = ''): Promise<Record<number, string>> =>
    Object.fromEntries(((await page(query)).data as JobRow[]).map(({ row, group }) => [row, group]));

  test('stand in groups, held out or seen, with texts and both answers', async () => {
    const [h0, h1, h2, h3] = heldOut;
    const groups = { [h0!]: 'fixed', [h1!]: 'failing', [h2!]: 'broken', [h3!]: 'failed' };
    expect(await groupsOf()).toEqual({ ...groups, [train[0]!]: 'flaky', [train[1]!]: 'untried' });
    expect(await groupsOf('seen=false')).toEqual(groups);
    expect(await groupsOf('group=failing')).toEqual({ [h1!]: 'failing' });
    const { data, total, candidate_id, has_more } = await page('group=failing');
    expect([total, candidate_id, has_more]).toEqual([1, candidateId(id, 1), false]);
    expect((data as JobRow[])[0]).toEqual({
      row: h1,
      task_id: null,
      group: 'failing',
      seen: false,
      input: rows[h1!]!.text,
      expected: rows[h1!]!.team,
      baseline: expect.objectContaining({
        reward: 0,
        answer: 'Zed',
        trace_id: rolloutId(id, 2),
        finish_reason: 'stop',
      }),
      candidate: expect.objectContaining({ reward: 0, answer: 'zed', feedback: 'Wrong. "x".', rollouts: 1 }),
      reviews: [],
    });
    const [failed] = (await page('group=failed')).data as JobRow[];
    expect(failed!.candidate).toMatchObject({ reward: null, answer: null, error: 'no answer' });
    const [flaky] = (await page('group=flaky')).data as JobRow[];
    expect(flaky).toMatchObject({ seen: true, candidate: { reward: 0.5, rollouts: 2 } });
  });

  test('are those of another candidate, which must be one of the session', async () => {
    const other = (await page(`candidate_id=${candidateId(id, 2)}`)).data as JobRow[];
    expect(other.find(({ row }) => row === train[2])).toMatchObject({ group: 'right', baseline: null });
    const unknown = await http.call('GET', `${path}?candidate_id=cand_x_9`);
    expect([unknown.status, unknown.body.code]).toEqual([422, 'candidate_not_found']);
    expect((await http.call('GET', `${sessions}/ses_no/rows`)).status).toBe(404);
    expect((await http.call('GET', `${path}?group=wrong`)).status).toBe(422);
    expect((await http.call('GET', `${path}?cursor=eA`)).body.errors[0].pointer).toBe('/cursor');
  });

  test.each([
    '',
    'group=failing',
    'seen=false',
    'q=ZED',
    'review=none',
    `expected=${encodeURIComponent(rows[0]!.team)}`,
  ])('come in pages without a gap, with a total on the first: %s', async (query) => {
    const whole = await page(query);
    const pages: Record<string, unknown>[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      pages.push(await page(`limit=1&${query}${cursor && `&cursor=${cursor}`}`));
      cursor = pages.at(-1)!.next_cursor as string | null;
    }
    expect(pages.flatMap(({ data }) => data)).toEqual(whole.data);
    expect(pages.map(({ total }) => total)).toEqual([whole.total, ...pages.slice(1).map(() => null)]);
  });

  test('are found by a part of a text', async () => {
    expect(Object.keys(await groupsOf('q=ZED'))).toHaveLength(2);
    expect(Object.keys(await groupsOf(`q=${encodeURIComponent(rows[heldOut[0]!]!.text)}`))).toContain(`${heldOut[0]}`);
    for (const nothing of ['%25', '%00']) expect(await groupsOf(`q=${nothing}`)).toEqual({});
  });

  test('are counted by group, part and label; a cell filters the rows', async () => {
    const summary = await call('GET', `${path}/summary`);
    expect(summary).toMatchObject({
      total: 6,
      seen: 2,
      held_out: 4,
      groups: { failing: 1, broken: 1, flaky: 1, failed: 1, fixed: 1, right: 0, untried: 1 },
      clusters: [],
    });
    const { table } = summary as { table: { expected: string[]; answered: string[]; cells: { count: number }[] } };
    expect([...table.expected].sort()).toEqual(
      [...new Set([...heldOut.slice(0, 4), train[0]!, train[1]!].map((n) => rows[n]!.team))].sort(),
    );
    expect(table.answered).toContain('zed');
    const expected = rows[heldOut[1]!]!.team;
    const cell = { expected, answered: 'zed' };
    const rowsOfCell = Object.keys(await groupsOf(new URLSearchParams(cell).toString()));
    expect(table.cells).toContainEqual({ ...cell, count: rowsOfCell.length });
    expect(rowsOfCell).toContain(`${heldOut[1]}`);
    const failing = await call('GET', `${path}/summary?group=failing`);
    expect(failing).toMatchObject({ total: 1, groups: summary.groups, seen: 0, held_out: 1 });
  });

  test('become a data set with all columns, the same for the same rows', async () => {
    const filter = { seen: false, group: 'failing' };
    const first = await http.call('POST', `${path}/dataset`, filter);
    expect([first.status, first.body.num_rows]).toEqual([201, 1]);
    const again = await http.call('POST', `${path}/dataset`, filter);
    expect([again.status, again.body.dataset_id]).toEqual([200, first.body.dataset_id]);
    const stored = await call('GET', `/api/v1/datasets/${first.body.dataset_id}/rows`);
    expect(stored.data).toEqual([{ row: 0, data: rows[heldOut[1]!] }]);
    const empty = await http.call('POST', `${path}/dataset`, { q: 'nowhere' });
    expect([empty.status, empty.body.code]).toEqual([404, 'no_rows']);
  });
});

test('of a session on a container have no texts of rows, and make no data set', async () => {
  const id = await createSession(http);
  await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
  await seedRollouts(http, id, [{ ...done, candidate: 0, seed: 3, reward: 0, feedback: 'Wrong "a" 1' }]);
  const { data } = await call('GET', `${sessions}/${id}/rows`);
  expect(data).toMatchObject([{ row: 3, group: 'failing', input: null, expected: null, candidate: { answer: 'yes' } }]);
  const summary = await call('GET', `${sessions}/${id}/rows/summary`);
  expect(summary).toMatchObject({ table: null, clusters: [{ feedback: 'Wrong "…" …', count: 1 }] });
  const refused = await http.call('POST', `${sessions}/${id}/rows/dataset`, {});
  expect([refused.status, refused.body.code]).toEqual([409, 'rows_in_container']);
});

test('of a graph job have the input, gold output and answer of each task', async () => {
  const id = await createGraphJob(http);
  await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
  await seedRollouts(http, id, [{ candidate: 0, seed: 0, status: 'succeeded', reward: 1, stage: 'heldout' }]);
  await http.db.org('default', (tx) =>
    tx.query(`update rollouts set details = '{"output": {"answer": "the output"}}' where job_id = $1`, [id]),
  );
  const [row] = (await call('GET', `/api/graphgen/jobs/${id}/rows`)).data as (JobRow & { task_id: string })[];
  const [task] = await http.db.org('default', (tx) =>
    tx.query<{ id: string; input: Record<string, unknown>; gold: { value: unknown } | null }>(
      'select task_id as id, input, gold from graph_tasks where job_id = $1 and task_index = 0',
      [id],
    ),
  );
  expect(row).toMatchObject({ row: 0, task_id: task!.id, group: 'right', candidate: { answer: 'the output' } });
  expect(row!.input).toBe(Object.values(task!.input).length === 1 ? Object.values(task!.input)[0] : row!.input);
  const made = await call('POST', `/api/graphgen/jobs/${id}/rows/dataset`, {});
  const stored = await call('GET', `/api/v1/datasets/${made.dataset_id}/rows`);
  expect(stored.data).toEqual([
    { row: 0, data: { ...task!.input, ...(task!.gold && { expected: task!.gold.value }), task_id: task!.id } },
  ]);
});

test('of a graph job on a data set become a data set with its columns', async () => {
  const data = Array.from({ length: 12 }, (_, i) => ({ question: `q${i}`, label: `l${i}` }));
  const { dataset_id } = await call('POST', '/api/v1/datasets', data);
  const { job_id: id } = await call('POST', '/api/graphgen/jobs', {
    dataset: { dataset_id, input: 'question', expected: 'label', verifier_config: { mode: 'exact' } },
    policy_model: 'gpt-6-luna',
    rollout_budget: 60,
  });
  await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
  await seedRollouts(http, id, [{ candidate: 0, seed: 3, status: 'succeeded', reward: 0, stage: 'heldout' }]);
  const path = `/api/graphgen/jobs/${id}/rows`;
  const [row] = (await call('GET', path)).data as JobRow[];
  expect(row).toMatchObject({ row: 3, input: 'q3', expected: 'l3' });
  const made = await call('POST', `${path}/dataset`, {});
  const stored = await call('GET', `/api/v1/datasets/${made.dataset_id}/rows`);
  expect(stored.data).toEqual([{ row: 0, data: data[3] }]);
});

describe('of an evaluation', () => {
  let id: string;
  const path = () => `/api/v1/offline/jobs/${id}/results`;

  beforeAll(async () => {
    const { body } = await http.call('POST', '/api/v1/offline/jobs', {
      app_id: 'x',
      policy: evaluationRequest.policy,
      dataset: { rows, input: 'text', expected: 'team' },
      scorer: 'exact',
      candidate: { messages: [{ role: 'system', content: '{{text}}' }] },
      seeds: [5, 4, 3, 4],
    });
    expect(body.errors).toBeUndefined();
    id = body.job_id as string;
    await seedRollouts(http, id, [
      { ...done, candidate: 0, seed: 5, reward: 0 },
      { ...done, candidate: 0, seed: 4, reward: 0 },
      { ...done, candidate: 0, seed: 3, reward: 1 },
      { ...done, candidate: 0, seed: 4, reward: 1 },
    ]);
    // As the search of an evaluation requests them.
    await http.db.org('default', (tx) =>
      tx.query('update rollouts set candidate_id = $2 where job_id = $1', [id, candidateId(id, 0)]),
    );
  });

  test('are its results, filtered, in the order of the request', async () => {
    const seeds = async (query: string) => {
      const { results, total } = await call('GET', `${path()}?include=outputs&${query}`);
      return [(results as { seed: number; group: string }[]).map(({ seed, group }) => `${seed} ${group}`), total];
    };
    expect(await seeds('')).toEqual([['5 failing', '4 flaky', '3 right', '4 flaky'], 4]);
    expect(await seeds('group=flaky&limit=1&offset=1')).toEqual([['4 flaky'], 2]);
    expect(await seeds(`expected=${rows[3]!.team}`)).toEqual([['3 right'], 1]);
    const without = await http.call('GET', `${path()}?group=flaky`);
    expect([without.status, without.body.errors[0].pointer]).toEqual([422, '/group']);
  });

  test('have a summary and make a data set', async () => {
    expect(await call('GET', `${path()}/summary?q=text%20`)).toMatchObject({
      total: 3,
      groups: { flaky: 1, right: 1 },
    });
    const made = await call('POST', `${path()}/dataset`, { group: 'failing' });
    const stored = await call('GET', `/api/v1/datasets/${made.dataset_id}/rows`);
    expect(stored.data).toEqual([{ row: 0, data: rows[5] }]);
  });
});

test('a job of 10,000 rows is filtered and counted as a whole', async () => {
  const id = await createEvaluation(http, { seeds: [0] });
  await http.db.org('default', (tx) =>
    tx.query(
      `insert into rollouts (id, org_id, job_id, idx, ordinal, source, seed, status, reward, completed_at)
       select $1 || n, 'default', $1, n, n, 'service', n, 'succeeded', n % 2, now() from generate_series(0, 9999) n`,
      [id],
    ),
  );
  const { results, total } = await call(
    'GET',
    `/api/v1/offline/jobs/${id}/results?include=outputs&group=failing&limit=50`,
  );
  expect([(results as unknown[]).length, total]).toEqual([50, 5_000]);
  expect(await call('GET', `/api/v1/offline/jobs/${id}/results/summary`)).toMatchObject({ groups: { failing: 5_000 } });
});
