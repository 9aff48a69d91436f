/** Schedules of checkups. */
import { setTimeout as sleep } from 'node:timers/promises';
import { all, type Answer, type Body, type Item, type Ratchet } from '../../client/index.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { dollars, note, say, sayJson, table } from '../service/output.js';
import { inOptions } from '../task/faults.js';
import { checkupRequest, type CheckupOptions } from './checkup.js';

type Schedule = Item<'listSchedules'>;
type Run = Answer<'runSchedule'>;

interface Shown {
  json?: boolean;
}

interface CreateOptions extends CheckupOptions, Shown {
  every?: string;
  cron?: string;
  timezone?: string;
  maxCostPerMonth?: number;
}

const everyMs = 200;
/** The service begins a run within a second. */
const patienceMs = 30_000;

/** Prints all schedules, those of a name, or one with its latest runs. */
export async function listSchedules(ref: string | undefined, { json = false }: Shown): Promise<void> {
  await withService(async (client) => {
    if (ref?.startsWith('sch_')) return showSchedule(await client.schedules.handle(ref).get(), json);
    const found: Schedule[] = await all(
      ref === undefined ? client.schedules.list() : client.deployments.handle(ref).schedules(),
    );
    if (json) return sayJson(found);
    if (found.length === 0) return note('There are no schedules yet.');
    printSchedules(found);
  });
}

export async function createSchedule(name: string, { json = false, ...options }: CreateOptions): Promise<void> {
  const { every, cron, timezone, maxCostPerMonth, ...rest } = options;
  // The service checks that it has one of every and cron.
  const body = {
    ...(every !== undefined && { every }),
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(maxCostPerMonth !== undefined && { max_cost_usd_per_month: maxCostPerMonth }),
    checkup: await checkupRequest(rest),
  } as Body<'createSchedule'>;
  await withService(async (client) => {
    const { created } = await inOptions(() => client.deployments.handle(name).schedule(body));
    for (const warning of created?.warnings ?? []) note(`Note: ${warning}`);
    showSchedule(created!, json);
  });
}

export async function pauseSchedule(id: string, paused: boolean): Promise<void> {
  await withService(async (client) => {
    await client.schedules.handle(id).update({ paused });
    say(`${id} is ${paused ? 'paused' : 'resumed'}.`);
  });
}

/** Runs a schedule now; fails if its checkup does not begin. */
export async function runSchedule(id: string, { json = false }: Shown): Promise<void> {
  await withService(async (client) => {
    const run = await decided(client, id, await client.schedules.handle(id).run());
    if (json) sayJson(run);
    const { outcome, job_id: job, code, detail } = run;
    if (outcome === 'skipped' || outcome === 'refused')
      throw new FailedJob(`The run was ${outcome} (${code}): ${detail}`);
    if (!json) say(outcome === null ? `The run is due: ratchet schedules ${id}` : `Next: ratchet watch ${job}`);
  });
}

export async function deleteSchedule(id: string): Promise<void> {
  await withService(async (client) => {
    await client.schedules.handle(id).delete();
    say(`${id} is deleted.`);
  });
}

/** A run with its outcome; without one if the service takes too long. */
async function decided(client: Ratchet, id: string, run: Run): Promise<Run> {
  const until = performance.now() + patienceMs;
  let now = run;
  while (now.outcome === null && performance.now() < until) {
    await sleep(everyMs);
    const { last_runs: runs } = await client.schedules.handle(id).get();
    now = runs.find(({ run_id: runId }) => runId === run.run_id) ?? now;
  }
  return now;
}

function showSchedule(schedule: Answer<'getSchedule'>, json: boolean): void {
  if (json) return sayJson(schedule);
  printSchedules([schedule]);
  const { last_runs: runs } = schedule;
  if (runs.length === 0) return;
  const cells = runs.map(({ scheduled_at: at, outcome, job_id: job, code, detail }) => [
    minutes(at),
    outcome ?? 'due',
    job ?? code ?? '',
    detail ?? '',
  ]);
  say(table([['RUN (UTC)', 'OUTCOME', 'CHECKUP', ''], ...cells]));
}

function printSchedules(schedules: readonly Schedule[]): void {
  const cells = schedules.map((schedule) => [
    schedule.schedule_id,
    schedule.name,
    schedule.every === null ? `${schedule.cron} ${schedule.timezone}` : `every ${schedule.every}`,
    nextRunOf(schedule),
    monthOf(schedule),
  ]);
  say(table([['SCHEDULE', 'NAME', 'WHEN', 'NEXT RUN (UTC)', 'THIS MONTH'], ...cells]));
}

const minutes = (time: string | null) => time?.slice(0, 16).replace('T', ' ') ?? '';

function nextRunOf({ paused, paused_in_temporal: isPausedThere, next_run_at: next }: Schedule): string {
  if (paused) return 'paused';
  return isPausedThere ? 'paused in Temporal' : minutes(next);
}

function monthOf({ spent_this_month_usd: spent, max_cost_usd_per_month: limit }: Schedule): string {
  return limit === null ? dollars(spent) : `${dollars(spent)} of ${dollars(limit)}`;
}
