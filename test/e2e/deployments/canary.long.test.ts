import { expect, test } from '@jest/globals';
import { built } from '../../support/deployments-over-http.js';
import { canaryServiceOfFile, undecided } from './canary-service.js';

const { on, begin, answered, command } = canaryServiceOfFile();

test('a canary goes on after its worker has stopped', async () => {
  const { next } = await begin('restarted');
  await on.service.restart();
  await command(next, 'promote');
  expect(await built(on.service, next)).toMatchObject({ live: true, rollout: { status: 'promoted' } });
}, 60_000);

test('a name serves one version again when the workflow of a canary is terminated', async () => {
  const { live, next } = await begin('terminated', { ...undecided, steps: [100], shadow: 100 });
  await on.service.workflow(next).terminate('by an operator');
  expect(await built(on.service, next)).toMatchObject({
    status: 'failed',
    error_details: { code: 'workflow_terminated' },
    rollout: { status: 'rolled_back' },
  });
  expect((await answered('terminated', 'anyone')).by).toBe(live);
}, 60_000);
