/** Commands on existing jobs. */
import { jobKinds, kindOf, type JobKind } from '../core/jobs/kinds.js';
import { ConfigError } from '../config.js';
import { withService } from './connect.js';
import { FailedJob } from './errors.js';
import { decimal, note, say, sayJson, table } from './output.js';
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

function pathOf(id: string): { kind: JobKind; path: string } {
  const kind = kindOf(id);
  if (kind === null) throw new ConfigError(`${id.slice(0, 100)} is no id of a job`);
  return { kind, path: `${jobKinds[kind].path}/${id}` };
}

/** The newest jobs of all kinds. */
export async function list({ json = false, limit }: { json?: boolean; limit: number }): Promise<void> {
  await withService(async (api) => {
    const kinds = (['session', 'evaluation', 'graph'] as const).map((kind) => jobKinds[kind].path);
    const pages = await Promise.all(
      kinds.map((path) => api.call<{ data: ListedJob[] }>('GET', `${path}?limit=${limit}`)),
    );
    const jobs = pages
      .flatMap(({ data }) => data)
      .sort((left, right) => right.created_at.localeCompare(left.created_at))
      .slice(0, limit);
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
    if (kind === 'session') return report(api, id, { out: null, json, prompt: null, warned: [] });
    for await (const event of api.follow(`${path}/events`)) note(`  ${event.type}`);
    const job = await api.call<{ status: string; error: string | null }>('GET', path);
    sayJson(job);
    if (job.status === 'failed') throw new FailedJob(`The ${jobKinds[kind].noun} ${id} failed: ${job.error}`);
  });
}

export async function results(id: string): Promise<void> {
  const { kind, path } = pathOf(id);
  const hasResults = kind === 'session' || kind === 'evaluation';
  await withService(async (api) => sayJson(await api.call('GET', hasResults ? `${path}/results` : path)));
}

/** `cancel`, `pause` or `resume`. */
export async function command(name: string, id: string): Promise<void> {
  const { kind, path } = pathOf(id);
  if (!jobKinds[kind].takesCommands) throw new ConfigError(`${id} is a ${jobKinds[kind].noun}, which takes no ${name}`);
  await withService(async (api) => {
    const { status } = await api.call<{ status: string }>('POST', `${path}/${name}`);
    say(`${id} is ${status}.`);
  });
}
