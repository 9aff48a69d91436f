/** Commands on existing jobs. */
import { jobKinds, kindOf, type JobKind } from '../../core/jobs/kinds.js';
import { ConfigError } from '../../config.js';
import type { Api } from '../service/api.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { decimal, note, say, sayJson, table } from '../service/output.js';
import { report } from './optimize.js';

const shownName = 40;

interface ListedJob {
  job_id: string;
  name: string | null;
  status: string;
  created_at: string;
  best_reward?: number | null;
  stopped_by: string | null;
}

/** The kind and the path of a job. */
export function pathOf(id: string): { kind: JobKind; path: string } {
  const kind = kindOf(id);
  if (kind === null) throw new ConfigError(`${id.slice(0, 100)} is no id of a job`);
  return { kind, path: `${jobKinds[kind].path}/${id}` };
}

/** The newest jobs of all kinds. */
export async function newestJobs(api: Api, limit: number): Promise<ListedJob[]> {
  const kinds = (['session', 'evaluation', 'graph'] as const).map((kind) => jobKinds[kind].path);
  const pages = await Promise.all(
    kinds.map((path) => api.call<{ data: ListedJob[] }>('GET', `${path}?limit=${limit}`)),
  );
  const jobs = pages.flatMap(({ data }) => data);
  return jobs.sort((left, right) => right.created_at.localeCompare(left.created_at)).slice(0, limit);
}

/** Prints the newest jobs. */
export async function list({ json = false, limit }: { json?: boolean; limit: number }): Promise<void> {
  await withService(async (api) => {
    const jobs = await newestJobs(api, limit);
    if (json) return sayJson(jobs);
    if (jobs.length === 0) return note('There are no jobs yet.');
    const rows = jobs.map((job) => [
      job.job_id,
      job.status,
      job.created_at.slice(0, 19).replace('T', ' '),
      job.best_reward === undefined ? '' : decimal(job.best_reward),
      job.stopped_by ?? '',
      [...(job.name ?? '')].slice(0, shownName).join(''),
    ]);
    say(table([['JOB', 'STATUS', 'CREATED (UTC)', 'BEST', 'STOPPED BY', 'NAME'], ...rows]));
  });
}

/** Follows a job to its end, and prints its result; fails if the job did. */
export async function watch(id: string, { json = false }: { json?: boolean }): Promise<void> {
  const { kind, path } = pathOf(id);
  await withService(async (api) => {
    api.watched.push(id);
    if (kind === 'session') return report(api, id, { out: null, json, prompt: null, warned: [] });
    for await (const event of api.follow(`${path}/events`)) note(`  ${event.type}`);
    const job = await api.call<{ status: string; error: string | null }>('GET', path);
    sayJson(job);
    if (job.status === 'failed') throw new FailedJob(`The ${jobKinds[kind].noun} ${id} failed: ${job.error}`);
  });
}

/** Prints the results of a job. */
export async function results(id: string): Promise<void> {
  await withService(async (api) => sayJson(await resultsOf(api, id)));
}

/** The results of a job; of a kind without results, the job. */
export function resultsOf(api: Api, id: string): Promise<object> {
  const { kind, path } = pathOf(id);
  const hasResults = kind === 'session' || kind === 'evaluation';
  return api.call<object>('GET', hasResults ? `${path}/results` : path);
}

/** `cancel`, `pause` or `resume`, and prints the state after it. */
export async function command(name: string, id: string): Promise<void> {
  await withService(async (api) => say(`${id} is ${await control(api, name, id)}.`));
}

/** Sends `cancel`, `pause` or `resume`; returns the state after it. */
export async function control(api: Api, name: string, id: string): Promise<string> {
  const { kind, path } = pathOf(id);
  if (!jobKinds[kind].takesCommands) throw new ConfigError(`${id} is a ${jobKinds[kind].noun}, which takes no ${name}`);
  return (await api.call<{ status: string }>('POST', `${path}/${name}`)).status;
}
