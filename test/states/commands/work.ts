import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { containerKey, isLate, rewardOf } from '../held-container.js';
import { end, newJob, slots, type Job, type Model } from '../model.js';
import { atRest, look, pathOf, reached, rolloutsOf, settle } from '../observe.js';
import { evaluations, sessions } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { until } from '../../support/until.js';
import type { Reply, World } from '../world.js';
import { onJob, type Command } from './command.js';

interface CreateArgs {
  kind: Job['kind'];
  /** Number of seeds from this one on, which determines the seeds with a 202. */
  first: number;
  seeds: number;
  maxConcurrent: number;
  /** Use of the Idempotency-Key. */
  key: 'none' | 'again' | 'twice at once';
  /** The container refuses its key, so that it fails by itself. */
  doomed: boolean;
}

const args = fc.record<CreateArgs>({
  kind: fc.constantFrom('evaluation', 'evaluation', 'session'),
  first: fc.nat(5),
  seeds: fc.integer({ min: 1, max: 4 }),
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  key: fc.constantFrom('none', 'none', 'again', 'twice at once'),
  doomed: fc.nat(7).map((n) => n === 7),
});

/** A new job, at most four in a sequence. */
export const create = args.map((given): Command => ({
  check: (model) => model.jobs.length < 4 && (model.workerLives || !given.doomed),
  run: (model, world) => createJob(world, model, given),
  toString() {
    const { kind, first, seeds, maxConcurrent, key, doomed } = given;
    const more = `${key === 'none' ? '' : `, key ${key}`}${doomed ? ', refused by its container' : ''}`;
    return `create(${kind}, seeds ${first}-${first + seeds - 1}, ${maxConcurrent} at once${more})`;
  },
}));

async function createJob(world: World, model: Model, given: CreateArgs): Promise<void> {
  const { kind, first, seeds, maxConcurrent, key: use, doomed } = given;
  const key = use === 'none' ? undefined : randomUUID();
  const replies: Reply[] =
    use === 'twice at once' ? await Promise.all([post(world, given, key), post(world, given, key)]) : [];
  if (use !== 'twice at once') replies.push(await post(world, given, key));
  if (use === 'again') replies.push(await post(world, given, key));

  const created = replies.filter(({ code }) => code === 201);
  assert.ok(created.length > 0, `create: ${JSON.stringify(replies.map(({ code, body }) => [code, body]))}`);
  const refused = replies.filter(({ code }) => code !== 201);
  for (const { body } of refused) assert.equal(body['code'], 'request_in_flight');
  if (refused.length > 0) assert.equal(use, 'twice at once');
  for (const { body } of created) assert.deepEqual(body, created[0]!.body);
  assert.equal(created.filter(({ headers }) => headers.get('idempotency-replayed')).length, created.length - 1);

  const { body } = created[0]!;
  assert.equal(body['status'], 'running');
  const job = newJob({ id: String(body['job_id']), kind, seeds: range(first, seeds), maxConcurrent });
  model.jobs.push(job);
  if (!doomed) return atRest(world, job);
  await reached(world, job, 'failed');
  job.state = { ...job.state, status: 'failed' };
  await atRest(world, job);
  assert.deepEqual((job.atEnd!['error_details'] as { code: string }).code, 'container_refused_key');
}

function post(world: World, { kind, first, seeds: n, maxConcurrent, doomed }: CreateArgs, key: string | undefined) {
  const seeds = range(first, n);
  const common = {
    container_url: world.container.url,
    container_api_key: doomed ? 'a-wrong-key' : containerKey,
    env_name: 'states',
    policy: { provider: 'local', model: 'local' },
    max_concurrent: maxConcurrent,
    // Long enough that no reward is late.
    rollout_timeout: 3_000,
  };
  if (kind === 'evaluation')
    return world.call('POST', evaluations, { ...common, app_id: 'states', seeds, timeout: 6_000 }, key);
  const gepa = { population_size: 1, generations: 1, minibatch_size: 2, evaluation: { seeds } };
  return world.call('POST', sessions, { policy_optimization: { ...common, algorithm: 'gepa', gepa } }, key);
}

/** Releases rollouts of the container and waits until their answers are recorded. */
async function release(world: World, job: Job, rollouts: string[]): Promise<void> {
  for (const id of rollouts) world.container.release(id);
  await recorded(world, job, rollouts);
}

/** Waits for the records of the container's answers, and updates the model. */
export async function recorded(world: World, job: Job, rollouts: string[]): Promise<void> {
  await until(`the answers of ${rollouts.join(', ')} are recorded`, async () => {
    const rows = await rolloutsOf(world, job);
    return rows.every(
      ({ id, status }) => !rollouts.includes(id) || status === 'succeeded' || status === 'awaiting_reward',
    );
  });
  const rows = await world.sql<{ id: string; seed: number }>('select id, seed::int from rollouts where id = any($1)', [
    rollouts,
  ]);
  for (const { id, seed } of rows) {
    // A reward reported before the container's answer counts.
    const early = job.inbox.find(({ rollout, counted }) => counted && rollout === id)?.reward;
    if (early !== undefined) end(job, id, early);
    else if (!isLate(seed)) end(job, id, rewardOf(seed));
    else job.awaited.add(id);
  }
}

const works = (model: Readonly<Model>, job: Job): boolean =>
  model.workerLives && !job.dying && ['running', 'paused'].includes(job.state.status);

/** The container answers at most this many of a job's rollouts. */
export const releaseSome = fc.tuple(slots, fc.integer({ min: 1, max: 3 })).map(([slot, count]) =>
  onJob(`release(${slot}, ${count})`, slot, {
    may: works,
    async run(world, model, job) {
      await settle(world, job, model.workerLives);
      await release(world, job, world.container.held(job.id).slice(0, count));
    },
  }),
);

/** A running job reaches its end: everything is answered, every awaited reward arrives. */
export const finishJob = slots.map((slot) =>
  onJob(`finish(${slot})`, slot, {
    may: (model, job) => works(model, job) && job.state.status === 'running',
    run: finish,
  }),
);

export async function finish(world: World, model: Model, job: Job): Promise<void> {
  while (job.state.status === 'running') {
    await settle(world, job, model.workerLives);
    await release(world, job, world.container.held(job.id));
    for (const rollout of [...job.awaited]) {
      const { code, body } = await world.call('POST', `${pathOf(job)}/reward`, { reward: 0.5, rollout_id: rollout });
      assert.equal(code, 200, `reward of ${rollout}: ${JSON.stringify(body)}`);
      job.inbox.push({ rollout, reward: 0.5, counted: true });
      end(job, rollout, 0.5);
    }
  }
  assert.equal((await look(world, job)).status, 'completed');
}
