import { expect, test } from '@jest/globals';
import { ended, type Session } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startDemosWorld } from '../../support/worlds/demos.js';

const on = serviceOfFile(() => startDemosWorld());

test('a container whose rewards repeat passes its check', async () => {
  const { container_url, env_name, policy } = on.world.job as Record<string, unknown>;
  const body = { container_url, env_name: env_name ?? 'any', policy, seeds: [0, 1], repeats: 3 };
  const { job_id: id } = await on.service.api.call<{ job_id: string }>('POST', '/api/v1/checks', body);
  expect(id).toMatch(/^chk_/);
  const check = await ended<Session & { seeds: { rewards: number[] }[]; repeatable: boolean }>(on.service, id);
  expect(check).toMatchObject({ status: 'completed', repeatable: true });
  expect(check.seeds.map(({ rewards }) => rewards.length)).toEqual([3, 3]);
});
