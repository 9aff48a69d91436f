import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { recordProposerCall } from '../../../src/candidates/store/proposals.js';
import { record, seedCandidates, seedRollouts, type SeededRollout } from '../../platform/http/seed.js';
import { createSession, finish, httpOfFile } from '../../platform/http/support.js';

// Merges, repeats and several components are in lineage-tests.test.ts.

const base = '/api/v1/online/sessions';
const texts = [
  'Answer well.',
  'Answer well.\nName the city. Be brief.',
  'Answer well.\nBe rude.',
  'Be brief.\nAdd why.',
];
const http = httpOfFile();
let id: string;
const get = async (path: string) => (await http.call('GET', `${base}/${id}${path}`)).body;
const cand = (version: number) => candidateId(id, version);
const rol = (ordinal: number) => rolloutId(id, ordinal);

/**
 * By ordinal: the baseline 0-2, then 3-5 its minibatch; 6-8 test of 1, 9-11 of 2 (9 again as 12);
 * evaluation of 1 13-15.
 */
const rollouts: SeededRollout[] = [
  ...[0, 0.5, 0].map((reward, seed) => rolloutOf({ candidate: 0, seed, reward, stage: 'baseline', generation: 0 })),
  ...[0, 0.5, 0].map((reward, i) =>
    rolloutOf({ candidate: 0, seed: 7 + i, reward, stage: 'minibatch', feedback: `say ${i}` }),
  ),
  ...[0.25, 0.5, 1].map((reward, i) =>
    rolloutOf({ candidate: 1, seed: 7 + i, reward, stage: 'gate', feedback: `more ${i}` }),
  ),
  rolloutOf({ candidate: 2, seed: 7, stage: 'gate', status: 'failed', error: 'refused', infrastructure: true }),
  rolloutOf({ candidate: 2, seed: 8, stage: 'gate', status: 'failed', error: 'the container says no', reward: 9 }),
  rolloutOf({ candidate: 2, seed: 9, stage: 'gate', reward: 0 }),
  rolloutOf({ candidate: 2, seed: 7, stage: 'gate', reward: 0.5 }),
  ...[0.5, 0.5, 1].map((reward, seed) => rolloutOf({ candidate: 1, seed, reward, stage: 'evaluation' })),
  rolloutOf({ candidate: 3, seed: 8, stage: 'gate', generation: 2, status: 'running' }),
];

function rolloutOf(rollout: Partial<SeededRollout> & { candidate: number; seed: number }): SeededRollout {
  return { status: 'succeeded', generation: 1, ...rollout };
}

async function answered(attempt: number, text: string, reason: string | null, finishReason = 'stop') {
  const index = { orgId: 'default', jobId: id, candidate: 1, occurrence: attempt };
  const verdict = { component: 'system', attempt, accepted: reason === null, reason };
  const call = {
    text,
    finishReason,
    promptTokens: 3,
    completionTokens: 4,
    costUsd: 0.5,
    costSource: 'table',
    latencyMs: 1,
  };
  const policy = { provider: 'openai', model: 'writer', params: {} };
  const asked = [{ role: 'user' as const, content: 'Improve it.' }];
  await http.db.org('default', (tx) =>
    recordProposerCall(tx, index, { policy, messages: asked }, { answer: call, verdict }),
  );
}

beforeAll(async () => {
  const evaluation = { seeds: [0, 1, 2] };
  id = await createSession(http, {
    gepa: { population_size: 2, generations: 2, evaluation, train_seeds: [7, 8, 9], minibatch_size: 3 },
  });
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0.5 / 3, generation: 0, text: texts[0]! },
    { status: 'evaluated', reward: 2 / 3, generation: 1, parents: [0], text: texts[1]!, ordinals: [3, 4, 5] },
    { status: 'rejected', generation: 1, parents: [0], text: texts[2]!, ordinals: [3, 4, 5] },
    { status: 'proposed', generation: 2, parents: [1], text: texts[3]!, ordinals: [7, 6] },
  ]);
  await seedRollouts(http, id, rollouts);
  await answered(0, 'No fence.', 'no fence');
  await answered(1, '```\nAnswer', 'cut off', 'length');
  await answered(2, `\`\`\`\n${texts[1]}\n\`\`\``, null);
  const decision = { generation: 1, parentSum: 0.5, tested: 3 };
  await record(http, id, {
    tests: [
      {
        candidate: 1,
        seeds: [
          [7, 3, 6],
          [8, 4, 7],
          [9, 5, 8],
        ],
      },
      {
        candidate: 2,
        seeds: [
          [7, 3, 12],
          [8, 4, 10],
          [9, 5, 11],
        ],
      },
      { candidate: 3, seeds: [[8, 7, 16]] },
    ],
    acceptances: [
      { type: 'candidate_accepted', candidate: 1, ...decision, childSum: 1.75, estimate: 0.6 },
      { type: 'candidate_rejected', candidate: 2, ...decision, childSum: 0.5, reason: 'not_better' },
    ],
  });
});

describe('candidates', () => {
  test('each has its summary and the reason of its acceptance or rejection', async () => {
    const { data, next_cursor, has_more } = await get('/candidates');
    expect([next_cursor, has_more]).toEqual([null, false]);
    const { candidates } = await get('');
    expect(data.map(({ decision: _, ...summary }: { decision: object }) => summary)).toEqual(candidates);
    expect(data.map(({ decision }: { decision: object }) => decision)).toEqual([
      expect.objectContaining({ outcome: 'accepted', reason: 'baseline', parent_sum: null }),
      {
        outcome: 'accepted',
        reason: 'better',
        parent_sum: 0.5,
        child_sum: 1.75,
        minibatch_size: 3,
        estimated_reward: 0.6,
        // It has the numbers of the decision.
        message: expect.stringMatching(/1\.75\b.*\b3\b.*0\.5\b.*0\.667/),
      },
      {
        outcome: 'rejected',
        reason: 'not_better',
        parent_sum: 0.5,
        child_sum: 0.5,
        minibatch_size: 3,
        estimated_reward: null,
        message: expect.any(String),
      },
      expect.objectContaining({
        outcome: 'pending',
        reason: null,
        message: expect.any(String),
      }),
    ]);
  });

  test('are listed in pages and by status', async () => {
    const seen: string[] = [];
    for (let query = '?limit=1'; query;) {
      const page = await get(`/candidates${query}`);
      expect(page.data.length).toBe(1);
      seen.push(page.data[0].candidate_id);
      query = page.has_more ? `?limit=1&cursor=${page.next_cursor}` : '';
    }
    expect(seen).toEqual([0, 1, 2, 3].map(cand));
    const ids = (await get('/candidates?status=evaluated')).data.map(
      (item: { candidate_id: string }) => item.candidate_id,
    );
    expect(ids).toEqual([cand(0), cand(1)]);
  });

  test.each(['limit=0', 'limit=1001', 'status=best', 'cursor=x', 'after=1'])('%s is 422', async (query) => {
    for (const path of query.startsWith('status')
      ? ['/candidates']
      : ['/candidates', `/candidates/${cand(1)}/seed-evals`]) {
      const answer = await http.call('GET', `${base}/${id}${path}?${query}`);
      expect([answer.status, answer.body.error.param]).toEqual([422, query.split('=')[0]]);
    }
  });
});

test('a live call without a seed is listed alone; a test without a rollout has no size', async () => {
  const other = await createSession(http);
  await seedCandidates(http, other, [
    { status: 'evaluated', reward: 0, generation: 0 },
    { status: 'rejected', generation: 1, parents: [0] },
    { status: 'rejected', generation: 1, parents: [0] },
  ]);
  await seedRollouts(http, other, [
    rolloutOf({ candidate: 0, seed: 0, reward: 1, stage: 'gate' }),
    rolloutOf({ candidate: 1, seed: 1, reward: 0.25, stage: 'gate' }),
    rolloutOf({ candidate: 1, seed: 2, reward: 0.5, stage: 'gate' }),
    rolloutOf({ candidate: 1, seed: 3, reward: 1, stage: 'gate', generation: 2 }),
  ]);
  await http.db.org('default', (tx) => tx.query('update rollouts set seed = null where job_id = $1', [other]));
  const rejection = { type: 'candidate_rejected', generation: 1 } as const;
  await record(http, other, {
    acceptances: [
      { ...rejection, candidate: 1, reason: 'budget', parentSum: 0.5, childSum: 0.75, tested: 2 },
      { ...rejection, candidate: 2, reason: 'budget', parentSum: 0, childSum: 0, tested: 0 },
    ],
  });
  const [first, second] = await Promise.all(
    [1, 2].map(async (version) => {
      return (await http.call('GET', `${base}/${other}/candidates/${candidateId(other, version)}`)).body;
    }),
  );
  const live = { seed: null, role: 'live', parent_reward: null, parent_candidate_id: null, parent_rollout_id: null };
  const call = (ordinal: number, reward: number) => {
    return {
      ...live,
      candidate_reward: reward,
      candidate_rollouts: [{ rollout_id: rolloutId(other, ordinal), reward }],
    };
  };
  expect(first.minibatch).toEqual([call(1, 0.25), call(2, 0.5)]);
  expect(first.decision).toMatchObject({ reason: 'budget', parent_sum: 0.5, child_sum: 0.75, minibatch_size: 2 });
  expect(second.minibatch).toEqual([]);
  expect(second.decision).toMatchObject({ reason: 'budget', child_sum: null, minibatch_size: null });
});

describe('one candidate', () => {
  test('has its text, the difference from its parent, its minibatch and its reflection', async () => {
    const seen = await get(`/candidates/${cand(1)}`);
    expect(seen).toMatchObject({ candidate_id: cand(1), parent_ids: [cand(0)], decision: { outcome: 'accepted' } });
    expect(seen.messages).toEqual([{ role: 'system', content: texts[1] }]);
    expect(seen.diff).toEqual([
      { parent_id: cand(0), component: 'system', unified: expect.stringContaining('+Name the city. Be brief.') },
    ]);
    expect(seen.minibatch).toEqual([pair(7, [3, 0], [6, 0.25]), pair(8, [4, 0.5], [7, 0.5]), pair(9, [5, 0], [8, 1])]);
    expect(seen.reflection).toMatchObject({
      model: 'writer',
      provider: 'openai',
      components: ['system'],
      messages: [{ role: 'user', content: 'Improve it.' }],
      output: `\`\`\`\n${texts[1]}\n\`\`\``,
      examples: [0, 0.5, 0].map((reward, i) => ({ rollout_id: rol(3 + i), seed: 7 + i, reward, feedback: `say ${i}` })),
      attempts: [
        { attempt: 0, output: 'No fence.', accepted: false, reason: 'no fence' },
        { attempt: 1, accepted: false, finish_reason: 'length', reason: 'cut off' },
        { attempt: 2, accepted: true, reason: null, prompt_tokens: 3, completion_tokens: 4, cost_usd: 0.5 },
      ],
    });
  });

  test('has for each sentence its first candidate and that candidate’s feedback', async () => {
    const { segments } = await get(`/candidates/${cand(3)}`);
    const shown = (ordinal: number, feedback: string) => ({
      rollout_id: rol(ordinal),
      seed: rollouts[ordinal]!.seed,
      feedback,
    });
    expect(segments).toEqual([
      {
        component: 'system',
        text: 'Be brief.\n',
        introduced_by: cand(1),
        feedback: [shown(3, 'say 0'), shown(4, 'say 1'), shown(5, 'say 2')],
      },
      {
        component: 'system',
        text: 'Add why.',
        introduced_by: cand(3),
        feedback: [shown(7, 'more 1'), shown(6, 'more 0')],
      },
    ]);
    const baseline = await get(`/candidates/${cand(0)}`);
    expect(baseline).toMatchObject({ reflection: null, diff: [], minibatch: [] });
    expect(baseline.segments).toEqual([
      { component: 'system', text: 'Answer well.', introduced_by: cand(0), feedback: [] },
    ]);
  });

  test('a repeated rollout counts once, a failed one 0, an open one not yet', async () => {
    expect((await get(`/candidates/${cand(2)}`)).minibatch).toEqual([
      pair(7, [3, 0], [12, 0.5]),
      pair(8, [4, 0.5], [10, 0]),
      pair(9, [5, 0], [11, 0]),
    ]);
    expect((await get(`/candidates/${cand(3)}`)).minibatch).toEqual([pair(8, [7, 0.5], [16, null], cand(1))]);
  });

  test('lists its rollouts in pages', async () => {
    const first = await get(`/candidates/${cand(1)}/seed-evals?limit=4`);
    const rest = await get(`/candidates/${cand(1)}/seed-evals?limit=4&cursor=${first.next_cursor}`);
    expect([first.has_more, rest.has_more]).toEqual([true, false]);
    const rows = [...first.data, ...rest.data];
    expect(rows.map((row) => row.rollout_id)).toEqual([6, 7, 8, 13, 14, 15].map(rol));
    expect(rows[0]).toEqual({
      rollout_id: rol(6),
      seed: 7,
      stage: 'gate',
      generation: 1,
      reward: 0.25,
      status: 'succeeded',
      feedback: 'more 0',
      error: null,
      completed_at: expect.stringMatching(/Z$/),
    });
    const { data } = await get(`/candidates/${cand(2)}/seed-evals`);
    expect(data[1]).toMatchObject({ status: 'failed', error: 'the container says no', reward: null });
  });

  test('truncates long feedback and prompts, and joins sentences of one origin', async () => {
    const other = await createSession(http);
    const long = 'x'.repeat(20_000);
    await seedRollouts(http, other, [{ candidate: 0, seed: 0, status: 'succeeded', reward: 0, feedback: long }]);
    await seedCandidates(http, other, [
      { status: 'evaluated', reward: 0, generation: 0, text: 'A.' },
      { status: 'proposed', generation: 1, parents: [0], text: 'B b.\n'.repeat(6_000), ordinals: [0] },
    ]);
    const { body } = await http.call('GET', `${base}/${other}/candidates/${candidateId(other, 1)}`);
    expect(body.reflection.examples[0].feedback.length).toBeLessThanOrEqual(4_096);
    expect(body.segments).toHaveLength(1);
    expect(body.segments[0].text).toBe('B b.\n'.repeat(6_000));
    expect(body.segments[0].feedback[0].feedback.length).toBeLessThanOrEqual(1_024);
    expect(body.diff[0].unified).toContain('@@ -1,1 +1,6001 @@\n-A.\n+B b.\n');
    const rows = await http.call('GET', `${base}/${other}/candidates/${candidateId(other, 0)}/seed-evals`);
    expect(rows.body.data[0].feedback.length).toBeLessThanOrEqual(4_096);
  });
});

test('the front has the best of each evaluation seed, without dominated candidates', async () => {
  expect(await get('/pareto')).toEqual({
    session_id: id,
    job_id: id,
    seeds: [
      { seed: 0, best_reward: 0.5, holders: 1, candidate_ids: [cand(1)] },
      { seed: 1, best_reward: 0.5, holders: 2, candidate_ids: [cand(0), cand(1)] },
      { seed: 2, best_reward: 1, holders: 1, candidate_ids: [cand(1)] },
    ],
    front: [{ candidate_id: cand(1), reward: 2 / 3, seeds_held: 3 }],
    // The baseline is shorter; without calls nothing else is known.
    weighed: [1, 0].map((n) => expect.objectContaining({ candidate_id: cand(n), calls: 0, latency_ms: null })),
  });
  const empty = await createSession(http);
  expect((await http.call('GET', `${base}/${empty}/pareto`)).body).toMatchObject({
    seeds: [{ best_reward: null, holders: 0, candidate_ids: [] }, {}],
    front: [],
  });
});

test('another organization, an unknown candidate, and one of another session are 404', async () => {
  const other = await createSession(http);
  await seedCandidates(http, other, [{ status: 'evaluated', reward: 0, generation: 0 }]);
  const paths = ['/candidates', `/candidates/${cand(1)}`, `/candidates/${cand(1)}/seed-evals`, '/pareto'];
  for (const path of paths) {
    expect((await http.call('GET', `${base}/${id}${path}`)).status).toBe(200);
    const theirs = await http.call('GET', `${base}/${id}${path}`, undefined, {
      authorization: `Bearer ${http.otherKey}`,
    });
    expect([path, theirs.status]).toEqual([path, 404]);
  }
  for (const unknown of [cand(9), candidateId(other, 0), 'x', '%00', `${cand(1)}%00`]) {
    for (const more of ['', '/seed-evals']) {
      expect((await http.call('GET', `${base}/${id}/candidates/${unknown}${more}`)).status).toBe(404);
    }
  }
});

test('remains complete after the end, and marks missing decisions', async () => {
  const before = await get(`/candidates/${cand(1)}`);
  await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'cancelled'));
  expect(await get(`/candidates/${cand(1)}`)).toEqual(before);
  expect((await get(`/candidates/${cand(3)}`)).decision).toMatchObject({
    outcome: 'pending',
    message: expect.any(String),
  });
});

function pair(
  seed: number,
  [parent, parentReward]: [number, number],
  [child, childReward]: [number, number | null],
  parentId = cand(0),
) {
  return {
    seed,
    role: 'shown',
    parent_reward: parentReward,
    parent_candidate_id: parentId,
    parent_rollout_id: rol(parent),
    candidate_reward: childReward,
    candidate_rollouts: [{ rollout_id: rol(child), reward: childReward }],
  };
}
