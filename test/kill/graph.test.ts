import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGraphWorld, type GraphWorld } from '../support/graph-world.js';
import { createGraphJob, ended, readJob, type GraphJob } from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';
import { startTree, type Tree } from '../support/tree.js';
import { until } from '../support/until.js';

// The promise: kill -9 of the worker of a graph job, at moments at which a rollout has made one of its two calls and not the other. No
// answer that was recorded is bought again: what is asked beyond what is on record was in flight at a kill, and the job finds what one
// without a kill finds.

const kills = 3;
const concurrent = 4;
let world: GraphWorld;
let service: TestService;
let worker: Tree | undefined;

const start = async () => {
  const env = Object.entries(service.config.env).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const settings = Object.fromEntries(env) as Record<string, string>;
  worker = await startTree({ ...settings, RATCHET_PUBLIC_URL: service.url }, { command: 'worker' });
};

beforeAll(async () => {
  world = await startGraphWorld();
  service = await startTestService(world.env, { serve: true, work: false });
  await start();
}, 60_000);
afterAll(async () => {
  await worker?.kill();
  await service.stop();
  await world.close();
}, 60_000);

const twoSteps = {
  inputs: ['question'],
  steps: ['think', 'solve'].map((id) => ({
    id,
    type: 'llm',
    inputs: { question: 'input.question', ...(id === 'solve' && { thought: 'think.answer' }) },
    messages: [
      { role: 'system', content: 'Name the rule.' },
      { role: 'user', content: id === 'solve' ? '{{question}} {{thought}}' : '{{question}}' },
    ],
    output: { field: 'answer' },
  })),
  output: 'solve.answer',
};
const create = () =>
  createGraphJob(service, world.job(20, { initial_graph: twoSteps, max_concurrent: concurrent, rollout_budget: 160 }));

/** What a job has found, without the ids that differ from one to the next. */
async function found(id: string) {
  const { history, stopped_by } = await readJob<GraphJob>(service, id);
  const candidates = await service.query(
    'select lever_version, graph, status, reward, rollout_count from candidates where job_id = $1 order by 1',
    [id],
  );
  return { history, stopped_by, candidates };
}
const recorded = async (id: string) =>
  (await service.query<{ n: number }>('select count(*) as n from model_calls where job_id = $1', [id]))[0]!.n;

test('nothing recorded is bought again, and the same is found', async () => {
  const undisturbed = await create();
  expect(await ended<GraphJob>(service, undisturbed, 120)).toMatchObject({ status: 'completed' });
  const asked = world.model.requests.length;
  expect(asked).toBe(await recorded(undisturbed));

  world.reset();
  // Every answer takes a while, so that a kill finds calls in flight.
  world.model.reply(async (request) => {
    await new Promise((later) => setTimeout(later, 30));
    return world.answer(request);
  });
  const id = await create();
  for (let kill = 1; kill <= kills; kill += 1) {
    await until('so much is on record', async () => (await recorded(id)) >= (asked * kill) / (kills + 2), 120);
    await worker!.kill();
    await start();
  }
  expect(await ended<GraphJob>(service, id, 180)).toMatchObject({ status: 'completed' });
  expect(await found(id)).toEqual(await found(undisturbed));
  expect(await recorded(id)).toBe(asked);
  expect(world.model.requests.length).toBeLessThanOrEqual(asked + kills * concurrent);
}, 400_000);
