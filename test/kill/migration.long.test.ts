import { expect, test } from '@jest/globals';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { eventsOf } from '../support/jobs-over-http.js';
import { migrate, migrated, migrations, readMigration } from '../support/migrations-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { workflowIs } from '../support/workflow-is.js';
import { movableModels as models, movableRows, proposer, startMovableWorld } from '../support/worlds/movable.js';
import { rowsBaseline } from '../support/worlds/rows.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// After kill -9 of its worker in each of its steps, a migration gives the answer that it would have
// given, runs each job once, and deploys once.

const on = workerOfFile(startMovableWorld);

const live = async (name: string) =>
  built(on.service, await deploy(on.service, { name, source: saying(rowsBaseline, models.old) }));
const asked = (more: object) => ({ ...movableRows(on.world, 40), max_loss: 0.3, proposer, ...more });
const ofMigration = (id: string) =>
  on.service.query<{ id: string; kind: string; status: string }>(
    'select id, kind, status from jobs where substr(id, 5, 28) = $1 and id <> $2',
    [id.slice(4, 32), id],
  );

test('a migration whose worker dies in each step ends as if it had not', async () => {
  await on.worker.start();
  const first = await live('moved');
  const id = await migrate(on.service, 'moved', asked({ to: models.needy, deploy: {} }));
  const wanted = ['same_prompt', 'today', 'same_prompt_again', 'today_again', 'session', 'optimized'] as const;
  for (const step of wanted) {
    await until(
      `${step} has begun`,
      async () => {
        const { steps, status } = await readMigration(on.service, id);
        return steps.some((each) => each.step === step) || status !== 'running';
      },
      90,
    );
    await on.worker.kill();
    await on.worker.start();
  }
  const done = await migrated(on.service, id, 120);
  expect(done).toMatchObject({
    status: 'completed',
    verdict: 'no_worse',
    side: 'optimized',
    same_prompt: { reward: 0, rows: 20 },
    optimized: { reward: 1, today: { reward: 1 }, rows: 20 },
  });
  expect(done.steps.map(({ step, status }) => [step, status])).toEqual(wanted.map((step) => [step, 'completed']));
  expect(await ofMigration(id)).toHaveLength(wanted.length);
  const events = await eventsOf(on.service, id);
  expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
  expect(events.filter(({ type }) => type === 'migration_step')).toHaveLength(wanted.length);
  const deployed = await built(on.service, done.deployment_id!, 60);
  expect(deployed).toMatchObject({ status: 'ready', live: true, previous_id: first.id, version: 2 });
  await workflowIs(on.service.workflow(id), 'COMPLETED');
}, 400_000);

test('a migration that Temporal terminates is failed, and so is its job', async () => {
  if (!on.worker.isUp) await on.worker.start();
  await live('ended');
  on.world.model.reply(() => new Promise(() => undefined));
  const id = await migrate(on.service, 'ended', asked({ to: models.equal, optimize: 'never' }));
  await until('its first evaluation runs', async () => (await ofMigration(id)).length === 1);
  await on.service.workflow(id).terminate('by the test');
  const done = await migrated(on.service, id);
  expect(done).toMatchObject({ status: 'failed', error_details: { code: 'workflow_terminated' } });
  await until('its job has ended', async () => (await ofMigration(id))[0]?.status !== 'running', 60);
}, 120_000);

test('a migration that is cancelled while no worker runs is cancelled, and deletes with its jobs free', async () => {
  if (!on.worker.isUp) await on.worker.start();
  on.world.reset();
  await live('cancelled');
  on.world.model.reply(() => new Promise(() => undefined));
  const id = await migrate(on.service, 'cancelled', asked({ to: models.equal, optimize: 'never' }));
  await until('its first evaluation runs', async () => (await ofMigration(id)).length === 1);
  await on.worker.kill();
  await on.service.api.call('POST', `${migrations}/${id}/cancel`);
  await on.worker.start();
  expect(await migrated(on.service, id, 90)).toMatchObject({ status: 'cancelled', verdict: null });
  await until('its job is cancelled', async () => (await ofMigration(id))[0]?.status === 'cancelled', 60);
}, 200_000);
