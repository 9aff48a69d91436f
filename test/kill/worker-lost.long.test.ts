import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer, type Behaviour } from '../support/fakes/container.js';
import { startTestService, type TestService } from '../support/service.js';
import { startWorkerOf } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// A job at which three workers in a row end, wherever, fails; the jobs beside it go on.

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { serve: true, work: false });
}, 60_000);
afterAll(() => service.stop(), 60_000);

const policy = { provider: 'local', model: 'local' };
const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0, 1] } };
const bodies: Record<string, (url: string) => [path: string, body: object]> = {
  session: (url) => [
    '/api/v1/online/sessions',
    { policy_optimization: { algorithm: 'gepa', container_url: url, policy, gepa } },
  ],
  evaluation: (url) => [
    '/api/v1/offline/jobs',
    { container_url: url, app_id: 'a', env_name: 'e', seeds: [0, 1], policy },
  ],
};

test.each([
  ['session', 'health'],
  ['session', 'rollout'],
  ['evaluation', 'health'],
  ['evaluation', 'rollout'],
])(
  'a %s at whose %s three workers end fails',
  async (kind, place) => {
    let calls = 0;
    const hang = (...received: Parameters<Behaviour>) => {
      calls += 1;
      return answers.hang()(...received);
    };
    const behaviour = place === 'health' ? { health: hang } : { behave: () => hang };
    const container = await startFakeContainer({ prompt: [{ role: 'system', content: 'Say yes.' }], ...behaviour });
    const [path, body] = bodies[kind]!(container.url);
    const { job_id: id } = await service.api.call<{ job_id: string }>('POST', path, body);
    const workers: Awaited<ReturnType<typeof startWorkerOf>>[] = [];
    try {
      for (let n = 0; n < 3; n += 1) {
        const before = calls;
        workers.push(await startWorkerOf(service));
        await until('the work has begun', () => calls > before, 60);
        await workers.at(-1)!.kill();
      }
      const before = calls;
      workers.push(await startWorkerOf(service));
      await until(
        'the job has failed',
        async () => {
          const state = await service.api.call<{ status: string; error_details: { code: string } }>(
            'GET',
            `${path}/${id}`,
          );
          return state.status === 'failed' && state.error_details.code === 'worker_lost';
        },
        60,
      );
      expect(calls).toBe(before);
    } finally {
      for (const worker of workers) if (worker.process.signalCode === null) await worker.kill();
      await container.close();
    }
  },
  300_000,
);
