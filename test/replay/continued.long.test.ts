import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chainOf } from '../support/chain.js';
import { answers } from '../support/fakes/container.js';
import { startRulesWorld, type RulesWorld } from '../support/worlds/rules.js';
import { startTestService, type TestService } from '../support/service.js';
import { startShortHistories, type OwnTemporal } from '../support/servers/short-histories.js';
import { until } from '../support/until.js';
import { replay } from './replay-history.js';
import { workflowIs } from '../support/workflow-is.js';

// Every run of jobs that continue as new replays: running, paused, and while waiting for rewards.

let temporal: OwnTemporal;
let world: RulesWorld;
let service: TestService;
beforeAll(async () => {
  [temporal, world] = await Promise.all([startShortHistories(40), startRulesWorld()]);
  service = await startTestService({ ...world.env, TEMPORAL_ADDRESS: temporal.address });
}, 90_000);
afterAll(async () => {
  await service.stop();
  await world.close();
  await temporal.stop();
}, 60_000);

const policy = { provider: 'fake', model: 'any' };
const runsOf = async (workflowId: string) => (await chainOf(service.temporal, workflowId)).length;

/** Sends signals until the workflow has continued as new that many times. */
async function signalForRuns(workflowId: string, signal: string, more: number): Promise<void> {
  const runs = (await runsOf(workflowId)) + more;
  await until(`${workflowId} has ${runs} runs`, async () => {
    await service.temporal.workflow.getHandle(workflowId).signal(signal);
    return (await runsOf(workflowId)) >= runs;
  });
}

async function replayChain(workflowId: string): Promise<void> {
  await workflowIs(service.temporal.workflow.getHandle(workflowId), 'COMPLETED');
  const runs = await chainOf(service.temporal, workflowId);
  expect(runs.length).toBeGreaterThan(2);
  for (const run of runs) await replay(run);
}

test('a paused and resumed session', async () => {
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy,
      max_concurrent: 1,
      gepa: { population_size: 2, generations: 3, evaluation: { seeds: [0, 1, 2, 3] } },
    },
  });
  await service.api.call('POST', `/api/v1/online/sessions/${id}/pause`);
  await signalForRuns(`session-${id}`, 'pause', 2);
  await service.api.call('POST', `/api/v1/online/sessions/${id}/resume`);
  await replayChain(`session-${id}`);
}, 90_000);

test('an evaluation with late rewards', async () => {
  world.container.behave(() => answers.pending202());
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: world.container.url,
    policy,
    app_id: 'a',
    env_name: 'e',
    seeds: [0, 1],
    rollout_timeout: 600,
  });
  const mine = () => world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
  await until('both wait', () => mine().length === 2);
  await signalForRuns(`evaluation-${id}`, 'resume', 2);
  for (const { rolloutId } of mine()) {
    await service.api.call('POST', `/api/v1/offline/jobs/${id}/reward`, { rollout_id: rolloutId, reward: 1 });
  }
  await replayChain(`evaluation-${id}`);
}, 90_000);
