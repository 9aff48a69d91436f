import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { largestReward } from '../../src/core/scores.js';
import { containersOfEachTest } from '../support/containers-of-each-test.js';
import { answers } from '../support/fake-container.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

interface Status {
  status: string;
  error: string | null;
  error_details: { code: string; message: string } | null;
  results: { mean_reward: number; total_tokens: number; total_cost_usd: number | null } | null;
  rollouts_resent: number;
}
interface Results {
  status: string;
  summary: { mean_reward: number | null; num_seeds: number; num_successful: number; num_failed: number };
  results: { seed: number; reward: number | null; latency_ms: number; trace_id: string; error?: string | null }[];
}

const container = containersOfEachTest();
async function create(url: string, seeds: number[], more: Record<string, unknown> = {}): Promise<string> {
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: url,
    app_id: 'test',
    env_name: 'test',
    seeds,
    policy: { provider: 'local', model: 'local' },
    ...more,
  });
  return id;
}
const read = (id: string) => service.api.call<Status>('GET', `/api/v1/offline/jobs/${id}`);
const resultsOf = (id: string) => service.api.call<Results>('GET', `/api/v1/offline/jobs/${id}/results`);
const ended = (id: string, seconds = 30) =>
  until(
    `${id} has ended`,
    async () => {
      const job = await read(id);
      return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
    },
    seconds,
  );
const range = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('an offline evaluation', () => {
  test('runs every listed seed once, duplicates as often as they are listed, within max_concurrent', async () => {
    const box = await container({ behave: (call) => answers.after(5, answers.reward(call.seed / 10)) });
    const seeds = [3, 1, 3, 2, 1, 3];
    const id = await create(box.url, seeds, { max_concurrent: 2 });
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'completed', error: null, rollouts_resent: 0 });
    expect(job.results!.mean_reward).toBeCloseTo(seeds.reduce((sum, seed) => sum + seed / 10, 0) / seeds.length);
    expect(box.ledger.map((entry) => entry.seed).sort()).toEqual([...seeds].sort());
    expect(box.maxConcurrency()).toBeLessThanOrEqual(2);
    const { results, summary } = await resultsOf(id);
    expect(results.map((row) => row.seed)).toEqual(seeds);
    expect(summary).toMatchObject({ num_seeds: 6, num_successful: 6, num_failed: 0 });
  });

  test('what was claimed ahead of its slot is given back at a pause, and runs once after it', async () => {
    const box = await container({ behave: () => answers.after(3, answers.reward(1)) });
    const id = await create(box.url, range(3_000), { max_concurrent: 16 });
    await until('some have run', () => Promise.resolve(box.ledger.length > 300));
    await service.api.call('POST', `/api/v1/offline/jobs/${id}/pause`);
    const open = async (status: string) => {
      const [row] = await service.db.org('default', (tx) =>
        tx.query<{ n: number }>('select count(*) as n from rollouts where job_id = $1 and status = $2', [id, status]),
      );
      return row!.n;
    };
    await until('nothing is claimed', async () => (await open('running')) === 0);
    expect(await open('queued')).toBe(3_000 - box.ledger.length);
    await service.api.call('POST', `/api/v1/offline/jobs/${id}/resume`);
    expect(await ended(id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(box.ledger.map((entry) => entry.seed).sort((a, b) => a - b)).toEqual(range(3_000));
    expect(box.maxConcurrency()).toBeLessThanOrEqual(16);
  });

  test('rewards as large as a number can be are summed, not refused', async () => {
    const box = await container({
      behave: ({ seed }) => answers.reward(seed === 2 ? -Number.MAX_VALUE : Number.MAX_VALUE),
    });
    const id = await create(box.url, [0, 1, 2]);
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect((await resultsOf(id)).summary.mean_reward).toBeCloseTo(largestReward / 3, -290);
  });

  test('10,000 seeds: each has one result, and history stays small', async () => {
    const box = await container();
    const id = await create(box.url, range(10_000), { max_concurrent: 64 });
    expect(await ended(id, 120)).toMatchObject({ status: 'completed' });
    expect(new Set(box.ledger.map((entry) => entry.seed)).size).toBe(10_000);
    expect(box.ledger).toHaveLength(10_000);
    expect(box.maxConcurrency()).toBeLessThanOrEqual(64);
    const description = await service.temporal.workflow.getHandle(`evaluation-${id}`).describe();
    expect(description.historyLength).toBeLessThan(200);
    expect((await resultsOf(id)).summary).toMatchObject({ num_seeds: 10_000, num_successful: 10_000 });
  }, 150_000);

  test('of given messages: the proxy puts them in place of the container’s own system message', async () => {
    const box = await container({
      behave: () =>
        answers.askModel(
          () => ({ system: 'the container’s own', user: 'hello' }),
          () => ({ reward: 1 }),
        ),
    });
    const id = await create(box.url, [0, 1], {
      candidate: { messages: [{ role: 'system', content: 'the given one' }] },
    });
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    const calls = await service.db.org('default', (tx) =>
      tx.query<{ system: string }>(
        `select request->'messages'->0->>'content' as system from model_calls where job_id = $1`,
        [id],
      ),
    );
    expect(calls).toEqual([{ system: 'the given one' }, { system: 'the given one' }]);
    expect((await read(id)).results!.total_tokens).toBeGreaterThan(0);
    expect(box.ledger[0]!.body.policy.config.prompt_template).toEqual({
      sections: [{ role: 'system', content: 'the given one', order: 0 }],
    });
  });

  test('of the container as it is: its system message passes through', async () => {
    const box = await container({
      behave: () =>
        answers.askModel(
          () => ({ system: 'the container’s own', user: 'hello' }),
          () => ({ reward: 1 }),
        ),
    });
    const id = await create(box.url, [0]);
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    const calls = await service.db.org('default', (tx) =>
      tx.query(`select request->'messages'->0->>'content' as system from model_calls where job_id = $1`, [id]),
    );
    expect(calls).toEqual([{ system: 'the container’s own' }]);
  });

  test('sends the container key as X-API-Key, and keeps it out of rows, events and history', async () => {
    const box = await container({ apiKey: 'a-very-secret-key' });
    const id = await create(box.url, [0], { container_api_key: 'a-very-secret-key' });
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    const [row] = await service.db.org('default', (tx) =>
      tx.query<{ text: string }>(
        `select (select jsonb_agg(to_jsonb(j)) from jobs j where id = $1)::text || (select jsonb_agg(to_jsonb(e)) from events e where job_id = $1)::text
                || (select jsonb_agg(to_jsonb(r)) from rollouts r where job_id = $1)::text as text`,
        [id],
      ),
    );
    const history = await service.temporal.workflow.getHandle(`evaluation-${id}`).fetchHistory();
    const everything = row!.text + Buffer.from(JSON.stringify(history)).toString();
    expect(everything).not.toContain('a-very-secret-key');
    expect(everything).not.toContain(Buffer.from('a-very-secret-key').toString('base64').slice(0, -4));
  });

  test('a job that takes longer than its timeout fails, says how many finished, and keeps them', async () => {
    const box = await container({ behave: (call) => (call.seed < 3 ? answers.reward(1) : answers.hang()) });
    const id = await create(box.url, range(6), { timeout: 2, max_concurrent: 6, max_failure_rate: 1 });
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'timeout' } });
    expect(job.error).toContain('3 of 6 seeds');
    expect((await resultsOf(id)).summary).toMatchObject({ num_successful: 3, mean_reward: 1 });
  });
});

describe('what goes wrong, and what follows (once each)', () => {
  const failing: [string, (url: string) => ReturnType<typeof answers.hang>][] = [
    ['500 for ever', () => answers.status(500, 'boom')],
    ['half a JSON', () => answers.halfJson()],
    ['a reward that is NaN', () => answers.raw('{"reward": NaN}')],
    ['a reward of 1e400', () => answers.raw('{"reward": 1e400}')],
    ['a reward that is a string', () => answers.raw('{"reward": "1"}')],
    ['a reward of null', () => answers.raw('{"reward": null}')],
    ['no reward', () => answers.raw('{}')],
    ['no content', () => answers.noContent()],
    ['a redirect', (url) => answers.redirect(url)],
    ['another seed', () => answers.wrongSeed()],
    ['success_status error', () => answers.failedStatus('no idea')],
    ['a reset', () => answers.reset()],
    ['a gzipped body', () => answers.gzip()],
    ['404', () => answers.status(404)],
  ];
  test.each(failing)('%s: a failed row, and the job goes on', async (_name, behaviour) => {
    const box = await container();
    box.behave((call) => (call.seed === 1 ? behaviour(box.url) : answers.reward(0.5)));
    const id = await create(box.url, [0, 1, 2]);
    expect(await ended(id)).toMatchObject({ status: 'completed', results: { mean_reward: 0.5 } });
    const { results, summary } = await resultsOf(id);
    expect(summary).toMatchObject({ num_successful: 2, num_failed: 1 });
    expect(results[1]).toMatchObject({ seed: 1, reward: null });
    expect(results[1]!.error).toBeTruthy();
  });

  test('a container that hangs: a failed row after its three tries', async () => {
    const box = await container({ behave: (call) => (call.seed === 1 ? answers.hang() : answers.reward(1)) });
    const id = await create(box.url, [0, 1, 2], { rollout_timeout: 1 });
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect((await resultsOf(id)).summary).toMatchObject({ num_failed: 1 });
    expect(box.ledger.filter((entry) => entry.seed === 1)).toHaveLength(3);
  });

  test('429 with Retry-After: asked again after it, and then it counts', async () => {
    const box = await container({ behave: () => answers.inTurn(answers.busySeconds(1), answers.reward(1)) });
    const id = await create(box.url, [0]);
    expect(await ended(id)).toMatchObject({ status: 'completed', results: { mean_reward: 1 } });
    const [first, second] = box.ledger;
    expect(second!.in - first!.in).toBeGreaterThanOrEqual(990);
  });

  test.each([400, 401, 403] as const)('a key refused with %i in a rollout: the job fails', async (status) => {
    const box = await container({ behave: () => answers.refuseKey(status) });
    const id = await create(box.url, [0, 1], { container_api_key: 'wrong' });
    expect(await ended(id)).toMatchObject({ status: 'failed', error_details: { code: 'container_refused_key' } });
  });

  test('a key refused by /health: the job fails before any rollout', async () => {
    const box = await container({ apiKey: 'right' });
    const id = await create(box.url, [0, 1], { container_api_key: 'wrong' });
    expect(await ended(id)).toMatchObject({ status: 'failed', error_details: { code: 'container_refused_key' } });
    expect(box.ledger).toEqual([]);
  });

  test('nobody at the URL: the job fails before any rollout, naming it', async () => {
    const box = await container();
    await box.close();
    const id = await create(box.url, [0]);
    const job = await ended(id);
    expect(job.status).toBe('failed');
    expect(job.error).toContain(new URL(box.url).host);
  });

  test('ten rollouts in a row that cannot connect: the container is gone', async () => {
    let left = 3;
    const box = await container({
      behave: () => async (call, response) => {
        left -= 1;
        await answers.reward(1)(call, response);
        if (left === 0) setImmediate(() => void box.close());
      },
    });
    const id = await create(box.url, range(60), { max_concurrent: 1, max_failure_rate: 1 });
    expect(await ended(id, 60)).toMatchObject({
      status: 'failed',
      error_details: { code: 'container_unreachable', retryable: true },
    });
    expect((await resultsOf(id)).summary.num_failed).toBeLessThan(20);
  }, 90_000);

  test('more failures than max_failure_rate, from the 20th outcome: the job fails and keeps its rows', async () => {
    const box = await container({ behave: (call) => (call.seed % 3 === 0 ? answers.reward(1) : answers.raw('{}')) });
    const id = await create(box.url, range(500), { max_concurrent: 4 });
    expect(await ended(id)).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
    const { summary } = await resultsOf(id);
    expect(summary.num_successful + summary.num_failed).toBeGreaterThanOrEqual(20);
    expect(box.ledger.length).toBeLessThan(60);
  });

  test('the same at the end, when there are fewer than 20', async () => {
    const box = await container({ behave: (call) => (call.seed === 0 ? answers.reward(1) : answers.raw('{}')) });
    const id = await create(box.url, range(5));
    expect(await ended(id)).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
    expect(box.ledger).toHaveLength(5);
  });

  test('202: the reward comes by POST; without it the row fails at its deadline', async () => {
    const box = await container({ behave: () => answers.pending202() });
    const id = await create(box.url, [0, 1], { rollout_timeout: 4, max_failure_rate: 0.5 });
    const [first] = await until('both are asked', () => box.ledger.length === 2 && box.ledger);
    await until('the row waits', async () => {
      const rows = await service.db.org('default', (tx) =>
        tx.query(`select 1 from rollouts where id = $1 and status = 'awaiting_reward'`, [first!.rolloutId]),
      );
      return rows.length === 1;
    });
    const report = (reward: number) =>
      service.api.call('POST', `/api/v1/offline/jobs/${id}/reward`, {
        correlation_id: first!.rolloutId,
        reward_info: { outcome_reward: reward, details: { feedback: 'late but fine' } },
      });
    await report(0.75);
    await report(0.75);
    await expect(report(0.5)).rejects.toThrow(/409/);
    expect(await ended(id)).toMatchObject({ status: 'completed', results: { mean_reward: 0.75 } });
    expect((await resultsOf(id)).summary).toMatchObject({ num_successful: 1, num_failed: 1 });
  });
});
