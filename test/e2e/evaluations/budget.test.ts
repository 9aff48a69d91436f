import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { costBudgetExhausted } from '../../../src/core/jobs/failures.js';
import type { evaluationResultsSchema } from '../../../src/kinds/evaluation/contract/evaluation.js';
import { createEvaluation, ended, eventsOf, pathOf, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { pricedPolicy, startPricedWorld } from '../../support/worlds/priced.js';

// By the provider's ledger, the cost of an evaluation never exceeds its budget.max_cost_usd.

const on = serviceOfFile(startPricedWorld);
const seeds = range(0, 200);
const maxUsd = 0.02;

/** The evaluation at its end, when no call under way holds a reservation. */
async function settled(id: string): Promise<Evaluation> {
  await ended<Evaluation>(on.service, id);
  return until('calls under way are counted', async () => {
    const job = await readJob<Evaluation>(on.service, id);
    return job.budget.reserved_usd === 0 && job;
  });
}

/** Dollars of the provider's answers during the evaluation, and its end. */
async function bought(spec: object): Promise<{ job: Evaluation; usd: number }> {
  const models = ['gpt-4o-mini', 'gpt-4.1-mini'] as const;
  const ledger = () => models.reduce((sum, model) => sum + on.world.answeredUsd(model), 0);
  const before = ledger();
  const job = await settled(await createEvaluation(on.service, spec));
  return { job, usd: ledger() - before };
}

const onContainer = () => ({
  container_url: on.world.container.url,
  policy: pricedPolicy,
  seeds,
  max_concurrent: 16,
  budget: { max_cost_usd: maxUsd },
});

describe('budget.max_cost_usd of an evaluation', () => {
  test('is never exceeded on a container, and the results so far are kept', async () => {
    const { job, usd } = await bought(onContainer());
    const { num_successful: succeeded, num_failed: failed } = job.summary;
    expect(job).toMatchObject({ status: 'failed', stopped_by: costBudgetExhausted });
    expect(job.error_details).toMatchObject({ code: costBudgetExhausted, retryable: false });
    expect(job.error).toContain(` ${succeeded} of ${seeds.length} seeds `);
    // A refused rollout has no result: its container answers nevertheless.
    expect(failed).toBe(0);
    expect(succeeded).toBeGreaterThan(0);
    expect(succeeded).toBeLessThan(seeds.length);
    expect(usd).toBeLessThanOrEqual(maxUsd);
    expect(usd).toBeGreaterThan(0.75 * maxUsd);
    expect(job.budget).toEqual({ max_cost_usd: maxUsd, spent_usd: expect.closeTo(usd, 9), reserved_usd: 0 });
    expect(job.usage.total_cost_usd).toBeCloseTo(usd, 9);
    const { results } = await on.service.api.call<z.output<typeof evaluationResultsSchema>>(
      'GET',
      `${pathOf(job.job_id)}/results`,
    );
    expect(results.filter(({ status }) => status === 'succeeded')).toHaveLength(succeeded);
    const types = (await eventsOf(on.service, job.job_id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'budget_warning')).toHaveLength(1);
  });

  test('is never exceeded on rows, judges included', async () => {
    const { job, usd } = await bought({
      dataset: { rows: seeds.map((row) => ({ input: `question ${row}` })) },
      // The fake's judgements are unreadable, so rows fail; they cost nevertheless.
      env_name: undefined,
      scorer: { type: 'rubric', criteria: '- polite (1): Is it polite?', provider: 'openai', model: 'gpt-4.1-mini' },
      policy: pricedPolicy,
      candidate: { messages: [{ role: 'system', content: 'Answer well.' }] },
      max_failure_rate: 1,
      max_concurrent: 16,
      budget: { max_cost_usd: 0.1 },
    });
    expect(job.error_details).toMatchObject({ code: costBudgetExhausted });
    expect(on.world.answeredUsd('gpt-4.1-mini')).toBeGreaterThan(0);
    expect(usd).toBeLessThanOrEqual(0.1);
    expect(usd).toBeGreaterThan(0.75 * 0.1);
    // The end of the job interrupts calls, which count in full.
    expect(job.budget.spent_usd).toBeGreaterThanOrEqual(usd - 1e-9);
    expect(job.budget.spent_usd).toBeLessThanOrEqual(0.1);
  });

  test('fails at the preflight if it covers no call, and buys nothing', async () => {
    const { job, usd } = await bought({ ...onContainer(), budget: { max_cost_usd: 1e-9 } });
    expect(job.error_details).toMatchObject({ code: costBudgetExhausted });
    expect(job.summary).toMatchObject({ num_seeds: seeds.length, num_successful: 0, num_failed: 0 });
    expect(usd).toBe(0);
  });

  test('lets an evaluation complete that it covers, such as a clone with another one', async () => {
    const spec = { ...onContainer(), seeds: range(0, 4) };
    const { job } = await bought({ ...spec, budget: { max_cost_usd: 1e-9 } });
    const clone = await on.service.api.call<{ job_id: string }>('POST', `${pathOf(job.job_id)}/clone`, {
      budget: { max_cost_usd: 1 },
    });
    const done = await settled(clone.job_id);
    expect(done).toMatchObject({ status: 'completed', error: null, stopped_by: null });
    expect(done.summary.num_successful).toBe(4);
    expect(done.budget).toMatchObject({ max_cost_usd: 1, spent_usd: expect.closeTo(done.usage.total_cost_usd!, 9) });
  });
});
