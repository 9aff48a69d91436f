import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../support/fake-container.js';
import { until } from '../support/until.js';
import { startWorld, type World } from './world.js';

// What a job waits for after kill -9 of the worker that had it: the time of a heartbeat, whatever it was doing.

let world: World;
beforeAll(async () => {
  world = await startWorld({
    databaseUrl: process.env['TEST_DATABASE_URL']!,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS']!,
  });
}, 120_000);
afterAll(() => world.stop(), 60_000);

test.each(['evaluation', 'session'])(
  'a worker that is killed while it probes the container of an %s: the next one goes on within a minute',
  async (kind) => {
    let probes = 0;
    const box = await startFakeContainer({
      prompt: [{ role: 'system', content: 'Say yes.' }],
      health: (call, response) => {
        probes += 1;
        return probes === 1 ? answers.hang()(call, response) : answers.status(200, '{}')(call, response);
      },
    });
    try {
      const common = { container_url: box.url, policy: { provider: 'local', model: 'local' } };
      const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0] } };
      const created =
        kind === 'evaluation'
          ? await world.call('POST', '/api/v1/offline/jobs', { ...common, app_id: 'a', env_name: 'e', seeds: [0] })
          : await world.call('POST', '/api/v1/online/sessions', {
              policy_optimization: { ...common, algorithm: 'gepa', gepa },
            });
      const path = `${kind === 'evaluation' ? '/api/v1/offline/jobs' : '/api/v1/online/sessions'}/${String(created.body['job_id'])}`;
      await until('it is probed', () => probes === 1);
      await world.killWorker();
      await world.startWorker();
      await until('it has completed', async () => (await world.call('GET', path)).body['status'] === 'completed', 60);
      expect(probes).toBe(2);
    } finally {
      await box.close();
    }
  },
  120_000,
);
