import { expect, test } from '@jest/globals';
import type { Answer } from '../../../src/client/index.js';
import { built, deploy } from '../../support/deployments-over-http.js';
import { command, evaluations } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { callOften, startIncident } from '../../support/worlds/incident.js';

type Health = Answer<'getHealth'>;

const on = serviceOfFile(() => startIncident());
const readHealth = () => on.service.api.client.health();
const providerIn = ({ providers }: Health) => providers.find(({ provider }) => provider === 'fake')!;

/** Waits for a state of the provider; at most until a whole minute has passed since it began. */
const reached = (state: Health['state']) =>
  until(
    `the provider is ${state}`,
    async () => {
      const health = await readHealth();
      return providerIn(health)?.state === state && health;
    },
    150,
    500,
  );

test('an incident is told by its state, its begin and those whom it affects, in exact counts', async () => {
  const { world, service } = on;
  const policy = { provider: 'fake', model: 'policy' };
  const source = { messages: [{ role: 'system', content: 'Answer well.' }], policy };
  const deployment = await deploy(service, { name: 'router', source });
  await built(service, deployment);
  const calling = callOften(service.api, 'router');
  const { dataset_id } = await service.api.client.datasets.upload(world.rows(4_000));
  const { job_id: job } = await service.api.call<{ job_id: string }>('POST', evaluations, {
    dataset: { dataset_id, input: 'question', expected: 'answer' },
    scorer: 'exact',
    policy,
    name: 'nightly',
    candidate: { messages: source.messages },
    max_concurrent: 2,
    max_failure_rate: 1,
    preflight: false,
  });

  // What is usual is that of minutes that have ended.
  const early = await until(
    'a minute has passed',
    async () => {
      const health = await readHealth();
      return (providerIn(health)?.minutes.length ?? 0) > 1 && health;
    },
    90,
    500,
  );
  expect(providerIn(early)).toMatchObject({ model: 'policy', state: 'ok', since: null, because: null });
  expect(early).toMatchObject({ state: 'ok', service: { ready: true, checks: { worker: { ok: true } } } });
  const [open] = early.jobs;
  expect(open).toMatchObject({
    job_id: job,
    kind: 'evaluation',
    name: 'nightly',
    status: 'running',
    models: [policy],
    concurrency: { limit: 2, max_concurrent: 2 },
    max_rollouts: 4_000,
    stalled: false,
  });
  expect(open!.rollouts_per_minute).toBeGreaterThan(60);
  const left = 4_000 - open!.rollouts_completed;
  const endsIn = (Date.parse(open!.ends_at!) - Date.parse(early.at)) / 60_000;
  expect(endsIn).toBeCloseTo(left / open!.rollouts_per_minute!, 2);

  const slowSince = Date.now();
  world.turn('slow');
  const slow = providerIn(await reached('slow'));
  // Of a minute whose calls are mostly slow.
  expect(Date.parse(slow.since!)).toBeGreaterThan(slowSince - 60_000);
  expect(slow.minutes.at(-1)!.p50_ms!).toBeGreaterThan(1_500);

  const throttledSince = Date.now();
  world.turn('throttled');
  const incident = await reached('throttled');
  const throttled = providerIn(incident);
  expect(throttled).toMatchObject({ because: '429', job_ids: [job], deployments: ['router'] });
  expect(Date.parse(throttled.since!)).toBeGreaterThanOrEqual(throttledSince);
  expect(Date.parse(throttled.since!)).toBeLessThan(throttledSince + 5_000);
  const failing = await until(
    'the deployment fails',
    async () => {
      const { deployments } = await readHealth();
      return deployments[0]?.state === 'failing' && deployments[0];
    },
    90,
    500,
  );
  expect(failing).toMatchObject({ name: 'router', version: 1, deployment_id: deployment });
  const lowered = await until('the job is slowed down', async () => {
    const { jobs } = await readHealth();
    return jobs[0]!.concurrency.limit === 1 && jobs[0]!.concurrency;
  });
  expect(lowered.lowered_because).toContain('429');
  expect(providerIn(await readHealth()).since).toBe(throttled.since);

  const wellSince = Date.now();
  world.turn('well');
  const well = providerIn(await reached('ok'));
  expect(Date.parse(well.since!)).toBeGreaterThan(wellSince - 60_000);

  await calling.stop();
  await command(service, job, 'pause');
  await until('its last rollout has ended', async () => {
    const [row] = await service.query('select count(*)::int as n from rollouts where status = $1', ['running']);
    return row!['n'] === 0;
  });
  const ledger = world.answered();
  await until('all calls are counted', async () => {
    const { calls, throttled, errors } = providerIn(await readHealth()).last_hour;
    expect({ calls, throttled, errors }).toEqual({
      calls: ledger[200]! + ledger[429]!,
      throttled: ledger[429],
      errors: { 429: ledger[429] },
    });
    return true;
  });
  const { jobs } = await readHealth();
  expect(jobs[0]).toMatchObject({ status: 'paused', rollouts_per_minute: 0, ends_at: null, stalled: false });
}, 500_000);
