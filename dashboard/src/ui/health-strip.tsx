import { health, healthOfJob } from '../data/health/health.js';
import { answeredAt, silentSince } from '../data/connection.js';
import { minute, progressText, slowedDown, stallText, troubles } from '../data/health/words.js';
import { link } from '../util/router.js';

/** In the header of all pages: a dot, and what is wrong. */
export function HealthStrip() {
  const known = health.value;
  if (known === null) return null;
  const parts = troubles(known);
  const state = parts.length === 0 ? 'ok' : !known.service.ready || known.state === 'failing' ? 'bad' : 'warn';
  return (
    <a
      class={`health-strip health-${state}`}
      href={link(['now'])}
      title={parts.length === 0 ? undefined : parts.join(' · ')}
    >
      <span class="health-dot" aria-hidden="true" />
      {parts.length === 0 ? (
        <span class="health-words">All is well</span>
      ) : (
        <span class="health-trouble">{parts.join(' · ')}</span>
      )}
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

/** In a list, how far an open job is, and why it is slow or stands still. */
export function LiveLine({ id }: { id: string }) {
  const job = healthOfJob(id);
  if (!job || !health.value) return null;
  const { providers, at } = health.value;
  if (job.status !== 'running') return <span class="live-line">{progressText(job)}</span>;
  const lastMs = job.last_result_at === null ? null : Date.parse(job.last_result_at);
  const quietS = lastMs === null ? null : Math.round((Date.parse(at) - lastMs) / 1_000);
  if (job.stalled) return <span class="live-line bad">{stallText(job, providers, quietS)}</span>;
  const slowed = slowedDown(job, providers);
  return <span class="live-line">{[progressText(job), ...(slowed === null ? [] : [slowed])].join(' · ')}</span>;
}
