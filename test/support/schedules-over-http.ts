import type { ScheduleHandle } from '@temporalio/client';
import type { z } from 'zod';
import type { runView, scheduleSchema } from '../../src/schedules/contract/schedule.js';
import type { Api } from './api.js';
import { deployments } from './jobs-over-http.js';
import type { TestService } from './service.js';
import { until } from './until.js';

export type Schedule = z.output<typeof scheduleSchema>;
export type ScheduleRun = z.output<typeof runView>;
export const schedules = '/api/harbor/schedules';

interface Served {
  url: string;
  apiKey: string;
  api: Api;
}

/** Deletes a schedule, or what else has this path. */
export async function remove({ url, apiKey }: Omit<Served, 'api'>, path: string): Promise<void> {
  const answer = await fetch(url + path, { method: 'DELETE', headers: { authorization: `Bearer ${apiKey}` } });
  if (answer.status !== 204) throw new Error(await answer.text());
}

/** Creates a schedule of a name; returns it. */
export const schedule = ({ api }: Pick<Served, 'api'>, name: string, body: object): Promise<Schedule> =>
  api.call<Schedule>('POST', `${deployments}/${name}/schedules`, body);

export const readSchedule = ({ api }: Pick<Served, 'api'>, id: string): Promise<Schedule> =>
  api.call<Schedule>('GET', `${schedules}/${id}`);

/** Runs a schedule now; returns the run. */
export const runNow = ({ api }: Pick<Served, 'api'>, id: string): Promise<ScheduleRun> =>
  api.call<ScheduleRun>('POST', `${schedules}/${id}/run`);

/** Waits until a run of a schedule has an outcome. */
export function decided(
  served: Pick<Served, 'api'>,
  id: string,
  isIt: (run: ScheduleRun) => boolean,
  seconds?: number,
): Promise<ScheduleRun> {
  return until(
    `a run of ${id} is decided`,
    async () => {
      const { last_runs: runs } = await readSchedule(served, id);
      return runs.find((run) => isIt(run) && run.outcome !== null);
    },
    seconds,
  );
}

/** Temporal's schedule of one of a service. */
export async function inTemporal({ query, temporal }: TestService, id: string): Promise<ScheduleHandle> {
  const [installation] = await query<{ id: string }>('select id from installation');
  return temporal.schedule.getHandle(`schedule-${id}-${installation!.id}`);
}

export const isGone = (handle: ScheduleHandle): Promise<boolean> =>
  handle.describe().then(
    () => false,
    () => true,
  );
