import { afterEach, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../support/fakes/container.js';
import { gate } from '../support/gate.js';
import { createEvaluation, createSession, ended, readJob, type Session } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { startModelWorld } from '../support/worlds/model.js';
import { workerOfFile } from '../harness/worlds/processes.js';

const on = workerOfFile(startModelWorld);
afterEach(() => on.worker.kill());

test.each(['session', 'evaluation'])(
  'after kill -9 of a worker during the container probe, another worker starts the %s within a minute',
  async (kind) => {
    let probed = 0;
    const container = await startFakeContainer({
      prompt: [{ role: 'system', content: 'Say yes.' }],
      // The first probe never gets an answer: its worker dies first.
      health: (call, response) => (probed++ === 0 ? answers.hang() : answers.status(200, '{}'))(call, response),
    });
    const policy = { provider: 'local', model: 'local' };
    await on.worker.start();
    try {
      const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0] } };
      const job = { container_url: container.url, policy };
      const id = await (kind === 'session'
        ? createSession(on.service, { ...job, gepa })
        : createEvaluation(on.service, { ...job, seeds: [0, 1] }));
      await until('the container is probed', () => probed > 0);
      await on.worker.kill();
      await on.worker.start();
      await until('it is probed again', () => probed > 1, 60);
      await until('the first rollout has come', () => container.ledger.length > 0);
      expect(await readJob(on.service, id)).not.toMatchObject({ status: 'failed' });
    } finally {
      await container.close();
    }
  },
  120_000,
);

test('after kill -9 of a worker during the preflight, a recorded answer is not bought again', async () => {
  const asked = (name: string) => on.world.model.requests.filter(({ body }) => body.model === name).length;
  const hasEnded = gate();
  // The policy answers; the proposer's first call never gets an answer.
  on.world.model.reply(async ({ body }) => {
    if (body.model === 'writer' && asked('writer') === 1) await hasEnded.opened;
    return { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, cost: 0.5 } };
  });
  const container = await startFakeContainer({ prompt: [{ role: 'system', content: 'Say yes.' }] });
  await on.worker.start();
  try {
    const id = await createSession(on.service, {
      container_url: container.url,
      policy: { provider: 'fake', model: 'task' },
      proposer: { provider: 'fake', model: 'writer' },
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0] } },
    });
    await until('the policy’s answer is recorded and the proposer is asked', async () => {
      const recorded = await on.service.query(`select id from model_calls where job_id = $1`, [id]);
      return recorded.length === 1 && asked('writer') === 1;
    });
    await on.worker.kill();
    await on.worker.start();
    const job = await ended<Session>(on.service, id, 90);
    expect(job).toMatchObject({ status: 'completed', usage: { total_tokens: 12, total_cost_usd: 1 } });
    expect([asked('task'), asked('writer')]).toEqual([1, 2]);
  } finally {
    hasEnded.open();
    await container.close();
  }
}, 120_000);
