import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { publishSlots, readTraffic } from '../../../src/rollouts/store/slots.js';
import { until } from '../../support/until.js';
import { question, startProxy, system, systemOf, type TestProxy } from './support.js';

// Live traffic of a caller-driven session: the serving candidate, and the counted rollouts.

let proxy: TestProxy;
let job: JobRef;
let child: string;
const base = '/api/v1/online/sessions';
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy.close());
beforeEach(async () => {
  job = await proxy.newSession({ spec: { rollouts: 'caller', container: null, rolloutTimeoutS: 60 } });
  child = await proxy.addCandidate(job, 1, 'The child’s prompt.');
});

const publish = (...seeds: number[]) =>
  proxy.http.db.org('default', (tx) =>
    publishSlots(
      tx,
      job,
      seeds.map((seed, ordinal) => ({ ordinal, candidate: 1, seed, stage: 'gate' as const, generation: 1 })),
    ),
  );
const traffic = () => proxy.http.db.org('default', (tx) => readTraffic(tx, job.jobId));
const reward = (body: object) => proxy.http.call('POST', `${base}/${job.jobId}/reward`, body);

describe('live traffic', () => {
  test('serves requested candidates, sticky by correlation id; other calls get the best', async () => {
    await publish(0);
    const wanted = await proxy.post(job, '/mine');
    expect(wanted.headers.get('x-gepa-candidate-id')).toBe(child);
    expect(systemOf(proxy.model.requests.at(-1)!)).toBe('The child’s prompt.');
    const other = await proxy.post(job, '/other');
    expect(other.headers.get('x-gepa-candidate-id')).toBe(child.replace(/_1$/, '_0'));
    expect(systemOf(proxy.model.requests.at(-1)!)).toBe('Baseline prompt.');
    // The second turn of the same conversation, and a call after its reward.
    for (const say of ['again', 'and again']) {
      const turn = await proxy.post(job, '/mine', { messages: [{ role: 'user', content: say }] });
      expect(turn.headers.get('x-gepa-rollout-id')).toBe(wanted.headers.get('x-gepa-rollout-id'));
      expect(systemOf(proxy.model.requests.at(-1)!)).toBe('The child’s prompt.');
      const { status, body } = await reward({ correlation_id: 'mine', reward: 1 });
      expect([status, body.counted]).toEqual([200, true]);
    }
  });

  test('a call without a correlation id is a rollout, too, under a generated id', async () => {
    await publish(0);
    const response = await proxy.post(job, '');
    expect(response.headers.get('x-gepa-candidate-id')).toBe(child);
    const { status } = await reward({ rollout_id: response.headers.get('x-gepa-rollout-id'), reward: 0.5 });
    expect(status).toBe(200);
    expect(await traffic()).toMatchObject({ wanted: 0 });
    expect(proxy.http.commander.woken).toContain(job.jobId);
  });

  test('names its instance by x-ratchet-seed; an invalid seed is 400 and takes no slot', async () => {
    await publish(7);
    for (const seed of ['', '-1', '1.5', 'x', '99999999999999999']) {
      const { status } = await proxy.post(job, '/bad', question, { 'x-ratchet-seed': seed });
      expect([seed, status]).toEqual([seed, 400]);
    }
    for (const retry of ['', '1', 'TRUE'])
      expect((await proxy.post(job, '/bad', question, { 'x-ratchet-retry': retry })).status).toBe(400);
    // A request with another fault takes no slot, either.
    expect((await proxy.post(job, '/worse', { messages: 'none' })).status).toBe(400);
    expect(await traffic()).toEqual({ traffic: null, wanted: 1, claimed: 0 });
    const response = await proxy.post(job, '/good', question, { 'x-ratchet-seed': '7' });
    expect(response.headers.get('x-gepa-candidate-id')).toBe(child);
    expect(await traffic()).toEqual({ traffic: 'paired', wanted: 1, claimed: 1 });
  });

  test('a refused call returns its slot; an answered one keeps it', async () => {
    await publish(0);
    proxy.model.reply(() => ({ raw: '{"error":{"message":"down"}}', status: 503 }));
    expect((await proxy.post(job, '/refused')).status).toBe(503);
    await until('the slot is free', async () => (await traffic()).claimed === 0);
    proxy.model.reply(() => ({}));
    expect((await proxy.post(job, '/served')).headers.get('x-gepa-candidate-id')).toBe(child);
    proxy.model.reply(() => ({ raw: '{"error":{"message":"down"}}', status: 503 }));
    expect((await proxy.post(job, '/served')).status).toBe(503);
    proxy.model.reply(() => ({}));
    expect(await traffic()).toMatchObject({ wanted: 1, claimed: 1 });
  });

  test('gets the best from a paused and from a completed session', async () => {
    await publish(0);
    for (const status of ['paused', 'completed']) {
      await proxy.setStatus(job, status);
      const response = await proxy.post(job, `/${status}`);
      expect(response.headers.get('x-gepa-candidate-id')).toBe(child.replace(/_1$/, '_0'));
    }
    expect(await traffic()).toMatchObject({ claimed: 0 });
  });

  test('takes no slots of a container-driven session', async () => {
    job = await proxy.newSession({ baseline: [system('Only one.')] });
    await publish(0);
    await proxy.post(job, '/mine');
    expect(await traffic()).toEqual({ traffic: null, wanted: 1, claimed: 0 });
  });

  test('the route of the prompt takes no slot', async () => {
    await publish(0);
    const { body } = await proxy.http.call('GET', `${base}/${job.jobId}/prompt?correlation_id=new`);
    expect(body.candidate_id).toBe(child.replace(/_1$/, '_0'));
    expect(await traffic()).toMatchObject({ claimed: 0 });
  });
});
