import { describe, expect, test } from '@jest/globals';
import { recordReward } from '../../../src/rollouts/store/rewards.js';
import { judgeFrames } from '../../support/frames.js';
import { command, ended, readJob, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { baseline, isRising, liveServiceOfFile, rewardsOf, rules } from './live-service.js';
import { until } from '../../support/until.js';

// Caller-driven sessions: rollouts are live traffic through the proxy; rewards come by POST.

const { on, create, send } = liveServiceOfFile();
const read = (id: string) => readJob<Session>(on.service, id);
/** One call of live traffic; returns the candidate that served it. */
async function call(id: string, correlationId: string): Promise<string | null> {
  const response = await fetch(`${on.service.url}/api/gepa/v1/${id}/${correlationId}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect(response.status).toBe(200);
  return response.headers.get('x-gepa-candidate-id');
}
const reward = (id: string, body: object) => command(on.service, id, 'reward', body);

describe('live traffic with named instances', () => {
  test('is searched in pairs like a container, up to the prompt with all rules', async () => {
    const id = await create();
    const traffic = send(id, { seed: (n) => n % rules });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    expect(session).toMatchObject({ status: 'completed', best_reward: 1, container_url: null });
    expect(session.traffic).toEqual({ compared: 'paired', wanted: 0, claimed: 0 });
    const found = await resultsOf(on.service, id);
    for (let rule = 0; rule < rules; rule++) expect(found.best_prompt!.messages[0]!.content).toContain(`rule-${rule}.`);
    expect(isRising(rewardsOf(found))).toBe(true);
    await judgeFrames(on.service.api, id, { live: true });
    // Rewards after the end are refused.
    const taken = traffic.rewards.filter(({ status }) => status === 200);
    expect(taken.length).toBeGreaterThanOrEqual(session.progress.rollouts_completed);
    expect(traffic.rewards.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  }, 300_000);
});

describe('control of live traffic', () => {
  test('serves the best and counts calls in flight while paused; completes with the best after a reward with stop', async () => {
    const id = await create({ gepa: { population_size: 1, generations: 5, evaluation: { seeds: range(0, 6) } } });
    await until('slots are wanted', async () => (await read(id)).traffic?.wanted === 6);
    for (const name of ['a', 'b']) await call(id, name);
    expect((await read(id)).traffic).toEqual({ compared: 'unpaired', wanted: 6, claimed: 2 });
    await command(on.service, id, 'pause');
    await reward(id, { correlation_id: 'a', reward: 1 });
    await call(id, 'while-paused');
    expect((await read(id)).traffic).toEqual({ compared: 'unpaired', wanted: 5, claimed: 1 });
    await command(on.service, id, 'resume');
    for (const name of ['c', 'd', 'e', 'f']) await call(id, name);
    await command(on.service, id, 'pause');
    for (const name of ['b', 'c', 'd', 'e', 'f']) await reward(id, { correlation_id: name, reward: 0 });
    // The workflow learns of the last one during the pause, and continues after the resume.
    expect(await read(id)).toMatchObject({ traffic: { wanted: 0 }, best_reward: null });
    await command(on.service, id, 'resume');
    await until('the baseline is evaluated', async () => (await read(id)).best_reward !== null);

    const stopped = await reward(id, { reward: 1, correlation_id: 'none-of-them', stop: true });
    expect(stopped).toMatchObject({ status: 'completed' });
    const session = await read(id);
    expect(session).toMatchObject({ status: 'completed', traffic: { wanted: 0, claimed: 0 } });
    expect(session.best_reward).toBeCloseTo(1 / 6);
    expect(await judgeFrames(on.service.api, id, { live: true })).toMatchObject([
      { stage: 'baseline', sensors: { rollout: { count: 6 }, resource: { concurrency: null, latency_ms_max: null } } },
    ]);
    expect(await call(id, 'afterwards')).toBe(session.best_candidate!.candidate_id);
  }, 60_000);

  test('the reconciler delivers a lost notification of a reward', async () => {
    const id = await create({ gepa: { population_size: 1, generations: 5, evaluation: { seeds: [0] } } });
    await until('a slot is wanted', async () => (await read(id)).traffic?.wanted === 1);
    await call(id, 'only');
    // As after a kill of the API just after it recorded the reward.
    await on.service.db.org('default', (tx) =>
      recordReward(
        tx,
        { orgId: 'default', jobId: id },
        { reward: 0.5, correlationId: 'only', rolloutId: null, candidateId: null, details: null, body: {} },
      ),
    );
    await until('the baseline is evaluated', async () => (await read(id)).best_reward === 0.5);
    await command(on.service, id, 'cancel');
    expect(await read(id)).toMatchObject({ status: 'cancelled' });
  }, 60_000);

  test('takes the baseline from the calls when no request names a prompt', async () => {
    const id = await create({
      initial_prompt: undefined,
      gepa: { population_size: 1, generations: 2, evaluation: { seeds: [0, 1] } },
    });
    const traffic = send(id, { prompt: baseline, inFlight: 2, score: () => ({ reward: 1, feedback: 'fine' }) });
    expect(await ended<Session>(on.service, id, 240)).toMatchObject({
      status: 'completed',
      stopped_by: 'solved',
      best_reward: 1,
    });
    await traffic.stop();
    expect((await resultsOf(on.service, id)).best_prompt!.messages).toEqual([{ role: 'system', content: baseline }]);
  }, 60_000);
});
