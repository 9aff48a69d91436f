import { describe, expect, test } from '@jest/globals';
import type { EditJson, GraphJson } from '../../../../src/kinds/graph/contract/graph.js';
import { candidateId, rolloutId } from '../../../../src/core/jobs/ids.js';
import { recordCall } from '../../../../src/rollouts/store/call-records.js';
import { recordProposerCall } from '../../../../src/candidates/store/proposals.js';
import { record, seedCandidates, seedRollouts, type SeededRollout } from '../../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../../platform/http/support.js';

// Shared behaviour is tested in test/candidates/routes/lineage.test.ts, real jobs in
// test/e2e/graphs/reads.long.test.ts.

const base = '/api/graphgen/jobs';
const http = httpOfFile();

const tasks = Array.from({ length: 12 }, (_, index) => ({ id: `task-${index}`, input: { question: `q${index}` } }));
const graph = (...texts: string[]): GraphJson => ({
  inputs: ['question'],
  steps: texts.map((text, index) => ({
    id: `s${index}`,
    type: 'llm',
    inputs: { question: index === 0 ? 'input.question' : `s${index - 1}.answer` },
    messages: [{ role: 'user', content: text }],
    output: { field: 'answer' },
  })),
  output: `s${texts.length - 1}.answer`,
});

async function createJob(): Promise<{ id: string; seeds: number[] }> {
  const dataset = {
    tasks,
    gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
    verifier_config: { mode: 'exact' },
  };
  const { body } = await http.call('POST', base, { dataset, policy_model: 'gpt-4o-mini', rollout_budget: 60 });
  const id = body.job_id as string;
  const [row] = await http.db.org('default', (tx) =>
    tx.query<{ seeds: number[] }>(`select spec->'search'->'evaluationSeeds' as seeds from jobs where id = $1`, [id]),
  );
  return { id, seeds: row!.seeds };
}
const get = async (id: string, path = '') => (await http.call('GET', `${base}/${id}${path}`)).body;
const rolloutOf = (candidate: number, seed: number, more: Partial<SeededRollout> = {}): SeededRollout => {
  return { candidate, seed, status: 'succeeded', stage: candidate === 0 ? 'baseline' : 'evaluation', ...more };
};

describe('the front over reward and cost', () => {
  test('counts calls of the evaluation: no tests, repetitions or judge', async () => {
    const { id, seeds } = await createJob();
    const [first, ...rest] = seeds as [number, ...number[]];
    const train = tasks.map((_, index) => index).find((index) => !seeds.includes(index))!;
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0, generation: 0, graph: graph('{{question}}') },
      {
        status: 'evaluated',
        reward: 0.75,
        generation: 1,
        parents: [0],
        graph: graph('{{question}}', 'Check {{question}}'),
      },
      { status: 'evaluated', reward: 0.5, generation: 1, parents: [0], graph: graph('Be long. {{question}}') },
      { status: 'proposed', generation: 2, parents: [0], graph: graph('Be. {{question}}') },
    ]);
    await seedRollouts(http, id, [
      ...seeds.map((seed) => rolloutOf(0, seed, { reward: 0, tokens: [10, 5], cost: 0.001 })),
      rolloutOf(1, train, { stage: 'gate', generation: 1, tokens: [9_000, 9_000], cost: 9 }),
      rolloutOf(1, first, {
        status: 'failed',
        error: 'it is gone',
        infrastructure: true,
        tokens: [9_000, 9_000],
        cost: 9,
      }),
      // A repetition that failed itself; its cost counts, too.
      rolloutOf(1, first, { status: 'failed', error: 'no', tokens: [2, 2], cost: 0.001 }),
      ...rest.map((seed) => rolloutOf(1, seed, { reward: 1, tokens: [20, 10], cost: 0.003 })),
      ...seeds.map((seed) => rolloutOf(2, seed, { reward: 0.5, tokens: [30, 10], cost: 0.004 })),
    ]);
    await record(http, id, { repeated: [seeds.length + 1] });
    const judged = rolloutId(id, 0);
    await http.db.org('default', (tx) =>
      recordCall(tx, {
        orgId: 'default',
        jobId: id,
        id: `call_${judged}_judge`,
        purpose: 'judge',
        rolloutId: judged,
        correlationId: judged,
        candidateId: candidateId(id, 0),
        requestHash: Buffer.from('judge'),
        attempt: 1,
        presence: 1,
        provider: 'openai',
        model: 'm',
        request: {},
        response: {},
        stream: false,
        httpStatus: 200,
        promptTokens: 9_000,
        completionTokens: 9_000,
        costUsd: 9,
        costSource: 'table',
        latencyMs: 1,
      }),
    );
    const n = seeds.length;
    const close = (value: number): unknown => expect.closeTo(value, 12);
    const front = [
      { candidate_id: candidateId(id, 0), reward: 0, cost_usd: close(0.001), tokens: 15, calls: 1 },
      {
        candidate_id: candidateId(id, 1),
        reward: 0.75,
        cost_usd: close((0.001 + 0.003 * (n - 1)) / n),
        tokens: close((4 + 30 * (n - 1)) / n),
        calls: 1,
      },
    ];
    const seen = await get(id, '/pareto');
    expect(seen.cost_front).toEqual(front);
    expect(Object.keys(seen)).toEqual(['job_id', 'graph_gen_job_id', 'seeds', 'front', 'cost_front']);
    expect(seen.seeds.map(({ seed }: { seed: number }) => seed)).toEqual(seeds);
    const ids = seeds.map((seed) => tasks[seed]!.id);
    expect(seen.seeds.map(({ task_id: task }: { task_id: string }) => task)).toEqual(ids);
    expect((await get(id)).pareto).toEqual(front);
  });

  test('without a price compares tokens; a rollout without a call has 0', async () => {
    const { id, seeds } = await createJob();
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0.5, generation: 0, graph: graph('{{question}}') },
      { status: 'evaluated', reward: 0.5, generation: 1, parents: [0], graph: graph('Be. {{question}}') },
    ]);
    await seedRollouts(http, id, [
      ...seeds.map((seed) => rolloutOf(0, seed, { reward: 0.5, tokens: [10, 10], cost: 0.001 })),
      ...seeds.map((seed, index) =>
        rolloutOf(1, seed, { reward: 0.5, ...(index > 0 && { tokens: [3, 3], cost: null }) }),
      ),
    ]);
    const less = (seeds.length - 1) / seeds.length;
    const cheaper = {
      reward: 0.5,
      cost_usd: null,
      tokens: expect.closeTo(6 * less, 12),
      calls: expect.closeTo(less, 12),
    };
    expect((await get(id)).pareto).toEqual([{ candidate_id: candidateId(id, 1), ...cheaper }]);
  });

  test('is empty until a candidate is evaluated', async () => {
    const { id } = await createJob();
    expect(await get(id, '/pareto')).toMatchObject({ front: [], cost_front: [] });
    expect((await get(id)).pareto).toEqual([]);
    expect(await get(id, '/candidates')).toEqual({ data: [], next_cursor: null, has_more: false });
  });
});

describe('a candidate', () => {
  test('has all answers of its proposer, and its edits', async () => {
    const { id } = await createJob();
    const step = graph('Say it: {{question}}', 'Check {{question}}').steps[1]!;
    const edits: EditJson[] = [
      { edit: 'add', step },
      { edit: 'output', to: 's1.answer' },
    ];
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0, generation: 0, graph: graph('Say it: {{question}}') },
      {
        status: 'proposed',
        generation: 1,
        parents: [0],
        ordinals: [0],
        components: [],
        edits,
        graph: graph('Say it: {{question}}', 'Check {{question}}'),
      },
      {
        status: 'rejected',
        generation: 1,
        parents: [0],
        ordinals: [0],
        components: ['s0.user'],
        graph: graph('Say it well: {{question}}'),
      },
      { status: 'proposed', generation: 2, parents: [1], graph: graph('Say it: {{question}}.') },
    ]);
    await seedRollouts(http, id, [rolloutOf(0, 3, { stage: 'minibatch', reward: 0, feedback: 'Expected: x' })]);
    const answers: [candidate: number, attempt: number, text: string, reason: string | null][] = [
      [1, 0, 'I would rather not.', 'no fence'],
      [1, 1, '[]', 'no edits'],
      [1, 2, JSON.stringify(edits), null],
      [2, 0, 'Say it well.', 'it lacks {{question}}'],
      [2, 1, 'Say it well: {{question}}', null],
    ];
    for (const [candidate, attempt, text, reason] of answers) {
      const call = { promptTokens: 1, completionTokens: 1, costUsd: null, costSource: 'unknown', latencyMs: 1 };
      await http.db.org('default', (tx) =>
        recordProposerCall(
          tx,
          { orgId: 'default', jobId: id, candidate, occurrence: attempt },
          {
            policy: { provider: 'openai', model: 'writer', params: {} },
            messages: [{ role: 'user', content: 'Improve it.' }],
          },
          {
            answer: { ...call, text, finishReason: 'stop' },
            verdict: { component: candidate === 1 ? null : 's0.user', attempt, accepted: reason === null, reason },
          },
        ),
      );
    }
    const edited = await get(id, `/candidates/${candidateId(id, 1)}`);
    expect(edited).toMatchObject({
      graph_gen_job_id: id,
      edits,
      graph_txt: expect.stringContaining('s1'),
      diff: [{ component: 's1.user', unified: expect.stringContaining('+Check {{question}}') }],
      reflection: {
        components: [],
        examples: [{ seed: 3, feedback: 'Expected: x' }],
        attempts: [
          { component: null, attempt: 0, accepted: false, reason: 'no fence' },
          { component: null, attempt: 1, accepted: false, reason: 'no edits' },
          { component: null, attempt: 2, accepted: true, reason: null },
        ],
      },
    });
    expect(edited.prompts).toEqual([
      { component: 's0.user', text: 'Say it: {{question}}' },
      { component: 's1.user', text: 'Check {{question}}' },
    ]);
    expect(edited.segments.map(({ component, introduced_by: by }: Record<string, string>) => [component, by])).toEqual([
      ['s0.user', candidateId(id, 0)],
      ['s1.user', candidateId(id, 1)],
    ]);
    const rewritten = await get(id, `/candidates/${candidateId(id, 2)}`);
    expect(rewritten).toMatchObject({
      edits: null,
      reflection: {
        components: ['s0.user'],
        attempts: [
          { component: 's0.user', attempt: 0, accepted: false, reason: 'it lacks {{question}}' },
          { component: 's0.user', attempt: 1, accepted: true, reason: null },
        ],
      },
    });
    const { diff } = await get(id, `/candidates/${candidateId(id, 3)}`);
    expect(diff.map(({ component }: { component: string }) => component)).toEqual(['s0.user', 's1.user']);
    expect(diff[1].unified).toContain('-Check {{question}}');
    expect(await get(id, `/candidates/${candidateId(id, 0)}`)).toMatchObject({
      edits: null,
      reflection: null,
      diff: [],
    });
  });

  test('has runs that name their tasks, in pages', async () => {
    const { id, seeds } = await createJob();
    await seedCandidates(http, id, [{ status: 'evaluated', reward: 0, generation: 0, graph: graph('{{question}}') }]);
    await seedRollouts(
      http,
      id,
      seeds.map((seed) => rolloutOf(0, seed, { reward: 0 })),
    );
    const path = `/candidates/${candidateId(id, 0)}/seed-evals?limit=2`;
    const first = await get(id, path);
    const rest = await get(id, `${path.replace('limit=2', 'limit=1000')}&cursor=${first.next_cursor}`);
    expect([first.data.length, first.has_more, rest.has_more]).toEqual([2, true, false]);
    expect([...first.data, ...rest.data].map((row) => [row.seed, row.task_id])).toEqual(
      seeds.map((seed) => [seed, `task-${seed}`]),
    );
  });
});

test('is 404 for another organization, another kind of job and an unknown candidate, and 422 for a wrong cursor', async () => {
  const { id } = await createJob();
  const session = await createSession(http);
  await seedCandidates(http, id, [{ status: 'evaluated', reward: 0, generation: 0, graph: graph('{{question}}') }]);
  const own = candidateId(id, 0);
  for (const path of ['/candidates', `/candidates/${own}`, `/candidates/${own}/seed-evals`, '/pareto']) {
    const status = async (url: string, headers = {}) => (await http.call('GET', url, undefined, headers)).status;
    expect([path, await status(`${base}/${id}${path}`)]).toEqual([path, 200]);
    expect(await status(`${base}/${id}${path}`, { authorization: `Bearer ${http.otherKey}` })).toBe(404);
    expect(await status(`${base}/${session}${path}`)).toBe(404);
    expect(await status(`/api/v1/online/sessions/${id}${path}`)).toBe(404);
  }
  for (const unknown of [candidateId(id, 9), candidateId(session, 0), 'x', '%00']) {
    for (const more of ['', '/seed-evals']) {
      expect((await http.call('GET', `${base}/${id}/candidates/${unknown}${more}`)).status).toBe(404);
    }
  }
  expect((await http.call('GET', `${base}/${id}/candidates?cursor=x`)).status).toBe(422);
});
