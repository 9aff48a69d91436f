import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../support/fakes/container.js';
import { startTestService, type TestService } from '../support/service.js';
import { startWorkerOf } from '../support/servers/tree.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { serve: true, work: false });
}, 60_000);
afterAll(() => service.stop(), 60_000);

const worker = () => startWorkerOf(service);

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
    const first = await worker();
    let second: Awaited<ReturnType<typeof worker>> | undefined;
    try {
      const path = kind === 'session' ? '/api/v1/online/sessions' : '/api/v1/offline/jobs';
      const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0] } };
      const { job_id: id } = await service.api.call<{ job_id: string }>(
        'POST',
        path,
        kind === 'session'
          ? { policy_optimization: { algorithm: 'gepa', container_url: container.url, policy, gepa } }
          : { container_url: container.url, app_id: 'a', env_name: 'e', seeds: [0, 1], policy },
      );
      await until('the container is probed', () => probed > 0);
      await first.kill();
      second = await worker();
      await until('it is probed again', () => probed > 1, 60);
      await until('the first rollout has come', () => container.ledger.length > 0);
      expect(await service.api.call('GET', `${path}/${id}`)).not.toMatchObject({ status: 'failed' });
    } finally {
      if (first.process.signalCode === null) await first.kill();
      await second?.kill();
      await container.close();
    }
  },
  120_000,
);
