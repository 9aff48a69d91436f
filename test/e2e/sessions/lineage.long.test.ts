import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import type { candidateDetailSchema } from '../../../src/candidates/contract/lineage.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { createSession, pathOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { baseline, propose, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

const on = serviceOfFile(startRulesWorld);

type Detail = z.output<typeof candidateDetailSchema>;
interface Page<Row> {
  data: Row[];
  has_more: boolean;
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

test('each sentence of the winner has the feedback it came from', async () => {
  // The first answer is unusable, so one candidate needs two; a later one makes the prompt worse.
  let asked = 0;
  on.world.model.reply((request) => {
    asked += 1;
    const text = asked === 1 ? 'I would rather not.' : asked === 4 ? '```\nAnswer.\n```' : propose(request);
    return { text };
  });
  const id = await createSession(on.service, {
    ...on.world.job,
    gepa: {
      population_size: 2,
      generations: 6,
      minibatch_size: 3,
      train_seeds: range(0, 24),
      evaluation: { seeds: range(0, 12) },
    },
  });
  const get = <T>(path: string) => on.service.api.call<T>('GET', pathOf(id) + path);
  const unreadable: unknown[] = [];
  const ended = await until(
    'the session has ended, and its candidates can be read all the time',
    async () => {
      await get('/candidates').catch((error: unknown) => unreadable.push(error));
      const seen = await get<Session>('');
      return isTerminal(seen.status) && seen;
    },
    60,
  );
  expect(ended.status).toBe('completed');
  expect(unreadable).toEqual([]);

  const { data: candidates } = await get<Page<{ candidate_id: string }>>('/candidates?limit=1000');
  const details = new Map<string, Detail>();
  for (const { candidate_id: candidate } of candidates) {
    details.set(candidate, await get<Detail>(`/candidates/${candidate}`));
  }
  const winner = details.get(ended.best_candidate!.candidate_id)!;
  expect(winner.segments.map(({ text }) => text.trim())).toEqual(expect.arrayContaining([baseline]));
  for (let rule = 0; rule < on.world.rules; rule += 1) {
    const segment = winner.segments.find(({ text }) => text.includes(`rule-${rule}.`))!;
    const source = details.get(segment.introduced_by)!;
    const lesson = segment.feedback.find(({ feedback }) => feedback === `needs rule-${rule}.`)!;
    expect(lesson.seed! % on.world.rules).toBe(rule);
    // The model received it, and the rollout's trace contains it.
    expect(source.reflection!.messages[0]!.content).toContain(`needs rule-${rule}.`);
    expect(source.reflection!.output).toContain(`rule-${rule}.`);
    const trace = await get<{ feedback: string; seed: number }>(`/traces/${lesson.rollout_id}`);
    expect(trace).toMatchObject({ seed: lesson.seed, feedback: lesson.feedback });
    // It was new: no parent had it.
    for (const parent of source.parent_ids) {
      expect(details.get(parent)!.segments.some(({ text }) => text.includes(`rule-${rule}.`))).toBe(false);
    }
  }

  // Without noise a decision compares the last results of the candidate with those of its lineage.
  const verdicts = { accepted: 0, rejected: 0, merged: 0, unevaluated: 0 };
  for (const detail of details.values()) {
    const { is_baseline: isBaseline, decision, status, reflection, minibatch, parent_ids: parents } = detail;
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
    // A seed that no ancestor ran, explored for the next cohort, is compared with nothing.
    const compared = minibatch.filter((pair) => pair.parent_rollout_id !== null);
    expect(isMerge || compared.length === minibatch.length).toBe(true);
    expect(decision.parent_sum).toBe(sum(compared.map((pair) => pair.parent_reward!)));
    expect(decision.child_sum).toBe(sum(compared.map((pair) => pair.candidate_reward!)));
    expect(isAccepted).toBe(decision.child_sum! + (isMerge ? 1e-9 : 0) > decision.parent_sum!);
    expect(decision.estimated_reward).toEqual(isAccepted ? expect.any(Number) : null);
    const shown = new Set(reflection?.examples.map(({ seed }) => seed) ?? minibatch.map(({ seed }) => seed));
    for (const pair of minibatch) {
      const { seed, role } = pair;
      expect(role).toBe(shown.has(seed) ? 'shown' : 'guard');
      if (compared.includes(pair)) {
        const before = await get<{ seed: number; reward: number }>(`/traces/${pair.parent_rollout_id}`);
        expect(before).toMatchObject({ seed, reward: pair.parent_reward });
      }
      for (const { rollout_id: rollout, reward } of pair.candidate_rollouts) {
        const own = { seed, reward, candidate_id: detail.candidate_id };
        expect(await get(`/traces/${rollout}`)).toMatchObject(own);
      }
    }
  }
  // All kinds of decisions occurred.
  expect(Object.entries(verdicts).filter(([, count]) => count === 0)).toEqual([]);
  const refused = [...details.values()].flatMap(({ reflection }) => reflection?.attempts ?? []);
  expect(refused.filter(({ accepted }) => !accepted)).toMatchObject([{ reason: expect.stringContaining('fence') }]);

  const rollouts = await get<Page<{ seed: number; stage: string }>>(
    `/candidates/${winner.candidate_id}/seed-evals?limit=1000`,
  );
  expect(rollouts.data).toHaveLength(winner.rollout_count);
  // The evaluation reuses the results of the tests.
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
