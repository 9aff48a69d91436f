/** Commands on existing jobs. */
import { EvaluationHandle, SessionHandle, type Item, type Ratchet } from '../../client/index.js';
import { firstReward } from '../../core/comparisons/first-reward.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { statusWords } from '../../core/jobs/status-words.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { decimal, note, say, sayJson, table } from '../service/output.js';

const shownName = 40;

type ListedJob = Item<'listSessions' | 'listEvaluations' | 'listGraphJobs' | 'listMigrations' | 'listCheckups'>;

/** The job of an id. */
export function jobOf(client: Ratchet, id: string): ReturnType<Ratchet['handle']> {
  if (kindOf(id) === null) throw new ConfigError(`${id.slice(0, 100)} is no id of a job`);
  return client.handle(id);
}

/** The newest jobs of all kinds. */
export async function newestJobs(client: Ratchet, limit: number): Promise<ListedJob[]> {
  const query = { limit };
  const pages = await Promise.all([
    client.request('listSessions', { query }),
    client.request('listEvaluations', { query }),
    client.request('listGraphJobs', { query }),
    client.request('listMigrations', { query }),
    client.request('listCheckups', { query }),
  ]);
  const jobs = pages.flatMap(({ data }): ListedJob[] => data);
  return jobs.sort((left, right) => right.created_at.localeCompare(left.created_at)).slice(0, limit);
}

/** Prints the newest jobs. */
export async function list({ json = false, limit }: { json?: boolean; limit: number }): Promise<void> {
  await withService(async (client) => {
    const jobs = await newestJobs(client, limit);
    if (json) return sayJson(jobs);
    if (jobs.length === 0) return note('There are no jobs yet.');
    const { data: runs } = await client.request('listRuns', { query: { limit, parts: 'true' } });
    const rewardOf = (id: string) => {
      const run = runs.find(({ job_id }) => job_id === id);
      return run && firstReward(run)?.reward;
    };
    const rows = jobs.map((job) => [
      job.job_id,
      statusWords(job.status, job.last_command),
      job.created_at.slice(0, 19).replace('T', ' '),
      'best_reward' in job ? decimal(rewardOf(job.job_id) ?? job.best_reward) : '',
      job.stopped_by ?? '',
      [...(job.name ?? '')].slice(0, shownName).join(''),
    ]);
    say(table([['JOB', 'STATUS', 'CREATED (UTC)', 'REWARD', 'STOPPED BY', 'NAME'], ...rows]));
  });
}

/** Follows a job to its end, and prints its result; fails if the job did. */
export async function watch(id: string, { json = false }: { json?: boolean }): Promise<void> {
  await withService(async (client) => {
    const handle = jobOf(client, id);
    client.watched.push(id);
    if (handle instanceof SessionHandle) {
      const { report } = await import('./session-report.js');
      return report(client, id, { out: null, json, prompt: null, warned: [] });
    }
    const job = await handle.wait({ onEvent: ({ type }) => note(`  ${type}`) });
    sayJson(job);
    if (job.status === 'failed') throw new FailedJob(`The ${nounOf(id)} ${id} failed: ${job.error}`);
  });
}

/** Prints the results of a job. */
export async function results(id: string): Promise<void> {
  await withService(async (client) => sayJson(await resultsOf(client, id)));
}

/** The results of a job; of a kind without results, the job. */
export function resultsOf(client: Ratchet, id: string): Promise<object> {
  const job = jobOf(client, id);
  return job instanceof SessionHandle || job instanceof EvaluationHandle ? job.results() : job.get();
}

/** The commands of running jobs. */
export type JobCommand = 'cancel' | 'pause' | 'resume';

/** `cancel`, `pause` or `resume`, and prints the state after it. */
export async function command(name: JobCommand, id: string): Promise<void> {
  await withService(async (client) => say(`${id} is ${await control(client, name, id)}.`));
}

/** Sends `cancel`, `pause` or `resume`; returns the state after it. */
export async function control(client: Ratchet, name: JobCommand, id: string): Promise<string> {
  const job = jobOf(client, id);
  if (name === 'cancel' && 'cancel' in job) return (await job.cancel()).status;
  if (!('pause' in job)) throw new ConfigError(`${id} is a ${nounOf(id)}, which takes no ${name}`);
  return (await job[name]()).status;
}

const nounOf = (id: string): string => jobKinds[kindOf(id)!].noun;
