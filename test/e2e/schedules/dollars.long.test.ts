import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { checkedUp } from '../../support/checkups-over-http.js';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import { decided, readSchedule, runNow, schedule, schedules } from '../../support/schedules-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { agingModels, gateRows, startAgingWorld } from '../../support/worlds/aging.js';
import { rowsBaseline } from '../../support/worlds/rows.js';

// Invariant: the runs of a month together spend at most its dollars, and each tells its webhook.

const on = serviceOfFile(startAgingWorld);
afterEach(() => on.world.reset());
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

test('the runs of a month spend its dollars, and no more', async () => {
  await built(on.service, await deploy(on.service, { name: 'dear', source: saying(rowsBaseline, agingModels.priced) }));
  const month = 0.000_2;
  const made = await schedule(on.service, 'dear', {
    cron: '0 3 * * 1',
    checkup: { rows: gateRows(on.world, 20), traffic: null },
    max_cost_usd_per_month: month,
    webhook_url: receiver.url,
  });
  const run = async () => {
    const { run_id: id } = await runNow(on.service, made.schedule_id);
    const { outcome, code, job_id: job } = await decided(on.service, made.schedule_id, (one) => one.run_id === id);
    if (job === null) return { outcome, code, spent: 0 };
    const { status, max_cost_usd: max, total_cost_usd: spent } = await checkedUp(on.service, job);
    return { outcome, status, max: max!, spent: spent! };
  };
  const spentNow = async () => (await readSchedule(on.service, made.schedule_id)).spent_this_month_usd;
  const jobs: Awaited<ReturnType<typeof run>>[] = [];
  let total = 0;
  for (;;) {
    const ran = await run();
    jobs.push(ran);
    if (ran.status !== 'completed') break;
    // What is left is the most that a run may cost.
    expect(ran.max).toBeCloseTo(month - total, 12);
    total += ran.spent;
    await until('it is counted', async () => Math.abs((await spentNow()) - total) < 1e-12);
  }
  const last = jobs.at(-1)!;
  expect([jobs.length > 2, last.status]).toEqual([true, 'failed']);
  await until('it is counted', async () => Math.abs((await spentNow()) - total - last.spent) < 1e-12);
  expect(await spentNow()).toBeLessThanOrEqual(month);
  const asked = on.world.model.requests.length;
  await on.service.api.call('PATCH', `${schedules}/${made.schedule_id}`, { max_cost_usd_per_month: await spentNow() });
  expect(await run()).toEqual({ outcome: 'skipped', code: 'month_budget_spent', spent: 0 });
  expect(on.world.model.requests.length).toBe(asked);
  await until('each run told its webhook', () => receiver.requests.length === jobs.length);
  const told = receiver.requests.map(({ body }) => (JSON.parse(body) as { data: { status: string } }).data.status);
  expect(told.sort()).toEqual(jobs.map(({ status }) => status).sort());
}, 120_000);
