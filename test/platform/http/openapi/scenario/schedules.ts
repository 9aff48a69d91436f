import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';
import { policy, rows } from './world.js';

/** A schedule that is run by hand, changed and deleted. */
export async function playSchedules(api: Recorder): Promise<void> {
  const name = 'capitals-watched';
  const messages = [{ role: 'system', content: 'Answer with the name of the city alone.' }];
  const { id } = await api.peek<{ id: string }>('createDeployment', { body: { name, source: { messages, policy } } });
  await until('it is live', async () => {
    const { live } = await api.peek<{ live: boolean }>('getDeployment', { path: { deployment_id: id } });
    return live;
  });
  const ofName = { path: { deployment_id: name } };
  const checkup = { rows: { dataset: { rows }, scorer: 'contains' }, traffic: null, max_change: 0.1 };
  const times = { cron: '0 3 * * 1', timezone: 'Europe/Berlin' };
  const body = { ...times, checkup, max_cost_usd_per_month: 20, tags: ['weekly'] };
  const { schedule_id } = await api.call<{ schedule_id: string }>('createSchedule', { ...ofName, body });
  const path = { schedule_id };
  await api.call('runSchedule', { path, status: 202 });
  await until('its job has ended', async () => {
    const { last_runs: runs } = await api.peek<{ last_runs: { job_id: string | null }[] }>('getSchedule', { path });
    const job = runs[0]?.job_id;
    if (job == null) return false;
    return (await api.peek<{ status: string }>('getCheckup', { path: { job_id: job } })).status === 'completed';
  });
  await until('its cost is counted', async () => {
    const { spent_this_month_usd: usd } = await api.peek<{ spent_this_month_usd: number }>('getSchedule', { path });
    return usd < 20;
  });
  await api.call('getSchedule', { path });
  await api.call('listSchedulesOfDeployment', ofName);
  await api.call('listSchedules');
  await api.call('updateSchedule', { path, body: { cron: '0 3 * * *', paused: true } });
  await api.call('deleteSchedule', { path });
}
