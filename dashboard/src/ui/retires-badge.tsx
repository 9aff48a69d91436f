import type { Listed } from '../data/deployment/types.js';

/** Marks a deployment of which a model or a fallback ends; its text says when. */
export function RetiresBadge({ retires }: Pick<Listed, 'retires'>) {
  if (!retires) return null;
  const { provider, model, shutdown_date: date, replacement } = retires;
  const hasEnded = Date.parse(date) <= Date.now();
  const next = replacement === null ? '' : `; the vendor names ${replacement}`;
  return (
    <span
      class={`badge badge-${hasEnded ? 'failed' : 'paused'}`}
      title={`${model} of ${provider} ${hasEnded ? 'retired' : 'retires'} on ${date}${next}`}
    >
      {hasEnded ? 'model retired' : 'model retires'} <time dateTime={date}>{date}</time>
    </span>
  );
}
