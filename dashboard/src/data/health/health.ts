/** What is slow or failing, asked once for all pages. */
import { computed, effect, signal } from '@preact/signals';
import type { Answer } from '../../../../src/client/index.js';
import { apiKey } from '../access.js';
import { client } from '../client.js';
import { silentSince } from '../connection.js';
import { Loads } from '../loads.js';

export type Health = Answer<'getHealth'>;
export type ProviderHealth = Health['providers'][number];
export type OpenJob = Health['jobs'][number];
export type DeploymentHealth = Health['deployments'][number];

/** The last answer; null: none yet. */
export const health = signal<Health | null>(null);
const failure = signal<unknown>(null);
/** Why the last question had no answer; null: it had one. */
export const healthError = computed(() => failure.value);

const pollMs = { watched: 2_000, silent: 3_000, busy: 10_000, calm: 30_000 };

/** Pages in view that show each open job. */
const watchers = signal(0);

/** Reads again now, and often until the returned function is called. */
export function watchHealth(): () => void {
  watchers.value += 1;
  void reloadHealth();
  return () => {
    watchers.value -= 1;
  };
}

const loads = new Loads(async () => {
  try {
    health.value = await client.value.health();
    failure.value = null;
  } catch (error) {
    failure.value = error;
  }
});
export const reloadHealth = (): Promise<void> => loads.again();

const isCalm = computed(() => {
  const known = health.value;
  return (
    known !== null &&
    known.state === 'ok' &&
    known.service.ready &&
    !known.jobs.some(({ status }) => status === 'running')
  );
});

function paceOf(): keyof typeof pollMs {
  if (silentSince.value !== null) return 'silent';
  if (isCalm.value) return 'calm';
  return watchers.value > 0 ? 'watched' : 'busy';
}

/** Polls while the page is visible and a user is signed in; returns a function that stops it. */
export function followHealth(): () => void {
  return effect(() => {
    if (apiKey.value === null) return void (health.value = null);
    const everyMs = pollMs[paceOf()];
    const poll = () => {
      if (!document.hidden) loads.poll();
    };
    poll();
    const timer = setInterval(poll, everyMs);
    document.addEventListener('visibilitychange', poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', poll);
    };
  });
}

/** What is known of an open job; undefined: nothing. */
export const healthOfJob = (id: string): OpenJob | undefined =>
  health.value?.jobs.find(({ job_id: job }) => job === id);
