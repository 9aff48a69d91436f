import { health, healthOfJob } from '../data/health.js';
import { answeredAt, silentSince } from '../data/connection.js';
import { minute, slowedDown, troubles } from '../data/health-words.js';
import { link } from '../util/router.js';

/** In the header of all pages: a dot, and what is wrong. */
export function HealthStrip() {
  const known = health.value;
  if (known === null) return null;
  const parts = troubles(known);
  const state = parts.length === 0 ? 'ok' : !known.service.ready || known.state === 'failing' ? 'bad' : 'warn';
  return (
    <a class={`health-strip health-${state}`} href={link(['now'])}>
      <span class="health-dot" aria-hidden="true" />
      {parts.length === 0 ? <span class="visually-hidden">All is well</span> : <span>{parts.join(' · ')}</span>}
    </a>
  );
}

/** In place of an error in each panel, while the service does not answer. */
export function SilenceBanner() {
  if (silentSince.value === null) return null;
  const [since, seen] = [silentSince.value, answeredAt.value].map((at) => minute(new Date(at).toISOString()));
  return (
    <p class="silence-banner" role="alert">
      Disconnected since {since}, figures of {seen}. The page goes on by itself once the service answers.
    </p>
  );
}

/** In a list, why a running job is slow. */
export function Slowdown({ id }: { id: string }) {
  const job = healthOfJob(id);
  const told = job?.status === 'running' && health.value ? slowedDown(job, health.value.providers) : null;
  return told === null ? null : <span class="now-cause">{told}</span>;
}
