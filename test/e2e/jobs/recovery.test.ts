import { expect, jest, test } from '@jest/globals';
import { answers } from '../../support/fakes/container.js';
import { anySpec, insertJob } from '../../support/job.js';
import { command, createSession, ended } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { startTestService } from '../../support/service.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { evaluationServiceOfFile } from '../evaluations/service.js';

// Regression tests of defects at rare moments.

const { on, container, create } = evaluationServiceOfFile();
const policy = { provider: 'local', model: 'local' };
const evaluate = (url: string, seeds: number, more: object = {}, at = on.service) =>
  create(url, range(0, seeds), more, at);
const search = (url: string) =>
  createSession(on.service, {
    container_url: url,
    policy,
    gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0] } },
  });
const typesOf = async (id: string) =>
  (await on.service.query<{ type: string }>('select type from events where job_id = $1 order by seq', [id])).map(
    ({ type }) => type,
  );
const rows = (id: string) =>
  on.service.query<{ status: string; n: number }>(
    'select status, count(*) as n from rollouts where job_id = $1 group by 1',
    [id],
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
  await on.service.restart();
  expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
  expect(await rows(id)).toEqual([{ status: 'succeeded', n: 6 }]);
  expect(box.ledger).toHaveLength(6);
});

/** A container that answers health checks only after `answer`. */
async function heldAtProbe() {
  const { opened, open: answer } = gate();
  const health = answers.held(opened, answers.status(200, '{}'));
  return { answer, box: await container({ prompt: [{ role: 'system', content: 'Say yes.' }], health }) };
}

test.each(['session', 'evaluation'])(
  'writes nothing after the end of a %s cancelled during the container probe',
  async (kind) => {
    const { box, answer } = await heldAtProbe();
    const id = await (kind === 'session' ? search(box.url) : evaluate(box.url, 3));
    await until('it is probed', () => box.probes.length > 0);
    await command(on.service, id, 'cancel');
    answer();
    // A job created after the end shows that the late activity is over.
    await ended(on.service, await evaluate(box.url, 1));
    expect(await typesOf(id)).toEqual([kind === 'session' ? 'job_cancelled' : 'eval.policy.job.cancelled']);
    expect(await rows(id)).toEqual([]);
  },
);

test('starts the log of a session paused during the container probe with its start', async () => {
  const { box, answer } = await heldAtProbe();
  const id = await search(box.url);
  await until('it is probed', () => box.probes.length > 0);
  await command(on.service, id, 'pause');
  expect(await typesOf(id)).toEqual(['session_started', 'paused']);
  answer();
  await command(on.service, id, 'resume');
  await until('a rollout is asked', () => box.ledger.length > 0);
  expect((await typesOf(id)).slice(0, 3)).toEqual(['session_started', 'paused', 'resumed']);
  expect((await typesOf(id)).filter((type) => type === 'session_started')).toHaveLength(1);
});

test('rollouts with a late reward keep their slots over pauses', async () => {
  const box = await container({ behave: () => answers.pending202() });
  const id = await evaluate(box.url, 8, { max_concurrent: 2, rollout_timeout: 60 });
  const waiting = async () => (await rows(id)).find((row) => row.status === 'awaiting_reward')?.n;
  await until('two wait', async () => (await waiting()) === 2);
  for (let round = 0; round < 2; round += 1) {
    await command(on.service, id, 'pause');
    await command(on.service, id, 'resume');
    await until('a runner is at work again', async () => {
      const { raw } = await on.service.workflow(id).describe();
      return (raw.pendingActivities ?? []).some((activity) => activity.activityType?.name === 'drive');
    });
  }
  // A reward frees exactly one slot: every runner has had its turn by then.
  await command(on.service, id, 'reward', { rollout_id: box.ledger[0]!.rolloutId, reward: 1 });
  await until('the third is asked', () => box.ledger.length >= 3);
  expect(await waiting()).toBeLessThanOrEqual(2);
  expect(box.ledger).toHaveLength(3);
  await command(on.service, id, 'cancel');
});

test('a late reward makes room for the next rollout, while other rollouts keep waiting', async () => {
  const box = await container({ behave: () => answers.pending202() });
  const id = await evaluate(box.url, 3, { max_concurrent: 2, rollout_timeout: 3_600 });
  await until('two wait', async () => (await rows(id)).some((row) => row.status === 'awaiting_reward' && row.n === 2));
  const real = Date.now;
  const later = jest.spyOn(Date, 'now').mockImplementation(() => real() + 10 * 60_000);
  try {
    await command(on.service, id, 'reward', { rollout_id: box.ledger[0]!.rolloutId, reward: 1 });
    await until('the third is asked', () => box.ledger.length === 3);
  } finally {
    later.mockRestore();
  }
  await command(on.service, id, 'cancel');
});

test('a stored key that can no longer be decrypted fails the job with the reason', async () => {
  const alone = await startTestService({}, { serve: true, work: false });
  try {
    const box = await container({ apiKey: 'right-key' });
    const id = await evaluate(box.url, 1, { container_api_key: 'right-key' }, alone);
    await alone.query(
      `update secrets set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1) where job_id = $1`,
      [id],
    );
    await alone.another({ serve: false, work: true });
    expect(await ended(alone, id)).toMatchObject({ status: 'failed', error_details: { code: 'secret_unreadable' } });
  } finally {
    await alone.stop();
  }
}, 90_000);

test('the reconciler starts a created job whose start was lost', async () => {
  const box = await container({});
  const spec = {
    ...anySpec,
    container: { url: box.url, envName: null, envConfig: {}, hasApiKey: false },
  };
  // As after a crash between the commit of a create and the start of the workflow.
  const { jobId } = await insertJob(on.service.db, 'default', spec);
  await on.service.query(`update jobs set created_at = now() - interval '1 minute' where id = $1`, [jobId]);
  expect(await ended(on.service, jobId)).toMatchObject({ status: 'completed' });
  expect(box.ledger).toHaveLength(spec.seeds.length);
});

test('closes the row of a job whose history is gone, with the reason', async () => {
  const { jobId } = await insertJob(on.service.db);
  await on.service.query(
    `update jobs set created_at = now() - interval '1 minute', workflow_started = true where id = $1`,
    [jobId],
  );
  expect(await ended(on.service, jobId)).toMatchObject({ status: 'failed', error_details: { code: 'workflow_gone' } });
});
