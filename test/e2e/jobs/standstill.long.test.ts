import { expect, test } from '@jest/globals';
import { readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { until } from '../../support/until.js';
import { operatorWorldOfFile } from '../operator/held-evaluation.js';

// What a heartbeat says, and how a job is seen whose work stands still again and again.

const world = operatorWorldOfFile();

interface Heartbeat {
  doing: string;
  since: string;
  inFlight: Record<string, number>;
  recorded?: { what: string; at: string };
}

test('heartbeats say what the work does, in few bytes', async () => {
  const { handle, open, calls } = await world.evaluation();
  const data = await until('a heartbeat tells of two rollouts', async () => {
    const beat = (await world.operator.pending(handle, 'drive'))?.heartbeatDetails?.payloads?.[0]?.data;
    const text = beat ? Buffer.from(beat).toString() : '{}';
    return (JSON.parse(text) as Partial<Heartbeat>).inFlight?.['rollout'] === 2 && text;
  });
  const { doing, since } = JSON.parse(data) as Heartbeat;
  expect(doing).toBe(`rollout ${calls()[0]}`);
  expect(Date.parse(since)).toBeGreaterThan(0);
  expect(data.length).toBeLessThan(400);
  open();
}, 60_000);

test('a job whose work stood still in two attempts is marked as stuck until an attempt ends', async () => {
  const { id, handle, open, shows } = await world.evaluation();
  const stuck = async () => (await readJob<Evaluation>(world.service, id)).stuck;
  for (const attempt of [1, 2]) {
    await until(`attempt ${attempt} runs`, async () => {
      const pending = await world.operator.pending(handle, 'drive');
      return pending?.attempt === attempt && pending.state === 2;
    });
    expect(await stuck()).toBeNull();
    const failure = { type: 'work_stood_still', message: 'hangs', details: '{}', nonRetryable: false };
    await world.operator.fail(handle, 'drive', failure);
  }
  await until('it is marked', async () => (await stuck())?.cause === 'work_stood_still');
  open();
  await shows('completed');
  expect(await stuck()).toBeNull();
}, 90_000);
