import { expect, test } from '@jest/globals';
import { askedOf, checkedUp, checkUp, checkups, readCheckup } from '../support/checkups-over-http.js';
import { built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { eventsOf } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { workflowIs } from '../support/workflow-is.js';
import { agingModels as models, gateRows, proposer, startAgingWorld } from '../support/worlds/aging.js';
import { rowsBaseline } from '../support/worlds/rows.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// After kill -9 of its worker in each of its steps, a checkup gives the answer that it would have
// given, runs each job once, and deploys once.

const on = workerOfFile(startAgingWorld);

const gate = () => ({ ...gateRows(on.world, 40), min_reward: 0.5, seeds: '0-19', preflight: false });
const live = async (name: string) =>
  built(
    on.service,
    await deploy(on.service, { name, source: saying(rowsBaseline, models.live), gate: gate(), log: {} }),
  );
const ofCheckup = (id: string) =>
  on.service.query<{ id: string; status: string }>(
    'select id, status from jobs where substr(id, 5, 28) = $1 and id <> $2',
    [id.slice(4, 32), id],
  );

test('a checkup whose worker dies in each step ends as if it had not', async () => {
  await on.worker.start();
  const first = await live('aging');
  await askedOf(on.service, 'aging', 40);
  on.world.age();
  const traffic = { limit: 40, expected: 'corrected_or_answer' };
  const { job_id: id } = await checkUp(on.service, 'aging', { traffic, improve: { proposer } });
  const wanted = ['rows', 'traffic', 'session', 'winner', 'winner_again', 'traffic_again'] as const;
  for (const step of wanted) {
    await until(
      `${step} has begun`,
      async () => {
        const { steps, status } = await readCheckup(on.service, id);
        return steps.some((each) => each.step === step) || status !== 'running';
      },
      90,
    );
    await on.worker.kill();
    await on.worker.start();
  }
  const done = await checkedUp(on.service, id, 120);
  expect(done).toMatchObject({
    status: 'completed',
    verdict: 'worse',
    checkup_number: 1,
    rows: { reward: 0, rows: 20, baseline: { reward: 1 } },
    traffic: { verdict: 'first', rows: 20 },
    improvement: { verdict: 'better', reward: 1, today: { reward: 0 }, rows: 20 },
  });
  expect(done.steps.map(({ step, status }) => [step, status])).toEqual(wanted.map((step) => [step, 'completed']));
  expect(await ofCheckup(id)).toHaveLength(wanted.length);
  const events = await eventsOf(on.service, id);
  expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
  expect(events.filter(({ type }) => type === 'checkup_step')).toHaveLength(wanted.length);
  expect(events.filter(({ type }) => type === 'checkup_judged')).toHaveLength(3);
  await until(
    'its winner is rolled out',
    async () => (await readDeployment(on.service, done.deployment_id!)).status === 'rolling_out',
    60,
  );
  const deployments = await on.service.query<{ id: string }>(`select id from deployments where name = 'aging'`, []);
  expect(deployments.map((deployment) => deployment.id).sort()).toEqual([first.id, done.deployment_id].sort());
  await workflowIs(on.service.workflow(id), 'COMPLETED');
}, 400_000);

test('a checkup that is cancelled while no worker runs is cancelled, and its job with it', async () => {
  if (!on.worker.isUp) await on.worker.start();
  on.world.reset();
  await live('cancelled');
  on.world.model.reply(() => new Promise(() => undefined));
  const { job_id: id } = await checkUp(on.service, 'cancelled', {});
  await until('its first evaluation runs', async () => (await ofCheckup(id)).length === 1);
  await on.worker.kill();
  await on.service.api.call('POST', `${checkups}/${id}/cancel`);
  await on.worker.start();
  expect(await checkedUp(on.service, id, 90)).toMatchObject({ status: 'cancelled', verdict: null });
  expect(await ofCheckup(id)).toMatchObject([{ status: 'cancelled' }]);
}, 200_000);
