import { expect, test } from '@jest/globals';
import { answers, startFakeContainer, type Behaviour } from '../support/fakes/container.js';
import { createEvaluation, createSession, ended } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// A job at which three workers in a row end, wherever, fails; the jobs beside it go on.

const on = workerOfFile();

const policy = { provider: 'local', model: 'local' };
const gepa = { population_size: 1, generations: 1, evaluation: { seeds: [0, 1] } };
const creates: Record<string, (url: string) => Promise<string>> = {
  session: (url) => createSession(on.service, { container_url: url, policy, gepa }),
  evaluation: (url) => createEvaluation(on.service, { container_url: url, seeds: [0, 1], policy }),
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
    const id = await creates[kind]!(container.url);
    try {
      for (let n = 0; n < 3; n += 1) {
        const before = calls;
        await on.worker.start();
        await until('the work has begun', () => calls > before, 60);
        await on.worker.kill();
      }
      const before = calls;
      await on.worker.start();
      const lost = { status: 'failed', error_details: { code: 'worker_lost' } };
      expect(await ended(on.service, id)).toMatchObject(lost);
      expect(calls).toBe(before);
    } finally {
      await on.worker.kill();
      await container.close();
    }
  },
  300_000,
);
