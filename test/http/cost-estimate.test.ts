import { describe, expect, test } from '@jest/globals';
import type { EvaluationSpec, GepaSession } from '../../src/contracts/spec.js';
import { evaluationEstimate, sessionEstimate } from '../../src/http/cost-estimate.js';
import { anySpec } from '../support/job.js';

// gpt-4o-mini is 0.15 and 0.60 dollars a million tokens.
const policy = { provider: 'openai', model: 'gpt-4o-mini', params: {} };
const usd = (promptTokens: number, answerTokens: number) => promptTokens * 0.15e-6 + answerTokens * 0.6e-6;
const { seeds: _s, timeoutS: _t, appId: _a, candidate: _c, ...run } = anySpec;
const session = (more: Partial<GepaSession> = {}): GepaSession => ({
  ...{ ...run, kind: 'session', algorithm: 'gepa', policy, proposer: policy, rngSeed: 0 },
  initialPrompt: [{ role: 'system', content: 'x'.repeat(400) }],
  budget: { maxRollouts: null },
  gepa: { populationSize: 2, generations: 3, minibatchSize: 2, trainSeeds: [1, 2], evaluationSeeds: [1, 2, 3, 4] },
  ...more,
});
const close = (value: number) => expect.closeTo(value, 12) as unknown;

describe('what a session will cost', () => {
  test('by the prompt’s length, by what is assumed, and by how many proposals go on', () => {
    // The baseline's 4 and the winner's, 4 for each generation between that evaluates, 6 proposals with minibatches of 2; at most
    // as many guards, too.
    expect(sessionEstimate(session())).toEqual({
      rollouts: 4 * 4 + 6 * 8,
      cost_usd: {
        low: close(20 * usd(150, 20) + 6 * usd(100 + 300 + 2 * (50 + 20 + 20), 100)),
        likely: close(36 * usd(400, 150) + 6 * usd(100 + 300 + 2 * (300 + 150 + 100), 300)),
        high: close(64 * usd(1_600, 1_000) + 6 * usd(100 + 300 + 2 * (1_500 + 1_000 + 500), 4_100)),
      },
    });
  });

  test('never more than max_cost_usd, nor than max_rollouts allow', () => {
    const { high } = sessionEstimate(session()).cost_usd!;
    const maxCostUsd = high / 2;
    const bounded = sessionEstimate(session({ budget: { maxRollouts: null, maxCostUsd } })).cost_usd!;
    expect(bounded.high).toBe(maxCostUsd);
    const few = sessionEstimate(session({ budget: { maxRollouts: 12 } }));
    expect(few.rollouts).toBe(12);
    expect(few.cost_usd!.high).toBeLessThan(high / 3);
    expect(few.cost_usd!.low).toBeLessThanOrEqual(few.cost_usd!.likely);
  });

  test('answers are no longer than the policy lets them be', () => {
    const short = { ...policy, params: { max_tokens: 10 } };
    const { likely } = sessionEstimate(session({ policy: short })).cost_usd!;
    expect(likely).toBeLessThan(sessionEstimate(session()).cost_usd!.likely);
  });

  test('null where a price is not known, 0 for the local model', () => {
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

test('an evaluation is its seeds times one call', () => {
  const spec: EvaluationSpec = { ...anySpec, policy };
  expect(evaluationEstimate(spec)).toEqual({
    rollouts: 3,
    cost_usd: { low: close(3 * usd(450, 20)), likely: close(3 * usd(700, 150)), high: close(3 * usd(1_900, 1_000)) },
  });
  expect(evaluationEstimate({ ...spec, policy: { ...policy, model: 'nobody-knows' } }).cost_usd).toBeNull();
});
