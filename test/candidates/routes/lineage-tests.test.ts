import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Message } from '../../../src/core/prompts/message.js';
import type { AcceptanceDecision, TestedSeed } from '../../../src/core/search/protocol.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { recordProposerCall } from '../../../src/candidates/store/proposals.js';
import { record, seedCandidates, seedRollouts, type SeededRollout } from '../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../platform/http/support.js';

// Sessions whose children run the failures in their prompt and regression seeds.

const http = httpOfFile();

const get = async (id: string, path: string) => (await http.call('GET', `/api/v1/online/sessions/${id}${path}`)).body;

function rolloutOf(rollout: Partial<SeededRollout> & { candidate: number; seed: number }): SeededRollout {
  return { status: 'succeeded', generation: 1, ...rollout };
}

type Sums = Pick<AcceptanceDecision, 'parentSum' | 'childSum' | 'tested'>;

const accepted = (candidate: number, sums: Sums, estimate: number): AcceptanceDecision => {
  return { type: 'candidate_accepted', candidate, generation: 1, ...sums, estimate };
};
const rejected = (candidate: number, sums: Sums, reason: string): AcceptanceDecision => {
  return { type: 'candidate_rejected', candidate, generation: 1, ...sums, reason };
};
describe('a session with a merge', () => {
  let id: string;
  const cand = (version: number) => candidateId(id, version);
  const rol = (ordinal: number) => rolloutId(id, ordinal);
  const gate = (candidate: number, seed: number, more: Partial<SeededRollout>) =>
    rolloutOf({ candidate, seed, stage: 'gate', ...more });
  const rollouts: SeededRollout[] = [
    // 0-3: candidate 1 learns from one of the evaluation's failures, seed 7.
    ...([0, 1, 2, 7] as const).map((seed, i) =>
      rolloutOf({
        candidate: 0,
        seed,
        reward: [0, 0.5, 1, 0][i]!,
        stage: 'baseline',
        generation: 0,
        feedback: `say ${seed}`,
      }),
    ),
    rolloutOf({ candidate: 0, seed: 8, reward: 0, stage: 'minibatch', feedback: 'say 8' }),
    rolloutOf({ candidate: 0, seed: 9, reward: 1, stage: 'minibatch' }),
    // 6-10: the tests of 1 to 3; 10 repeats 7 after an infrastructure failure.
    gate(1, 7, { reward: 1 }),
    gate(2, 8, { status: 'failed', error: 'refused', infrastructure: true }),
    gate(3, 7, { reward: 0 }),
    gate(3, 8, { reward: 0 }),
    gate(2, 8, { reward: 0.75 }),
    // 11, 12: regression seeds. 13, 14: the merge. 15-17: its evaluation, which has seed 7 already.
    gate(1, 9, { reward: 1 }),
    gate(2, 2, { reward: 1 }),
    gate(4, 7, { reward: 1 }),
    gate(4, 8, { reward: 0.75 }),
    ...[0.5, 0.5, 1].map((reward, seed) =>
      rolloutOf({ candidate: 4, seed, reward, stage: 'evaluation', feedback: `why ${seed}` }),
    ),
    // 18, 19: a child of the merge; 20: the merge as a parent; 21: the parent in the child's test.
    gate(5, 0, { reward: 1, generation: 2 }),
    gate(5, 9, { status: 'running', generation: 2 }),
    rolloutOf({ candidate: 4, seed: 7, reward: 0, stage: 'minibatch', generation: 3 }),
    gate(4, 0, { reward: 0.25, generation: 2 }),
    // 22, 23: noise. 24: a test that runs out of budget. 25: held out.
    gate(6, 8, { reward: 0.5, generation: 2 }),
    gate(6, 8, { reward: 1, generation: 2 }),
    gate(7, 8, { reward: 1, generation: 2 }),
    rolloutOf({ candidate: 4, seed: 0, reward: 0, stage: 'heldout', generation: 3 }),
  ];

  beforeAll(async () => {
    id = await createSession(http, {
      gepa: { population_size: 3, generations: 3, evaluation: { seeds: [0, 1, 2, 7] }, train_seeds: [7, 8, 9, 0, 2] },
    });
    const child = (generation: number, parent: number, text: string, ordinals: number[]) => {
      return { generation, parents: [parent], text, ordinals, components: ['system'] };
    };
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0.375, generation: 0, text: 'Answer well.' },
      { status: 'proposed', ...child(1, 0, 'Answer well.\nName the city.', [3]) },
      { status: 'proposed', ...child(1, 0, 'Be brief.\nAnswer well.', [4]) },
      { status: 'rejected', ...child(1, 0, 'Be rude.', [3, 4]) },
      {
        status: 'evaluated',
        reward: 0.75,
        generation: 1,
        parents: [1, 2],
        merge: true,
        text: 'Be brief.\nAnswer well.\nName the city.',
      },
      { status: 'proposed', ...child(2, 4, 'Be brief.\nAnswer well.\nName the city.\nAdd why.', [15]) },
      { status: 'rejected', ...child(2, 4, 'Sixth.', [14]) },
      { status: 'rejected', ...child(2, 4, 'Seventh.', [14]) },
    ]);
    await seedRollouts(http, id, rollouts);
    const tested: [candidate: number, ...seeds: TestedSeed[]][] = [
      [1, [7, 3, 6], [9, 5, 11]],
      [2, [8, 4, 10], [2, 2, 12]],
      [4, [7, 6, 13], [8, 10, 14]],
      [5, [0, 21, 18], [9, 11, 19]],
      [6, [8, 14, 22, 23]],
    ];
    await record(http, id, {
      tests: tested.map(([candidate, ...seeds]) => ({ candidate, seeds })),
      acceptances: [
        accepted(1, { parentSum: 1, childSum: 2, tested: 2 }, 0.55),
        accepted(2, { parentSum: 1, childSum: 1.75, tested: 2 }, 0.5),
        rejected(3, { parentSum: 0, childSum: 0, tested: 2 }, 'not_better'),
        accepted(4, { parentSum: 1.75, childSum: 1.75, tested: 2 }, 0.7),
        rejected(6, { parentSum: 0.7, childSum: 0.75, tested: 1 }, 'not_better'),
        rejected(7, { parentSum: 0, childSum: 0, tested: 1 }, 'budget'),
      ],
    });
  });

  test('shows each decision as recorded', async () => {
    const { data } = await get(id, '/candidates');
    const decisions = data.map(({ decision }: { decision: object }) => decision);
    const verdict = (outcome: string, reason: string, sums: (number | null)[], estimate: number | null) => ({
      outcome,
      reason,
      parent_sum: sums[0],
      child_sum: sums[1],
      minibatch_size: sums[2],
      estimated_reward: estimate,
      message: expect.any(String),
    });
    expect(data.map(({ status }: { status: string }) => status).slice(1, 3)).toEqual(['proposed', 'proposed']);
    expect(decisions.slice(1, 5)).toEqual([
      verdict('accepted', 'better', [1, 2, 2], 0.55),
      verdict('accepted', 'better', [1, 1.75, 2], 0.5),
      verdict('rejected', 'not_better', [0, 0, 2], null),
      verdict('accepted', 'combined', [1.75, 1.75, 2], 0.7),
    ]);
    // The message has the numbers of the decision.
    expect(decisions[1].message).toMatch(/\b2\b.*\b1\b.*0\.55/);
    expect(decisions[5]).toMatchObject({ outcome: 'pending', estimated_reward: null });
    expect(decisions[6]).toMatchObject({ outcome: 'rejected', reason: 'not_better', parent_sum: 0.7, child_sum: 0.75 });
    expect(decisions[7]).toMatchObject({ reason: 'budget', parent_sum: null, child_sum: null });
    expect(decisions[7].message).toContain('max_rollouts');
  });

  const tried = (
    seed: number,
    role: string,
    [parent, parentReward]: [number, number],
    children: [number, number | null][],
    mean = children[0]![1],
  ) => ({
    seed,
    role,
    parent_reward: parentReward,
    parent_candidate_id: cand(rollouts[parent]!.candidate),
    parent_rollout_id: rol(parent),
    candidate_reward: mean,
    candidate_rollouts: children.map(([ordinal, reward]) => ({ rollout_id: rol(ordinal), reward })),
  });

  test('shows each tested seed beside the rollout it is compared with', async () => {
    const seen = async (version: number) => (await get(id, `/candidates/${cand(version)}`)).minibatch;
    expect(await seen(1)).toEqual([tried(7, 'shown', [3, 0], [[6, 1]]), tried(9, 'guard', [5, 1], [[11, 1]])]);
    expect(await seen(2)).toEqual([tried(8, 'shown', [4, 0], [[10, 0.75]]), tried(2, 'guard', [2, 1], [[12, 1]])]);
    expect(await seen(4)).toEqual([tried(7, 'shown', [6, 1], [[13, 1]]), tried(8, 'shown', [10, 0.75], [[14, 0.75]])]);
    expect(await seen(5)).toEqual([tried(0, 'shown', [21, 0.25], [[18, 1]]), tried(9, 'guard', [11, 1], [[19, null]])]);
    expect(await seen(6)).toEqual([
      tried(
        8,
        'shown',
        [14, 0.75],
        [
          [22, 0.5],
          [23, 1],
        ],
        0.75,
      ),
    ]);
  });

  test('traces each sentence of a merge to its first candidate and that candidate’s feedback', async () => {
    const { segments, reflection, parent_ids, diff } = await get(id, `/candidates/${cand(4)}`);
    const shown = (ordinal: number, feedback: string) => {
      return { rollout_id: rol(ordinal), seed: rollouts[ordinal]!.seed, feedback };
    };
    expect(segments).toEqual([
      { component: 'system', text: 'Be brief.\n', introduced_by: cand(2), feedback: [shown(4, 'say 8')] },
      { component: 'system', text: 'Answer well.\n', introduced_by: cand(0), feedback: [] },
      { component: 'system', text: 'Name the city.', introduced_by: cand(1), feedback: [shown(3, 'say 7')] },
    ]);
    expect(reflection).toBeNull();
    expect(parent_ids).toEqual([cand(1), cand(2)]);
    expect(diff.map((each: { parent_id: string }) => each.parent_id)).toEqual([cand(1), cand(2)]);
    // The child's own sentence comes from a rollout of the evaluation.
    const child = await get(id, `/candidates/${cand(5)}`);
    expect(child.segments.at(-1)).toMatchObject({ introduced_by: cand(5), feedback: [shown(15, 'why 0')] });
  });

  test('the front counts a seed that the evaluation did not run again', async () => {
    expect(await get(id, '/pareto')).toMatchObject({
      seeds: [
        { seed: 0, best_reward: 0.5, candidate_ids: [cand(4)] },
        { seed: 1, best_reward: 0.5, candidate_ids: [cand(0), cand(4)] },
        { seed: 2, best_reward: 1, candidate_ids: [cand(0), cand(4)] },
        { seed: 7, best_reward: 1, candidate_ids: [cand(4)] },
      ],
      front: [{ candidate_id: cand(4), reward: 0.75, seeds_held: 4 }],
    });
  });
});

test('with repeats the front has the means of the evaluation, without repetitions and tests', async () => {
  const id = await createSession(http, {
    gepa: { population_size: 1, generations: 2, evaluation: { seeds: [0, 1], repeats: 2 } },
  });
  const failed = { status: 'failed', error: 'refused', infrastructure: true } as const;
  const first = { candidate: 0, stage: 'baseline', generation: 0 } as const;
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0.625, generation: 0 },
    { status: 'evaluated', reward: 0.6875, generation: 1, parents: [0], ordinals: [0], components: ['system'] },
  ]);
  await seedRollouts(http, id, [
    rolloutOf({ ...first, seed: 0, reward: 0 }),
    rolloutOf({ ...first, seed: 1, ...failed }),
    rolloutOf({ ...first, seed: 0, reward: 1 }),
    rolloutOf({ ...first, seed: 1, ...failed }),
    rolloutOf({ ...first, seed: 1, reward: 0.5 }),
    rolloutOf({ ...first, seed: 1, ...failed }),
    rolloutOf({ ...first, seed: 1, reward: 1 }),
    rolloutOf({ candidate: 1, seed: 0, reward: 0, stage: 'gate' }),
    ...[1, 0.5, 0.25, 1].map((reward, i) => rolloutOf({ candidate: 1, seed: i % 2, reward, stage: 'evaluation' })),
    rolloutOf({ candidate: 1, seed: 1, reward: 0, stage: 'minibatch', generation: 2 }),
  ]);
  await record(http, id, { repeated: [1, 3, 5] });
  expect((await get(id, '/pareto')).seeds).toMatchObject([
    { best_reward: 0.625, candidate_ids: [candidateId(id, 1)] },
    { best_reward: 0.75, candidate_ids: [candidateId(id, 0), candidateId(id, 1)] },
  ]);
});

test('a prompt of several components has a reflection for each, judged by its own text', async () => {
  const id = await createSession(http);
  const cand = (version: number) => candidateId(id, version);
  const prompt = (system: string, style: string, facts: string): Message[] => [
    { role: 'system', content: system },
    { role: 'user', name: 'style', content: style },
    { role: 'system', content: facts },
  ];
  await seedRollouts(http, id, [
    rolloutOf({ candidate: 0, seed: 0, reward: 0, stage: 'baseline', feedback: 'style, facts' }),
  ]);
  const made = { generation: 1, parents: [0], ordinals: [0] };
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0, generation: 0, messages: prompt('Answer.', 'In {tone}.', 'None.') },
    {
      status: 'proposed',
      ...made,
      components: ['style', 'system_2'],
      messages: prompt('Answer.', 'In {tone}.\nNone.', 'None.\nSome.'),
    },
  ]);
  const question = (content: string): Message[] => [{ role: 'user', content }];
  const again: Message[] = [
    ...question('Facts?'),
    { role: 'assistant', content: 'No.' },
    { role: 'user', content: 'Your answer cannot be used.' },
  ];
  const answers: [number, string, string | null, Message[]][] = [
    [3, '```\nIn a tone.\n```', 'it lacks {tone}', question('Style?')],
    [4, '```\nIn {tone}.\nNone.\n```', null, question('Style again?')],
    [6, 'No.', 'no fence', question('Facts?')],
    [7, '```\nNone.\n```', 'unchanged', again],
    [8, '```\nNone.\nSome.\n```', null, again],
  ];
  for (const [occurrence, text, reason, asked] of answers) {
    const component = occurrence < 6 ? 'style' : 'system_2';
    const verdict = { component, attempt: occurrence % 3, accepted: reason === null, reason };
    const policy = { provider: 'openai', model: 'writer', params: {} };
    const numbers = { promptTokens: 1, completionTokens: 1, costUsd: 0, costSource: 'table', latencyMs: 1 };
    const call = { text, finishReason: 'stop', ...numbers };
    const index = { orgId: 'default', jobId: id, candidate: 1, occurrence };
    await http.db.org('default', (tx) =>
      recordProposerCall(tx, index, { policy, messages: asked }, { answer: call, verdict }),
    );
  }
  const { messages, reflection, segments, diff } = await get(id, `/candidates/${cand(1)}`);
  expect(reflection).toMatchObject({ components: ['style', 'system_2'], output: '```\nIn {tone}.\nNone.\n```' });
  expect(reflection.attempts).toMatchObject([
    { component: 'style', attempt: 0, accepted: false, reason: 'it lacks {tone}' },
    { component: 'style', attempt: 1, accepted: true, messages: question('Style again?') },
    { component: 'system_2', attempt: 0, accepted: false, reason: 'no fence' },
    { component: 'system_2', attempt: 1, accepted: false, reason: 'unchanged' },
    { component: 'system_2', attempt: 2, accepted: true, messages: again },
  ]);
  expect(messages).toEqual(prompt('Answer.', 'In {tone}.\nNone.', 'None.\nSome.'));
  const brief = segments.map(({ component, text, introduced_by: by }: Record<string, string>) => [component, text, by]);
  expect(brief).toEqual([
    ['system', 'Answer.', cand(0)],
    ['style', 'In {tone}.\n', cand(0)],
    ['style', 'None.', cand(1)],
    ['system_2', 'None.\n', cand(0)],
    ['system_2', 'Some.', cand(1)],
  ]);
  expect(diff).toEqual([
    { parent_id: cand(0), component: 'style', unified: expect.stringContaining('+None.') },
    { parent_id: cand(0), component: 'system_2', unified: expect.stringContaining('+Some.') },
  ]);
});
