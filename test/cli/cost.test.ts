import { expect, test } from '@jest/globals';
import { confirmCost, sumOf } from '../../src/cli/commands/cost.js';
import { planDemo } from '../../src/cli/commands/demo-plan.js';
import { FailedJob } from '../../src/cli/service/errors.js';
import { ConfigError } from '../../src/service/config.js';

const estimateOf = (high: number | null) => ({
  rollouts: 10,
  cost_usd: high === null ? null : { low: 0, likely: 0, high },
});

/** The number of questions, and whether the command goes on. */
async function asked(high: number | null, answer: string, yes = false) {
  const questions: string[] = [];
  const ask = (question: string) => Promise.resolve((questions.push(question), answer));
  const goesOn = confirmCost(estimateOf(high), { yes }, ask).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(FailedJob);
      return false;
    },
  );
  return [await goesOn, questions.length];
}

test('asks before an upper estimate above a dollar, or an unknown cost', async () => {
  expect(await asked(1, '')).toEqual([true, 0]);
  expect(await asked(1.01, '')).toEqual([false, 1]);
  expect(await asked(1.01, 'n')).toEqual([false, 1]);
  expect(await asked(1.01, 'y')).toEqual([true, 1]);
  expect(await asked(null, 'Yes')).toEqual([true, 1]);
  expect(await asked(null, '', true)).toEqual([true, 0]);
});

test('asks nobody without a terminal', async () => {
  await expect(confirmCost(estimateOf(100), {}, null)).resolves.toBeUndefined();
});

test('a sum with an unknown cost is unknown', () => {
  const [known, unknown] = [{ estimate: estimateOf(1) }, { estimate: estimateOf(null) }];
  expect(sumOf([known, known])).toEqual({ rollouts: 20, cost_usd: { low: 0, likely: 0, high: 2 } });
  expect(sumOf([known, unknown]).cost_usd).toBeNull();
});

const priced = { provider: 'openai', model: 'gpt-4o-mini' };

test('the demo is bounded as a whole', async () => {
  const { estimate } = await planDemo(priced, undefined);
  const { high } = estimate.cost_usd!;
  const bounded = await planDemo(priced, 0.6 * high);
  expect(bounded.estimate.cost_usd!.high).toBeCloseTo(0.6 * high, 9);
  expect(bounded.sessionCost! + 2 * bounded.evaluationCost!).toBeCloseTo(0.6 * high, 9);
  await expect(planDemo(priced, 0.001)).rejects.toBeInstanceOf(ConfigError);
  await expect(planDemo({ provider: 'ollama', model: 'x' }, 100)).rejects.toBeInstanceOf(ConfigError);
  expect((await planDemo({ provider: 'local', model: 'local' }, undefined)).estimate.cost_usd!.high).toBe(0);
});
