/** What an operator reads of the state of providers, jobs and deployments. */
import { clock, words } from '../../util/format.js';
import type { Health, OpenJob, ProviderHealth } from './health.js';

type Stated = Pick<ProviderHealth, 'state' | 'since' | 'because'>;

/** As `429 since 21:21`; of a well one nothing. */
export function trouble({ state, since, because }: Stated): string {
  if (state === 'ok') return '';
  return `${words(because ?? state)}${since === null ? '' : ` since ${minute(since)}`}`;
}

/** Hours and minutes, with the date unless it is today. */
export const minute = (at: string): string => clock(at).replace(/:\d\d$/, '');

const verbs = { slow: 'slowed down', throttled: 'throttled', failing: 'affected' };

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The header's line, part by part; none: all is well. */
export function troubles({ providers, jobs, deployments, service }: Health): string[] {
  const parts: string[] = [];
  const failed = Object.entries(service.checks).filter(([, { ok }]) => !ok);
  for (const [name, { detail }] of failed) parts.push(`${name}: ${detail?.slice(0, 80) ?? 'not ready'}`);
  for (const [provider, models] of byProvider(providers.filter(({ state }) => state !== 'ok'))) {
    const [worst] = models;
    const affected = runningOf(models, jobs).length;
    parts.push(`${provider}: ${trouble(worst!)}`);
    if (affected > 0) parts.push(`${plural(affected, 'job')} ${verbs[worst!.state as keyof typeof verbs]}`);
  }
  const failing = deployments.filter(({ state }) => state !== 'ok');
  if (failing.length > 0) parts.push(`${plural(failing.length, 'deployment')} ${failing[0]!.state}`);
  const stuck = jobs.filter((job) => job.stuck !== null).length;
  if (stuck > 0) parts.push(`${plural(stuck, 'job')} stuck`);
  return parts;
}

/** Models by provider, in their order. */
export function byProvider(providers: readonly ProviderHealth[]): Map<string, ProviderHealth[]> {
  const groups = new Map<string, ProviderHealth[]>();
  for (const each of providers) groups.set(each.provider, [...(groups.get(each.provider) ?? []), each]);
  return groups;
}

/** The running jobs that name one of the models. */
export function runningOf(models: readonly ProviderHealth[], jobs: readonly OpenJob[]): OpenJob[] {
  const ids = new Set(models.flatMap(({ job_ids: named }) => named));
  return jobs.filter(({ job_id: id, status }) => ids.has(id) && (status === 'running' || status === 'pending'));
}

/** As `1 of 5 at a time: openai 429 since 21:21`; null: the job runs as fast as it may. */
export function slowedDown(job: OpenJob, providers: readonly ProviderHealth[]): string | null {
  const { limit, max_concurrent: most, lowered_because: because } = job.concurrency;
  const cause = providers.find(({ state, job_ids: ids }) => state !== 'ok' && ids.includes(job.job_id));
  if (limit >= most && !cause) return null;
  const told = cause ? `${cause.provider} ${trouble(cause)}` : because && words(because);
  return `${limit} of ${most} at a time${told === null ? '' : `: ${told}`}`;
}

/** As `Stalled: no result for 75 s: fake 429 since 21:21`. `quietS` null: there was none. */
export function stallText(job: OpenJob, providers: readonly ProviderHealth[], quietS: number | null): string {
  const cause = providers.find(({ state, job_ids: ids }) => state !== 'ok' && ids.includes(job.job_id));
  const because = cause ? `${cause.provider} ${trouble(cause)}` : job.stalled_because && words(job.stalled_because);
  const since = quietS === null ? 'no result yet' : `no result for ${quietS} s`;
  return `Stalled: ${since}${because === null ? '' : `: ${because}`}`;
}

/** In a list, how far a running job is: `41 %, ends about 21:46`. */
export function progressText({ rollouts_completed: done, max_rollouts: most, ends_at: end }: OpenJob): string {
  const share = most === null || most === 0 ? `${done} answers` : `${Math.floor((100 * done) / most)} %`;
  return end === null ? share : `${share}, ends about ${minute(end)}`;
}
