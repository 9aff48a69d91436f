import { describe, expect, test } from '@jest/globals';
import { issueInferenceKey } from '../../../src/clients/container/inference-key.js';
import { putSecret } from '../../../src/access/store/secrets.js';
import { claimCallerRollout } from '../../../src/rollouts/store/calls.js';
import { rolloutId } from '../../../src/core/jobs/ids.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import {
  createEvaluation,
  createSession,
  finish,
  httpOfFile,
  secretKey,
  sessionRequest,
} from '../../platform/http/support.js';

const http = httpOfFile();

const sessions = '/api/v1/online/sessions';
const report = (jobId: string, body: unknown) => http.call('POST', `${sessions}/${jobId}/reward`, body);

const inbox = (jobId: string) =>
  http.db.org('default', (tx) =>
    tx.query(
      'select reward, rollout_id, correlation_id, candidate_id, counted from rewards where job_id = $1 order by id',
      [jobId],
    ),
  );
const eventTypes = async (jobId: string) =>
  (await http.call('GET', `${sessions}/${jobId}/events?limit=100`)).body.events.map(
    (event: { type: string }) => event.type,
  );

/** A session whose first rollout has `status`. */
async function sessionWithRollout(status: string, more = ''): Promise<{ jobId: string; id: string }> {
  const jobId = await createSession(http);
  const id = rolloutId(jobId, 0);
  await http.db.org('default', async (tx) => {
    const request = { ordinal: 0, candidate: 0, seed: 5, stage: 'baseline' as const, generation: 0 };
    await planRollouts(tx, { orgId: 'default', jobId }, [request], true);
    await tx.query(
      `update rollouts set status = $2, started_at = now(), deadline_at = now() + interval '1 minute' ${more} where id = $1`,
      [id, status],
    );
  });
  return { jobId, id };
}

async function rollout(id: string) {
  const [row] = await http.db.org('default', (tx) => tx.query('select * from rollouts where id = $1', [id]));
  return row!;
}

test('a reward is kept without the keys of the container that reports it', async () => {
  const { jobId, id } = await sessionWithRollout('awaiting_reward');
  const ref = { orgId: 'default', jobId, name: 'container_api_key', origin: 'http://127.0.0.1:9' };
  await http.db.org('default', (tx) => putSecret(tx, secretKey, ref, 'canary-of-the-container'));
  const key = issueInferenceKey(secretKey, { orgId: 'default', jobId, rolloutId: id });
  const feedback = `canary-of-the-container ${Buffer.from(key).toString('base64')}`;
  const sent = { rollout_id: id, reward_info: { outcome_reward: 0.5, details: { feedback } }, metadata: { feedback } };
  expect((await report(jobId, sent)).status).toBe(200);
  const [reward] = await http.db.org('default', (tx) =>
    tx.query('select body from rewards where job_id = $1', [jobId]),
  );
  const { details, reward: value } = await rollout(id);
  expect([value, details]).toEqual([0.5, { feedback: expect.stringMatching(/^\*\*\* \*\*\*.?=*$/) as unknown }]);
  expect(reward).toMatchObject({ body: { metadata: details } });
});

describe('the forms of a reward', () => {
  test.each<[string, object, number]>([
    [
      'from the existing client',
      { candidate_id: 'cand_1', reward_info: { outcome_reward: 0.5, score: 0.5 }, rollout_id: 'r1' },
      0.5,
    ],
    ['score alone', { reward_info: { score: 0.25 }, rollout_id: 'r' }, 0.25],
    ['outcome_reward before score', { reward_info: { outcome_reward: 1, score: 0 }, rollout_id: 'r' }, 1],
    ['a plain number', { reward: 0.75, rollout_id: 'r' }, 0.75],
    ['nought', { reward: 0, rollout_id: 'r' }, 0],
    ['below nought', { reward: -3.5, rollout_id: 'r' }, -3.5],
    ['no rollout named', { reward: 1 }, 1],
    [
      'everything the client can send',
      {
        reward_info: { score: 1, event_rewards: [1], details: { feedback: 'x' } },
        rollout_id: 'r',
        candidate_id: 'c',
        correlation_id: 'k',
        trace_ref: 't',
        artifact: { a: 1 },
        metadata: {},
        stop: false,
      },
      1,
    ],
  ])('%s', async (_name, body, value) => {
    const jobId = await createSession(http);
    const answer = await report(jobId, body);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        session_id: jobId,
        job_id: jobId,
        status: 'running',
        reward: value,
        counted: true,
        // No call had these ids.
        warning: 'rollout_id' in body || 'correlation_id' in body ? expect.any(String) : null,
        rollout_id: (body as { rollout_id?: string }).rollout_id ?? null,
      },
    ]);
    expect(await inbox(jobId)).toMatchObject([{ reward: value, counted: true }]);
    expect(await eventTypes(jobId)).toEqual(['reward_received']);
  });

  test.each<[string, string, string]>([
    ['nothing', '{}', '/reward_info'],
    ['an empty reward_info', '{"reward_info":{}}', '/reward_info'],
    ['a text', '{"reward":"1"}', '/reward'],
    ['a text as score', '{"reward_info":{"score":"1"}}', '/reward_info/score'],
    ['an infinite number', '{"reward":1e999}', '/reward'],
    ['stop as a text', '{"reward":1,"stop":"yes"}', '/stop'],
    ['an unknown field', '{"reward":1,"rewards":2}', '/rewards'],
    ['an empty rollout_id', '{"reward":1,"rollout_id":""}', '/rollout_id'],
  ])('%s is 422', async (_name, body, pointer) => {
    const answer = await report(await createSession(http), body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer]);
  });
});

describe('one reward for each rollout', () => {
  test('repeating it is a no-op, a different one is 409', async () => {
    const jobId = await createSession(http);
    expect((await report(jobId, { reward: 0.5, rollout_id: 'r' })).status).toBe(200);
    expect((await report(jobId, { reward_info: { score: 0.5 }, rollout_id: 'r' })).status).toBe(200);
    const other = await report(jobId, { reward: 0.6, rollout_id: 'r' });
    expect([other.status, other.body.code]).toEqual([409, 'reward_conflict']);
    expect(await inbox(jobId)).toMatchObject([{ reward: 0.5 }]);
    expect(await eventTypes(jobId)).toEqual(['reward_received']);
  });

  test('counts one of twenty concurrent rewards; the rest agree or conflict', async () => {
    const jobId = await createSession(http);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => report(jobId, { reward: i % 2, rollout_id: 'r' })),
    );
    const [kept] = await inbox(jobId);
    expect(await inbox(jobId)).toHaveLength(1);
    answers.forEach((answer, i) => expect(answer.status).toBe(i % 2 === kept!['reward'] ? 200 : 409));
    expect(await eventTypes(jobId)).toEqual(['reward_received']);
  });

  test('the session’s own correlation id, which the client sends with every reward, names no rollout', async () => {
    const { body } = await http.call('POST', sessions, {
      policy_optimization: sessionRequest,
      correlation_id: 'mine',
    });
    expect((await report(body.session_id, { reward: 1, correlation_id: 'mine' })).status).toBe(200);
    expect((await report(body.session_id, { reward: 0, correlation_id: 'mine' })).status).toBe(200);
    expect((await report(body.session_id, { reward: 0, correlation_id: 'other' })).status).toBe(200);
    expect((await report(body.session_id, { reward: 1, correlation_id: 'other' })).status).toBe(409);
  });

  test('the caller’s own traffic gets its reward by correlation id, before or after its call', async () => {
    const jobId = await createSession(http);
    const claim = () =>
      http.db.org('default', (tx) =>
        claimCallerRollout(tx, { orgId: 'default', jobId }, { correlationId: 'late', candidateId: null }),
      );
    expect((await report(jobId, { reward: 1, correlation_id: 'late' })).status).toBe(200);
    const { id } = await claim();
    expect((await report(jobId, { reward: 0, correlation_id: 'late' })).status).toBe(409);
    expect((await report(jobId, { reward: 1, rollout_id: id })).status).toBe(200);
    const early = await http.db.org('default', (tx) =>
      claimCallerRollout(tx, { orgId: 'default', jobId }, { correlationId: 'early', candidateId: null }),
    );
    await report(jobId, { reward: 0.25, correlation_id: 'early' });
    expect(await rollout(early.id)).toMatchObject({ status: 'open', reward: 0.25 });
  });
});

describe('a rollout that waits for its reward', () => {
  test.each(['rollout_id', 'correlation_id'])('is settled by %s, with its event', async (field) => {
    const { jobId, id } = await sessionWithRollout('awaiting_reward');
    const reward_info = { outcome_reward: 0.5, details: { feedback: 'say please' } };
    const answer = await report(jobId, { reward_info, [field]: id });
    expect([answer.status, answer.body.rollout_id, answer.body.warning]).toEqual([200, id, null]);
    expect(await rollout(id)).toMatchObject({ status: 'succeeded', reward: 0.5, feedback: 'say please' });
    expect(await eventTypes(jobId)).toEqual(['reward_received', 'rollout_completed']);
    expect((await report(jobId, { reward: 0.5, rollout_id: id })).status).toBe(200);
    expect((await report(jobId, { reward: 0.4, rollout_id: id })).status).toBe(409);
    expect(await eventTypes(jobId)).toHaveLength(2);
  });

  test('of an evaluation, by its own path', async () => {
    const jobId = await createEvaluation(http);
    const id = rolloutId(jobId, 0);
    await http.db.org('default', async (tx) => {
      const request = { ordinal: 0, candidate: 0, seed: 5, stage: 'evaluation' as const, generation: 0 };
      await planRollouts(tx, { orgId: 'default', jobId }, [request], false);
      await tx.query(
        `update rollouts set status = 'awaiting_reward', deadline_at = now() + interval '1 minute' where id = $1`,
        [id],
      );
    });
    const answer = await http.call('POST', `/api/v1/offline/jobs/${jobId}/reward`, { reward: 1, correlation_id: id });
    expect([answer.status, answer.body.rollout_id]).toEqual([200, id]);
    expect(await rollout(id)).toMatchObject({ status: 'succeeded', reward: 1 });
  });

  test('whose container answered with a reward: the same is a no-op, another is 409', async () => {
    const { jobId, id } = await sessionWithRollout('succeeded', ', reward = 0.5');
    expect((await report(jobId, { reward: 0.5, rollout_id: id })).status).toBe(200);
    expect((await report(jobId, { reward: 0.6, rollout_id: id })).body.code).toBe('reward_conflict');
    expect(await inbox(jobId)).toEqual([]);
  });

  test('that has failed: 409, and the reward is kept but not counted', async () => {
    const { jobId, id } = await sessionWithRollout('failed');
    for (const _ of [1, 2]) {
      const answer = await report(jobId, { reward: 0.5, rollout_id: id });
      expect([answer.status, answer.body.code]).toEqual([409, 'rollout_closed']);
    }
    expect(await inbox(jobId)).toMatchObject([{ reward: 0.5, counted: false }]);
  });
});

describe('status', () => {
  test('a paused session counts it; a closed session keeps it uncounted, once for each of its rollouts', async () => {
    const { jobId, id } = await sessionWithRollout('running');
    await http.call('POST', `${sessions}/${jobId}/pause`);
    expect((await report(jobId, { reward: 1, rollout_id: 'a' })).body).toMatchObject({
      status: 'paused',
      counted: true,
    });
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));
    for (const late of [{ rollout_id: id }, { rollout_id: id }, { rollout_id: 'b' }, { correlation_id: 'c' }, {}]) {
      const closed = await report(jobId, { reward: 1, ...late });
      expect([closed.status, closed.body.current_status]).toEqual([409, 'completed']);
    }
    expect(await inbox(jobId)).toMatchObject([
      { rollout_id: 'a', counted: true },
      { rollout_id: id, counted: false },
    ]);
    expect((await eventTypes(jobId)).at(-1)).toBe('job_complete');
  });

  test('a reward with stop is counted and completes the job', async () => {
    const jobId = await createSession(http);
    const answer = await report(jobId, { reward: 1, rollout_id: 'a', stop: true });
    expect([answer.status, answer.body]).toMatchObject([200, { status: 'completed', reward: 1, counted: true }]);
    expect(http.commander.sent.at(-1)).toMatchObject({ jobId, kind: 'stop' });
  });
});
