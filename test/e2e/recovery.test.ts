import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { containersOfEachTest } from '../support/containers-of-each-test.js';
import { answers } from '../support/fake-container.js';
import { anySpec, insertJob } from '../support/job.js';
import { startTestService, type TestService } from '../support/service.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';

// What a review found by thinking of unlucky moments; each was a defect once.

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

const container = containersOfEachTest();
const policy = { provider: 'local', model: 'local' };
const jobs = '/api/v1/offline/jobs';
async function evaluate(url: string, seeds: number, more: Record<string, unknown> = {}, at = service): Promise<string> {
  const body = {
    container_url: url,
    app_id: 'a',
    env_name: 'e',
    seeds: Array.from({ length: seeds }, (_, i) => i),
    policy,
    ...more,
  };
  return (await at.api.call<{ job_id: string }>('POST', jobs, body)).job_id;
}
interface Job {
  status: string;
  error_details: { code: string } | null;
}
const ended = (id: string, at = service) =>
  until(`${id} has ended`, async () => {
    const job = await at.api.call<Job>('GET', `${jobs}/${id}`);
    return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
  });
const rows = (id: string) =>
  service.db.org('default', (tx) =>
    tx.query<{ status: string; n: number }>('select status, count(*) as n from rollouts where job_id = $1 group by 1', [
      id,
    ]),
  );

test('a graceful stop lets rollouts in flight call their model and finish', async () => {
  const box = await container({
    behave: () =>
      answers.after(
        700,
        answers.askModel(
          () => ({ system: 's', user: 'hello' }),
          () => ({ reward: 1 }),
        ),
      ),
  });
  const id = await evaluate(box.url, 6, { max_concurrent: 3 });
  await until('three are in flight', () => box.ledger.length === 3);
  await service.restart();
  expect(await ended(id)).toMatchObject({ status: 'completed' });
  expect(await rows(id)).toEqual([{ status: 'succeeded', n: 6 }]);
  expect(box.ledger).toHaveLength(6);
});

/** A container that does not say how it is before `answer` is called. */
async function heldAtProbe() {
  const { opened, open: answer } = gate();
  const health = answers.held(opened, answers.status(200, '{}'));
  return { answer, box: await container({ prompt: [{ role: 'system', content: 'Say yes.' }], health }) };
}

test.each(['session', 'evaluation'])(
  'a %s cancelled while its container is still being probed: nothing is written after the end',
  async (kind) => {
    const { box, answer } = await heldAtProbe();
    const session = {
      algorithm: 'gepa',
      container_url: box.url,
      policy,
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0] } },
    };
    const base = kind === 'session' ? '/api/v1/online/sessions' : jobs;
    const id =
      kind === 'session'
        ? (await service.api.call<{ job_id: string }>('POST', base, { policy_optimization: session })).job_id
        : await evaluate(box.url, 3);
    await until('it is probed', () => box.probes.length > 0);
    await service.api.call('POST', `${base}/${id}/cancel`);
    answer();
    // Whatever the late activity does, it does before a job that is made after it has ended.
    await ended(await evaluate(box.url, 1));
    const types = await service.db.org('default', (tx) =>
      tx.query<{ type: string }>('select type from events where job_id = $1 order by seq', [id]),
    );
    expect(types).toHaveLength(1);
    expect(await rows(id)).toEqual([]);
  },
);

test('a session that is paused while its container is still being probed: its log begins with its start', async () => {
  const { box, answer } = await heldAtProbe();
  const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0] } };
  const base = '/api/v1/online/sessions';
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', base, {
    policy_optimization: { algorithm: 'gepa', container_url: box.url, policy, gepa },
  });
  await until('it is probed', () => box.probes.length > 0);
  await service.api.call('POST', `${base}/${id}/pause`);
  const types = async () =>
    (
      await service.db.org('default', (tx) =>
        tx.query<{ type: string }>('select type from events where job_id = $1 order by seq', [id]),
      )
    ).map((row) => row.type);
  expect(await types()).toEqual(['session_started', 'paused']);
  answer();
  await service.api.call('POST', `${base}/${id}/resume`);
  await until('a rollout is asked', () => box.ledger.length > 0);
  expect((await types()).slice(0, 3)).toEqual(['session_started', 'paused', 'resumed']);
  expect((await types()).filter((type) => type === 'session_started')).toHaveLength(1);
});

test('rollouts whose reward comes later keep their slots over pauses', async () => {
  const box = await container({ behave: () => answers.pending202() });
  const id = await evaluate(box.url, 8, { max_concurrent: 2, rollout_timeout: 60 });
  const waiting = async () => (await rows(id)).find((row) => row.status === 'awaiting_reward')?.n;
  await until('two wait', async () => (await waiting()) === 2);
  for (let round = 0; round < 2; round += 1) {
    await service.api.call('POST', `${jobs}/${id}/pause`);
    await service.api.call('POST', `${jobs}/${id}/resume`);
    await until('a runner is at work again', async () => {
      const { raw } = await service.temporal.workflow.getHandle(`evaluation-${id}`).describe();
      return (raw.pendingActivities ?? []).some((activity) => activity.activityType?.name === 'runRollouts');
    });
  }
  // A reward frees one slot, and one slot only: by then every runner has had its turn.
  await service.api.call('POST', `${jobs}/${id}/reward`, { rollout_id: box.ledger[0]!.rolloutId, reward: 1 });
  await until('the third is asked', () => box.ledger.length >= 3);
  expect(await waiting()).toBeLessThanOrEqual(2);
  expect(box.ledger).toHaveLength(3);
  await service.api.call('POST', `${jobs}/${id}/cancel`);
});

test('a reward that comes long after makes room for the next rollout, while others go on waiting', async () => {
  const box = await container({ behave: () => answers.pending202() });
  const id = await evaluate(box.url, 3, { max_concurrent: 2, rollout_timeout: 3_600 });
  await until('two wait', async () => (await rows(id)).some((row) => row.status === 'awaiting_reward' && row.n === 2));
  const real = Date.now;
  const later = jest.spyOn(Date, 'now').mockImplementation(() => real() + 10 * 60_000);
  try {
    await service.api.call('POST', `${jobs}/${id}/reward`, { rollout_id: box.ledger[0]!.rolloutId, reward: 1 });
    await until('the third is asked', () => box.ledger.length === 3);
  } finally {
    later.mockRestore();
  }
  await service.api.call('POST', `${jobs}/${id}/cancel`);
});

test('a stored key that cannot be decrypted any more fails the job with the reason', async () => {
  const alone = await startTestService({}, { serve: true, work: false });
  try {
    const box = await container({ apiKey: 'right-key' });
    const id = await evaluate(box.url, 1, { container_api_key: 'right-key' }, alone);
    await alone.db.org('default', (tx) =>
      tx.query(
        `update secrets set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1) where job_id = $1`,
        [id],
      ),
    );
    await alone.another({ serve: false, work: true });
    expect(await ended(id, alone)).toMatchObject({ status: 'failed', error_details: { code: 'secret_unreadable' } });
  } finally {
    await alone.stop();
  }
}, 90_000);

test('a create whose start was lost is started by the reconciler', async () => {
  const box = await container({});
  const spec = {
    ...anySpec,
    container: { url: box.url, envName: null, envConfig: {}, hasApiKey: false },
  };
  // As a create leaves it that dies between its commit and the start of the workflow.
  const { jobId } = await insertJob(service.db, 'default', spec);
  await service.db.org('default', (tx) =>
    tx.query(`update jobs set created_at = now() - interval '1 minute' where id = $1`, [jobId]),
  );
  expect(await ended(jobId)).toMatchObject({ status: 'completed' });
  expect(box.ledger).toHaveLength(spec.seeds.length);
});

test('a workflow whose history is gone: the row is closed, with the reason', async () => {
  const { jobId } = await insertJob(service.db);
  await service.db.org('default', (tx) =>
    tx.query(`update jobs set created_at = now() - interval '1 minute', workflow_started = true where id = $1`, [
      jobId,
    ]),
  );
  expect(await ended(jobId)).toMatchObject({ status: 'failed', error_details: { code: 'workflow_gone' } });
});
