import { describe, expect, test } from '@jest/globals';
import { answers } from '../../support/fakes/container.js';
import { command, ended, type Evaluation } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { until } from '../../support/until.js';
import { evaluationServiceOfFile } from './service.js';

const { on, container, create, resultsOf } = evaluationServiceOfFile();

describe('an offline evaluation', () => {
  test('releases rollouts claimed ahead at a pause, and runs each once after it', async () => {
    const box = await container({ behave: () => answers.after(3, answers.reward(1)) });
    const id = await create(box.url, range(0, 3_000), { max_concurrent: 16 });
    await until('some have run', () => box.ledger.length > 300);
    await command(on.service, id, 'pause');
    const open = async (status: string) => {
      const [row] = await on.service.query<{ n: number }>(
        'select count(*) as n from rollouts where job_id = $1 and status = $2',
        [id, status],
      );
      return row!.n;
    };
    await until('nothing is claimed', async () => (await open('running')) === 0);
    expect(await open('queued')).toBe(3_000 - box.ledger.length);
    await command(on.service, id, 'resume');
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(box.ledger.map((entry) => entry.seed).sort((a, b) => a - b)).toEqual(range(0, 3_000));
    expect(box.maxConcurrency()).toBeLessThanOrEqual(16);
  });

  test('records one result for each of 10,000 seeds, with a small history', async () => {
    const box = await container();
    const id = await create(box.url, range(0, 10_000), { max_concurrent: 64 });
    expect(await ended(on.service, id, 120)).toMatchObject({ status: 'completed' });
    expect(new Set(box.ledger.map((entry) => entry.seed)).size).toBe(10_000);
    expect(box.ledger).toHaveLength(10_000);
    expect(box.maxConcurrency()).toBeLessThanOrEqual(64);
    const description = await on.service.workflow(id).describe();
    expect(description.historyLength).toBeLessThan(200);
    expect((await resultsOf(id)).summary).toMatchObject({ num_seeds: 10_000, num_successful: 10_000 });
  }, 150_000);

  test('fails at its timeout, reports the number of finished rollouts, and keeps them', async () => {
    const box = await container({ behave: (call) => (call.seed < 3 ? answers.reward(1) : answers.hang()) });
    const id = await create(box.url, range(0, 6), { timeout: 2, max_concurrent: 6, max_failure_rate: 1 });
    const job = await ended<Evaluation>(on.service, id);
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'timeout' } });
    expect(job.error).toContain('3 of 6 seeds');
    expect((await resultsOf(id)).summary).toMatchObject({ num_successful: 3, mean_reward: 1 });
  });
});

describe('failures and their consequences, once each', () => {
  test('a hanging container: a failed row after three tries', async () => {
    const box = await container({ behave: (call) => (call.seed === 1 ? answers.hang() : answers.reward(1)) });
    const id = await create(box.url, [0, 1, 2], { rollout_timeout: 1 });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    expect((await resultsOf(id)).summary).toMatchObject({ num_failed: 1 });
    expect(box.ledger.filter((entry) => entry.seed === 1)).toHaveLength(3);
  });

  test('429 with Retry-After: waits, retries, and counts the reward', async () => {
    const box = await container({ behave: () => answers.inTurn(answers.busySeconds(1), answers.reward(1)) });
    const id = await create(box.url, [0]);
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', results: { mean_reward: 1 } });
    const [first, second] = box.ledger;
    expect(second!.in - first!.in).toBeGreaterThanOrEqual(990);
  });

  test('ten connection failures in a row: the job fails because the container is gone', async () => {
    let left = 3;
    const box = await container({
      behave: () => async (call, response) => {
        left -= 1;
        await answers.reward(1)(call, response);
        if (left === 0) setImmediate(() => void box.close());
      },
    });
    const id = await create(box.url, range(0, 60), { max_concurrent: 1, max_failure_rate: 1 });
    expect(await ended(on.service, id, 60)).toMatchObject({
      status: 'failed',
      error_details: { code: 'container_unreachable', retryable: true },
    });
    expect((await resultsOf(id)).summary.num_failed).toBeLessThan(20);
  }, 90_000);
});
