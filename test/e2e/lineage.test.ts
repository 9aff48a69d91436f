import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { baseline, propose, startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let world: RulesWorld;
beforeAll(async () => {
  world = await startRulesWorld();
  service = await startTestService(world.env);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

interface Item {
  candidate_id: string;
  parent_ids: string[];
  status: string;
  reward: number | null;
  is_baseline: boolean;
  rollout_count: number;
  decision: {
    outcome: string;
    reason: string | null;
    parent_sum: number | null;
    child_sum: number | null;
    estimated_reward: number | null;
    message: string;
  };
}
interface Detail extends Item {
  reflection: {
    messages: { content: string }[];
    output: string;
    examples: { rollout_id: string; seed: number; reward: number; feedback: string }[];
    attempts: { accepted: boolean; reason: string | null }[];
  } | null;
  minibatch: {
    seed: number;
    role: string;
    parent_reward: number;
    parent_rollout_id: string;
    candidate_reward: number;
    candidate_rollouts: { rollout_id: string; reward: number }[];
  }[];
  segments: {
    text: string;
    introduced_by: string;
    feedback: { rollout_id: string; seed: number; feedback: string }[];
  }[];
}
interface Page<Row> {
  data: Row[];
  has_more: boolean;
}

const range = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

test('of each sentence of the winner it can be said which feedback it came from', async () => {
  // The first answer of all is not usable, so that one candidate took two; a later one makes things worse.
  let asked = 0;
  world.model.reply((request) => {
    asked += 1;
    const text = asked === 1 ? 'I would rather not.' : asked === 4 ? '```\nAnswer.\n```' : propose(request);
    return { text };
  });
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy: { provider: 'fake', model: 'any' },
      gepa: {
        population_size: 2,
        generations: 6,
        minibatch_size: 3,
        train_seeds: range(0, 24),
        evaluation: { seeds: range(0, 12) },
      },
    },
  });
  const get = <T>(path: string) => service.api.call<T>('GET', `/api/v1/online/sessions/${id}${path}`);
  const ended = await until(
    'the session has ended, and its candidates can be read all the time',
    async () => {
      await get<Page<Item>>('/candidates');
      const seen = await get<{ status: string; best_candidate: { candidate_id: string } }>('');
      return ['completed', 'failed', 'cancelled'].includes(seen.status) && seen;
    },
    60,
  );
  expect(ended.status).toBe('completed');

  const { data: candidates } = await get<Page<Item>>('/candidates?limit=1000');
  const details = new Map<string, Detail>();
  for (const { candidate_id: candidate } of candidates) {
    details.set(candidate, await get<Detail>(`/candidates/${candidate}`));
  }
  const winner = details.get(ended.best_candidate.candidate_id)!;
  expect(winner.segments.map(({ text }) => text.trim())).toEqual(expect.arrayContaining([baseline]));
  for (let rule = 0; rule < world.rules; rule += 1) {
    const segment = winner.segments.find(({ text }) => text.includes(`rule-${rule}.`))!;
    const source = details.get(segment.introduced_by)!;
    const told = segment.feedback.find(({ feedback }) => feedback === `needs rule-${rule}.`)!;
    expect(told.seed % world.rules).toBe(rule);
    // It is what the model was really shown, and what the rollout's trace says.
    expect(source.reflection!.messages[0]!.content).toContain(`needs rule-${rule}.`);
    expect(source.reflection!.output).toContain(`rule-${rule}.`);
    const trace = await get<{ feedback: string; seed: number }>(`/traces/${told.rollout_id}`);
    expect(trace).toMatchObject({ seed: told.seed, feedback: told.feedback });
    // And it was new there: no parent had it.
    for (const parent of source.parent_ids) {
      expect(details.get(parent)!.segments.some(({ text }) => text.includes(`rule-${rule}.`))).toBe(false);
    }
  }

  // Without noise a verdict is about what was last measured: of the parent or an ancestor, and of the candidate.
  const verdicts = { accepted: 0, rejected: 0, merged: 0, unevaluated: 0 };
  for (const one of details.values()) {
    const { is_baseline: isBaseline, decision, status, reflection, minibatch, parent_ids: parents } = one;
    expect(['accepted', 'rejected']).toContain(decision.outcome);
    expect(decision.outcome === 'rejected').toBe(status === 'rejected');
    if (isBaseline) continue;
    const isMerge = parents.length > 1;
    const isAccepted = decision.outcome === 'accepted';
    verdicts[isAccepted ? 'accepted' : 'rejected'] += 1;
    if (isMerge) verdicts.merged += 1;
    if (isAccepted && status === 'proposed') verdicts.unevaluated += 1;
    if (isMerge)
      expect([reflection, decision.message]).toEqual([null, expect.stringContaining('It combines candidates')]);
    else expect(reflection!.attempts.filter(({ accepted }) => accepted)).toHaveLength(1);
    expect(decision.parent_sum).toBe(sum(minibatch.map((pair) => pair.parent_reward)));
    expect(decision.child_sum).toBe(sum(minibatch.map((pair) => pair.candidate_reward)));
    expect(isAccepted).toBe(decision.child_sum! + (isMerge ? 1e-9 : 0) > decision.parent_sum!);
    expect(decision.estimated_reward).toEqual(isAccepted ? expect.any(Number) : null);
    const shown = new Set(reflection?.examples.map(({ seed }) => seed) ?? minibatch.map(({ seed }) => seed));
    for (const { seed, role, ...pair } of minibatch) {
      expect(role).toBe(shown.has(seed) ? 'shown' : 'guard');
      const before = await get<{ seed: number; reward: number }>(`/traces/${pair.parent_rollout_id}`);
      expect(before).toMatchObject({ seed, reward: pair.parent_reward });
      for (const { rollout_id: rollout, reward } of pair.candidate_rollouts) {
        const own = { seed, reward, candidate_id: one.candidate_id };
        expect(await get(`/traces/${rollout}`)).toMatchObject(own);
      }
    }
  }
  // All kinds of verdicts there were.
  expect(Object.entries(verdicts).filter(([, count]) => count === 0)).toEqual([]);
  const refused = [...details.values()].flatMap(({ reflection }) => reflection?.attempts ?? []);
  expect(refused.filter(({ accepted }) => !accepted)).toMatchObject([{ reason: expect.stringContaining('fence') }]);

  const rollouts = await get<Page<{ seed: number; stage: string }>>(
    `/candidates/${winner.candidate_id}/seed-evals?limit=1000`,
  );
  expect(rollouts.data).toHaveLength(winner.rollout_count);
  // What its tests had bought its evaluation did not buy again.
  expect(rollouts.data.filter(({ stage }) => stage === 'evaluation').length).toBeLessThan(12);
  const { seeds, front } = await get<{
    seeds: { best_reward: number; candidate_ids: string[] }[];
    front: { candidate_id: string }[];
  }>('/pareto');
  expect(seeds).toHaveLength(12);
  for (const seed of seeds)
    expect([seed.best_reward, seed.candidate_ids.includes(winner.candidate_id)]).toEqual([1, true]);
  expect(front.map((holder) => holder.candidate_id)).toEqual([winner.candidate_id]);
});
