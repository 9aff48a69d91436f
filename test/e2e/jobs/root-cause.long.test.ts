import { describe, expect, test } from '@jest/globals';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { answers, modelSays, type Behaviour } from '../../support/fakes/container-answers.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import type { ModelReply } from '../../support/fakes/model.js';
import {
  createEvaluation,
  createSession,
  ended,
  eventsOf,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startModelBesideGone } from '../../support/worlds/model.js';

const on = serviceOfFile(startModelBesideGone);
const container = containersOfEachTest();

/** Asks the model, and answers its failure as a framework does: with `hide`. */
const asking =
  (hide: Behaviour): Behaviour =>
  async (call, response) => {
    const { ok } = await modelSays(call, { system: 'the task', user: `seed ${call.seed}` });
    await (ok ? answers.reward(1) : hide)(call, response);
  };
const hidden = answers.status(400, 'Bad Request');

type Options = {
  provider?: string;
  seeds?: number;
  max_failure_rate?: number;
  max_concurrent?: number;
  rollout_timeout?: number;
};

async function evaluate(behave: Behaviour, { provider = 'fake', seeds = 3, ...more }: Options = {}) {
  const box = await container({ behave: () => behave });
  const policy = { provider, model: 'gpt-9' };
  // The causes are those of rollouts.
  const body = { container_url: box.url, seeds: range(0, seeds), policy, preflight: false };
  const id = await createEvaluation(on.service, { ...body, ...more });
  const job = await ended<Evaluation>(on.service, id);
  const errors = (
    await on.service.query<{ error: { code: string; message: string } }>(
      `select error from rollouts where job_id = $1 and status = 'failed' order by ordinal`,
      [id],
    )
  ).map(({ error }) => error);
  return { job, errors, box };
}

const refusals: [string, ModelReply, Behaviour, string][] = [
  ['403', { status: 403, raw: '{"error":{"message":"not here"}}' }, answers.refuseKey(403), 'provider_refused'],
  ['429', { status: 429, raw: '{"error":{"message":"slow down"}}' }, hidden, 'provider_busy'],
  ['400', { status: 400, raw: '{"error":{"message":"too long"}}' }, hidden, 'provider_rejected'],
  ['500', { status: 500, raw: 'oops' }, hidden, 'provider_error'],
];
test.each(refusals)('a rollout whose model call got %s says so', async (status, reply, hide, code) => {
  on.world.model.reply(() => reply);
  const { job, errors } = await evaluate(asking(hide));
  expect(job).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
  expect(errors.map((error) => error.code)).toEqual([code, code, code]);
  for (const part of ['"fake"', '"gpt-9"', status]) expect(errors[0]!.message).toContain(part);
});

test('a provider that cannot be reached is named', async () => {
  const { errors } = await evaluate(asking(hidden), { provider: 'gone' });
  expect(errors.map(({ code }) => code)).toEqual(Array(3).fill('upstream_unreachable'));
  for (const part of ['"gone"', '"gpt-9"', 'GONE_BASE_URL']) expect(errors[0]!.message).toContain(part);
});

test.each([
  [401, 'provider_refused_key', 'FAKE_API_KEY', 400],
  [404, 'model_not_found', 'policy.model', 400],
  [401, 'provider_refused_key', 'FAKE_API_KEY', 500],
  [404, 'model_not_found', 'policy.model', 500],
])('%d before any success fails the job at once (%s, %s, hidden behind %d)', async (status, code, remedy, hidden) => {
  on.world.model.reply(() => ({ status, raw: '{"error":{"message":"no sk-secret"}}' }));
  const { job, box } = await evaluate(asking(answers.status(hidden)), { seeds: 30, max_failure_rate: 1 });
  expect(job).toMatchObject({ status: 'failed', error_details: { code, retryable: false } });
  for (const part of ['"fake"', '"gpt-9"', String(status), remedy]) expect(job.error).toContain(part);
  expect(job.error).not.toContain('sk-secret');
  // The first rollouts, with the tries that 500 gets.
  expect(box.ledger.length).toBeLessThanOrEqual(15);
});

test('401 ends the job after a success, too', async () => {
  on.world.model.reply(({ body }) =>
    body.messages.at(-1)!.content === 'seed 1' ? { status: 401, raw: '{"error":{"message":"no"}}' } : {},
  );
  const { job, box } = await evaluate(asking(hidden), { seeds: 30, max_concurrent: 1 });
  expect(job).toMatchObject({ status: 'failed', error_details: { code: 'provider_refused_key' } });
  expect(box.ledger.length).toBeLessThan(30);
});

test('a failure after a successful model call is the container’s own', async () => {
  on.world.model.reply(() => ({}));
  const box: Behaviour = async (call, response) => {
    await modelSays(call, { system: 's', user: 'u' });
    await hidden(call, response);
  };
  const { errors } = await evaluate(box);
  expect(errors.map(({ code }) => code)).toEqual(Array(3).fill('container_rejected'));
});

test('the error of a job quotes the commonest cause, and how many rollouts had it', async () => {
  const box: Behaviour = (call, response) =>
    (call.seed < 2 ? answers.raw('{}') : call.seed < 5 ? answers.raw('{"reward": "1"}') : answers.reward(1))(
      call,
      response,
    );
  const { job } = await evaluate(box, { seeds: 6 });
  expect(job).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
  expect(job.error).toContain('5 of 6 answers failed');
  expect(job.error).toContain('3 of 5 failed answers: The container\'s reward is "1"');
  expect(job.error).not.toContain('gave no reward');
  const last = (await eventsOf(on.service, job.job_id)).at(-1)!;
  expect(last).toMatchObject({ type: 'eval.policy.job.failed', message: job.error, data: { error: job.error } });
});

test('the error of a job names the field in which the container gave its reward', async () => {
  const misnamed = answers.raw('{"reward_info": {"outcome_rewards": 1}}');
  const { job, errors } = await evaluate(misnamed);
  expect(job).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
  expect(errors.map(({ code }) => code)).toEqual(Array(3).fill('reward_missing'));
  for (const part of ['reward_info.outcome_reward,', '"outcome_rewards"']) expect(job.error).toContain(part);
});

describe.each(['gepa', 'mipro'])('a %s session of which the whole baseline failed', (algorithm) => {
  test('ends as failed before any generation, without a reward, and says why', async () => {
    const box = await container({ behave: () => answers.raw('{"reward": "1"}') });
    const evaluation = { seeds: range(0, 4) };
    const id = await createSession(on.service, {
      algorithm,
      container_url: box.url,
      policy: { provider: 'fake', model: 'any' },
      max_failure_rate: 1,
      ...(algorithm === 'gepa'
        ? { gepa: { population_size: 2, generations: 3, evaluation } }
        : { mipro: { num_candidates: 3, evaluation } }),
    });
    const job = await ended<Session>(on.service, id);
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'baseline_failed' }, best_reward: null });
    expect(job.error).toContain('4 of 4 failed answers: The container\'s reward is "1"');
    expect(job.candidates.map(({ reward }) => reward)).toEqual([null]);
    expect(box.ledger).toHaveLength(4);
    const events = await eventsOf(on.service, id);
    const decisions = events.filter(({ type }) => /evaluat|generation|proposed/.test(type));
    expect(decisions).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'job_failed', data: { best_reward: null } });
  });
});

describe('a container that hangs', () => {
  test.each([1, 4])('fails the job after at most two time-outs each (max_concurrent %d)', async (max_concurrent) => {
    const { job, box } = await evaluate(answers.hang(), {
      seeds: 40,
      rollout_timeout: 2,
      max_concurrent,
      max_failure_rate: 1,
    });
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'container_timeout', retryable: true } });
    expect(job.results).toBeUndefined();
    expect(box.ledger.length).toBeLessThanOrEqual(2 * max_concurrent);
  });

  test.each([1, 4])('fails a session and a gate as soon (max_concurrent %d)', async (max_concurrent) => {
    const policy = { provider: 'fake', model: 'any' };
    const [box, judge] = [await container(), await container()];
    for (const { behave } of [box, judge]) behave(() => answers.hang());
    const seeds = range(0, 40);
    const session = await createSession(on.service, {
      container_url: box.url,
      policy,
      rollout_timeout: 1,
      max_concurrent,
      max_failure_rate: 1,
      preflight: false,
      gepa: { population_size: 2, generations: 3, evaluation: { seeds } },
    });
    const gate = { container_url: judge.url, seeds, rollout_timeout: 1, max_concurrent, preflight: false };
    const source = saying('Do it.', policy);
    const deployment = await deploy(on.service, {
      name: `hangs-${max_concurrent}`,
      source,
      gate: { ...gate, min_improvement: 0 },
    });
    const [job, refused] = [await ended<Session>(on.service, session), await built(on.service, deployment)];
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'container_timeout' }, best_reward: null });
    expect(refused).toMatchObject({ status: 'failed', live: false });
    expect(refused.error).toContain(job.error!);
    for (const { ledger } of [box, judge]) expect(ledger.length).toBeLessThanOrEqual(2 * max_concurrent);
  });

  test('on some seeds only fails these rollouts', async () => {
    const box: Behaviour = (call, response) => (call.seed === 1 ? answers.hang() : answers.reward(1))(call, response);
    const { job, errors } = await evaluate(box, { rollout_timeout: 1, max_concurrent: 1 });
    expect(job).toMatchObject({ status: 'completed', results: { mean_reward: 1 } });
    expect(errors).toMatchObject([{ code: 'container_timeout' }]);
  });

  test('at first, or answers errors, is not given up', async () => {
    const slow = answers.inTurn(answers.hang(), answers.reward(1));
    expect((await evaluate(slow, { rollout_timeout: 1, seeds: 2 })).job).toMatchObject({ status: 'completed' });
    const broken: Behaviour = (call, response) =>
      (call.seed === 0 ? answers.hang() : answers.status(400))(call, response);
    const { job } = await evaluate(broken, { rollout_timeout: 1, seeds: 2 });
    expect(job).toMatchObject({ status: 'failed', error_details: { code: 'too_many_failures' } });
  });
});
