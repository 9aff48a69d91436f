import { describe, expect, test } from '@jest/globals';
import type { GraphJson } from '../../../src/kinds/graph/contract/graph.js';
import type { EvaluationSpec, GraphSpec, SessionSpec } from '../../../src/core/jobs/spec.js';
import { evaluationEstimate, sessionEstimate } from '../../../src/jobs/routes/cost-estimate.js';
import { graphEstimate } from '../../../src/kinds/graph/routes/cost-estimate.js';
import type { GraphTask } from '../../../src/kinds/graph/store/tasks.js';
import { anyGepa, anySpec, unlimited } from '../../support/job.js';

// gpt-4o-mini is 0.15 and 0.60 dollars a million tokens.
const policy = { provider: 'openai', model: 'gpt-4o-mini', params: {} };
const search = {
  ...anyGepa,
  populationSize: 2,
  generations: 3,
  minibatchSize: 2,
  trainSeeds: [1, 2],
  evaluationSeeds: [1, 2, 3, 4],
};
const usd = (promptTokens: number, answerTokens: number) => promptTokens * 0.15e-6 + answerTokens * 0.6e-6;
const { seeds: _s, timeoutS: _t, appId: _a, candidate: _c, ...run } = anySpec;
const session = (more: Partial<SessionSpec> = {}): SessionSpec => ({
  ...run,
  kind: 'session',
  policy,
  proposer: policy,
  initialPrompt: [{ role: 'system', content: 'x'.repeat(400) }],
  budget: unlimited,
  search,
  ...more,
});
const close = (value: number) => expect.closeTo(value, 12) as unknown;

describe('estimate for a session', () => {
  test('counts the prompt’s length, the assumptions, and the share of accepted proposals', () => {
    // 4 each for baseline and winner, 4 per evaluating generation, 6 proposals with minibatches of
    // 2, as many regression seeds at most, and 4 probes of noise. A question shows 2 rollouts; on
    // open text 10 failures and 4 right answers.
    expect(sessionEstimate(session())).toEqual({
      rollouts: 4 * 4 + 6 * 8 + 4,
      cost_usd: {
        low: close(20 * usd(150, 20) + 6 * usd(100 + 300 + 2 * (50 + 20 + 20), 100)),
        likely: close(36 * usd(400, 150) + 6 * usd(100 + 300 + 8 * (300 + 150 + 100), 300)),
        high: close(68 * usd(1_600, 1_000) + 6 * usd(100 + 300 + 14 * (1_500 + 1_000 + 500), 4_100)),
      },
    });
  });

  test('never exceeds max_cost_usd or max_rollouts', () => {
    const { high } = sessionEstimate(session()).cost_usd!;
    const maxCostUsd = high / 2;
    const bounded = sessionEstimate(session({ budget: { ...unlimited, maxCostUsd } })).cost_usd!;
    expect(bounded.high).toBe(maxCostUsd);
    const few = sessionEstimate(session({ search: { ...search, maxRollouts: 12 } }));
    expect(few.rollouts).toBe(12);
    expect(few.cost_usd!.high).toBeLessThan(high / 3);
    expect(few.cost_usd!.low).toBeLessThanOrEqual(few.cost_usd!.likely);
  });

  test('limits answers by the policy', () => {
    const short = { ...policy, params: { max_tokens: 10 } };
    const { likely } = sessionEstimate(session({ policy: short })).cost_usd!;
    expect(likely).toBeLessThan(sessionEstimate(session()).cost_usd!.likely);
  });

  test('is null for an unknown price, and 0 for the local model', () => {
    const unknown = { ...policy, provider: 'ollama' };
    expect(sessionEstimate(session({ proposer: unknown })).cost_usd).toBeNull();
    const local = { provider: 'local', model: 'local', params: {} };
    expect(sessionEstimate(session({ policy: local, proposer: local })).cost_usd).toEqual({
      low: 0,
      likely: 0,
      high: 0,
    });
  });
});

test('multiplies one call by the seeds of an evaluation', () => {
  const spec: EvaluationSpec = { ...anySpec, policy };
  expect(evaluationEstimate(spec)).toEqual({
    rollouts: 3,
    cost_usd: { low: close(3 * usd(450, 20)), likely: close(3 * usd(700, 150)), high: close(3 * usd(1_900, 1_000)) },
  });
  expect(evaluationEstimate({ ...spec, policy: { ...policy, model: 'nobody-knows' } }).cost_usd).toBeNull();
  const maxCostUsd = usd(1_900, 1_000);
  expect(evaluationEstimate({ ...spec, budget: { ...unlimited, maxCostUsd } }).cost_usd!.high).toBe(maxCostUsd);
});

test('adds a call of each judge of a job on a data set', () => {
  const judge = { type: 'rubric' as const, rubric: 'Is it good?', judge: policy };
  const scorer = { type: 'weighted' as const, parts: [judge, judge].map((part) => ({ weight: 1, scorer: part })) };
  const rows = { datasetId: 'ds_1', numRows: 3, placeholders: {}, columns: [], expected: null, scorer };
  const { high } = evaluationEstimate({ ...anySpec, policy, rows }).cost_usd!;
  expect(high).toBeCloseTo(3 * (usd(1_900, 1_000) + 2 * usd(300 + 1_500 + 1_000, 500)), 12);
});

describe('estimate for a graph job', () => {
  const tasks: GraphTask[] = [100, 300].map((length, index) => ({
    taskId: `t${index}`,
    input: { question: 'q'.repeat(length), note: 'n'.repeat(40) },
    gold: { value: 'g'.repeat(80) },
    rubric: null,
  }));
  const step = { type: 'llm' as const, output: { field: 'answer' } };
  const solve = { ...step, id: 'solve', inputs: { question: 'input.question' } };
  const one = [{ ...solve, messages: [{ role: 'user' as const, content: '{{question}}'.padEnd(400) }] }];
  const job = (more: Partial<GraphSpec> = {}, steps: GraphJson['steps'] = one): GraphSpec => ({
    ...run,
    kind: 'graph',
    container: null,
    policy,
    policies: [policy],
    proposer: policy,
    costUnit: 'usd',
    numTasks: 2,
    description: null,
    verifier: { type: 'exact', caseSensitive: false },
    search,
    budget: unlimited,
    initialGraph: JSON.stringify({ inputs: ['question'], steps, output: `${steps.at(-1)!.id}.answer` }),
    ...more,
  });
  const costs = (spec: GraphSpec) => graphEstimate(spec, tasks).cost_usd!;
  /** Cost of one more rollout: at level high the budget of rollouts is the limit. */
  const perRollout = (spec: GraphSpec) => {
    const free = { ...spec, proposer: { provider: 'local', model: 'local', params: {} } };
    return costs({ ...free, search: { ...search, maxRollouts: 12 } }).high / 12;
  };

  test('counts the calls of a graph’s steps: their messages, the tasks, and earlier steps’ answers', () => {
    // A prompt of 100 tokens, a question of 50; graphs of the search take up to three times as
    // much.
    expect(perRollout(job())).toBeCloseTo(3 * usd(100 + 50, 1_000), 12);
    const check = { ...solve, id: 'check', inputs: { draft: 'solve.answer' }, messages: one[0]!.messages };
    expect(perRollout(job({}, [...one, check]))).toBeCloseTo(3 * (usd(150, 1_000) + usd(100 + 1_000, 1_000)), 12);
    expect(perRollout(job({}, [{ ...one[0]!, samples: 4 }]))).toBeCloseTo(3 * 4 * usd(150, 1_000), 12);
    expect(graphEstimate(job(), tasks)).toMatchObject({
      rollouts: 4 * 4 + 6 * 8 + 4,
      cost_usd: { low: expect.any(Number) },
    });
    const { low, likely, high } = costs(job());
    expect(low).toBeLessThan(likely);
    expect(likely).toBeLessThan(high);
  });

  test('includes a judge in every run', () => {
    const judged = { verifier: { type: 'gold_examples' as const, judge: policy } };
    const more = perRollout(job(judged)) - perRollout(job());
    // Three gold outputs of 20 tokens and an input; the keys of an input count, too.
    const input = JSON.stringify(tasks[0]!.input).length / 2 + JSON.stringify(tasks[1]!.input).length / 2;
    expect(more).toBeCloseTo(usd(300 + Math.ceil((input + 3 * 80) / 4) + 1_000, 200), 12);
    const rubric = { criteria: ['a', 'b'].map((name) => ({ name, weight: 1, description: 'd'.repeat(99) })) };
    const asked = graphEstimate(
      { ...job({ verifier: { type: 'rubric', judge: policy } }), search: { ...search, maxRollouts: 12 } },
      tasks.map((task) => ({ ...task, gold: null, rubric })),
    ).cost_usd!;
    const scored = costs({ ...job(), search: { ...search, maxRollouts: 12 } });
    expect(asked.high - scored.high).toBeCloseTo(12 * usd(300 + Math.ceil((input + 200) / 4) + 1_000, 2 * 200), 12);
  });

  test('is null for an unknown price of a policy, the proposer or the judge, and never above max_cost_usd', () => {
    const unknown = { ...policy, provider: 'ollama' };
    for (const more of [
      { policies: [policy, unknown] },
      { proposer: unknown },
      { verifier: { type: 'rubric' as const, judge: unknown } },
    ]) {
      expect(graphEstimate(job(more), tasks).cost_usd).toBeNull();
    }
    const maxCostUsd = costs(job()).high / 2;
    expect(costs(job({ budget: { ...unlimited, maxCostUsd } })).high).toBe(maxCostUsd);
  });
});
