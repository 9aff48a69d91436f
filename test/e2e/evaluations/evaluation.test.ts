import { describe, expect, test } from '@jest/globals';
import { largestReward } from '../../../src/core/math/rewards.js';
import { chainOf, History } from '../../support/chain.js';
import { answers } from '../../support/fakes/container.js';
import { command, ended, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { until } from '../../support/until.js';
import { evaluationServiceOfFile } from './service.js';

const { on, container, create, resultsOf } = evaluationServiceOfFile();
/** The system messages of a job's model calls, as received by the model. */
const systemsAsked = async (id: string) =>
  (
    await on.service.query<{ system: string }>(
      `select request->'messages'->0->>'content' as system from model_calls where job_id = $1`,
      [id],
    )
  ).map(({ system }) => system);
/** Sends the model a system message of its own. */
const asksModel = () =>
  answers.askModel(
    () => ({ system: 'the container’s own', user: 'hello' }),
    () => ({ reward: 1 }),
  );

describe('an offline evaluation', () => {
  test('runs each seed as often as it is listed, within max_concurrent', async () => {
    const box = await container({ behave: (call) => answers.after(5, answers.reward(call.seed / 10)) });
    const seeds = [3, 1, 3, 2, 1, 3];
    const id = await create(box.url, seeds, { max_concurrent: 2 });
    const job = await ended<Evaluation>(on.service, id);
    expect(job).toMatchObject({ status: 'completed', error: null, rollouts_resent: 0 });
    expect(job.results!.mean_reward).toBeCloseTo(seeds.reduce((sum, seed) => sum + seed / 10, 0) / seeds.length);
    expect(box.ledger.map((entry) => entry.seed).sort()).toEqual([...seeds].sort());
    expect(box.maxConcurrency()).toBeLessThanOrEqual(2);
    const { results, summary } = await resultsOf(id);
    expect(results.map((row) => row.seed)).toEqual(seeds);
    expect(summary).toMatchObject({ num_seeds: 6, num_successful: 6, num_failed: 0 });
  });

  test('sums rewards of the largest finite numbers', async () => {
    const box = await container({
      behave: ({ seed }) => answers.reward(seed === 2 ? -Number.MAX_VALUE : Number.MAX_VALUE),
    });
    const id = await create(box.url, [0, 1, 2]);
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    expect((await resultsOf(id)).summary.mean_reward).toBeCloseTo(largestReward / 3, -290);
  });

  test('of given messages: the proxy replaces the container’s own system message', async () => {
    const box = await container({ behave: asksModel });
    const id = await create(box.url, [0, 1], {
      candidate: { messages: [{ role: 'system', content: 'the given one' }] },
    });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    expect(await systemsAsked(id)).toEqual(['the given one', 'the given one']);
    expect((await readJob<Evaluation>(on.service, id)).results!.total_tokens).toBeGreaterThan(0);
    expect(box.ledger[0]!.body.policy.config.prompt_template).toEqual({
      sections: [{ role: 'system', content: 'the given one', order: 0 }],
    });
  });

  test('of the container’s own prompt: its system message passes through', async () => {
    const box = await container({ behave: asksModel });
    const id = await create(box.url, [0]);
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    expect(await systemsAsked(id)).toEqual(['the container’s own']);
  });

  test('sends the container key as X-API-Key, and keeps it out of rows, events and history', async () => {
    const box = await container({ apiKey: 'a-very-secret-key' });
    const id = await create(box.url, [0], { container_api_key: 'a-very-secret-key' });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    const [row] = await on.service.query<{ text: string }>(
      `select (select jsonb_agg(to_jsonb(j)) from jobs j where id = $1)::text || (select jsonb_agg(to_jsonb(e)) from events e where job_id = $1)::text
                || (select jsonb_agg(to_jsonb(r)) from rollouts r where job_id = $1)::text as text`,
      [id],
    );
    const [history] = await chainOf(on.service.temporal, `evaluation-${id}`);
    // Temporal's history shows its inputs unencrypted.
    for (const text of [row!.text, Buffer.from(History.encode(history!).finish()).toString('latin1')]) {
      expect(text).toContain(id);
      expect(text).not.toContain('a-very-secret-key');
    }
  });
});

describe('failures and their consequences, once each', () => {
  const failing: [string, (url: string) => ReturnType<typeof answers.hang>][] = [
    ['repeated 500', () => answers.status(500, 'boom')],
    ['incomplete JSON', () => answers.halfJson()],
    ['a NaN reward', () => answers.raw('{"reward": NaN}')],
    ['a reward of 1e400', () => answers.raw('{"reward": 1e400}')],
    ['a string reward', () => answers.raw('{"reward": "1"}')],
    ['a null reward', () => answers.raw('{"reward": null}')],
    ['no reward', () => answers.raw('{}')],
    ['no content', () => answers.noContent()],
    ['a redirect', (url) => answers.redirect(url)],
    ['another seed', () => answers.wrongSeed()],
    ['success_status error', () => answers.failedStatus('no idea')],
    ['a reset', () => answers.reset()],
    ['a gzipped body', () => answers.gzip()],
    ['404', () => answers.status(404)],
  ];
  test('the rows fail, each for its reason, and the job continues', async () => {
    const box = await container();
    box.behave(({ seed }) => failing[seed]?.[1](box.url) ?? answers.reward(0.5));
    // As many rows that succeed.
    const id = await create(box.url, range(0, 2 * failing.length), { max_failure_rate: 0.9 });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', results: { mean_reward: 0.5 } });
    const { results, summary } = await resultsOf(id);
    expect(summary).toMatchObject({ num_successful: failing.length, num_failed: failing.length });
    for (const [seed, [name]] of failing.entries())
      expect([name, results[seed]]).toMatchObject([name, { seed, reward: null, error: expect.stringMatching(/./) }]);
  });

  test.each([400, 401, 403] as const)('a key refused with %i in a rollout: the job fails', async (status) => {
    const box = await container({ behave: () => answers.refuseKey(status) });
    const id = await create(box.url, [0, 1], { container_api_key: 'wrong' });
    expect(await ended(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'container_refused_key' },
    });
  });

  test('a key refused by /health: the job fails before any rollout', async () => {
    const box = await container({ apiKey: 'right' });
    const id = await create(box.url, [0, 1], { container_api_key: 'wrong' });
    expect(await ended(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'container_refused_key' },
    });
    expect(box.ledger).toEqual([]);
  });

  test('a refused connection: the job fails before any rollout and names the URL', async () => {
    const box = await container();
    await box.close();
    const id = await create(box.url, [0]);
    const job = await ended<Evaluation>(on.service, id);
    expect(job.status).toBe('failed');
    expect(job.error).toContain(new URL(box.url).host);
  });

  test('more failures than max_failure_rate, from the 20th outcome: the job fails and keeps its rows', async () => {
    const box = await container({ behave: (call) => (call.seed % 3 === 0 ? answers.reward(1) : answers.raw('{}')) });
    const id = await create(box.url, range(0, 500), { max_concurrent: 4 });
    expect(await ended(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'too_many_failures' },
    });
    const { summary } = await resultsOf(id);
    expect(summary.num_successful + summary.num_failed).toBeGreaterThanOrEqual(20);
    expect(box.ledger.length).toBeLessThan(60);
  });

  test('the same limit applies at the end of a job with fewer than 20 outcomes', async () => {
    const box = await container({ behave: (call) => (call.seed === 0 ? answers.reward(1) : answers.raw('{}')) });
    const id = await create(box.url, range(0, 5));
    expect(await ended(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'too_many_failures' },
    });
    expect(box.ledger).toHaveLength(5);
  });

  test('202: the reward arrives by POST; without it the row fails at its deadline', async () => {
    const box = await container({ behave: () => answers.pending202() });
    const id = await create(box.url, [0, 1], { rollout_timeout: 4, max_failure_rate: 0.5 });
    const [first] = await until('both are asked', () => box.ledger.length === 2 && box.ledger);
    await until('the row waits', async () => {
      const rows = await on.service.query(`select 1 from rollouts where id = $1 and status = 'awaiting_reward'`, [
        first!.rolloutId,
      ]);
      return rows.length === 1;
    });
    expect((await readJob<Evaluation>(on.service, id)).concurrency.in_flight).toBe(2);
    const report = (reward: number) =>
      command(on.service, id, 'reward', {
        correlation_id: first!.rolloutId,
        reward_info: { outcome_reward: reward, details: { feedback: 'late but fine' } },
      });
    await report(0.75);
    await report(0.75);
    await expect(report(0.5)).rejects.toThrow(/409/);
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', results: { mean_reward: 0.75 } });
    expect((await resultsOf(id)).summary).toMatchObject({ num_successful: 1, num_failed: 1 });
  });
});
