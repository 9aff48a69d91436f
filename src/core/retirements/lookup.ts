/** When models end. Nothing is claimed of a model whose exact id no page names. */
import { pages } from './table.js';

/** A known end of a model. */
export interface Retirement {
  /** `YYYY-MM-DD`, UTC. */
  shutdownDate: string;
  /** As the vendor names it; null: it names none. */
  replacement: string | null;
  /** The page or list that says so. */
  source: string;
  /** The day of its reading. */
  asOf: string;
}

/** A model of a provider. */
export interface ModelName {
  provider: string;
  model: string;
}

/** Days before an end at which a new job or deployment gets a warning. */
export const warnedDays = 90;

const dayMs = 86_400_000;

const known: ReadonlyMap<string, Retirement> = new Map(
  pages.flatMap(({ provider, source, asOf, rows }) =>
    rows.flatMap(([ids, shutdownDate, replacement]) =>
      ids
        .split(' ')
        .map((id) => [keyOf({ provider, model: id }), { shutdownDate, replacement, source, asOf }] as const),
    ),
  ),
);

function keyOf({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

/** Vendors whose models only they serve, by their names in ids of OpenRouter. */
const onOpenRouter: Record<string, string> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  'x-ai': 'xai',
};

/** The vendor's own name of a model; null: the name does not say whose end it has. */
function vendorsName({ provider, model }: ModelName): ModelName | null {
  if (provider === 'openai') return { provider, model: /^ft:([^:]+):/.exec(model)?.[1] ?? model };
  if (provider === 'google') return { provider, model: model.replace(/^models\//, '') };
  if (provider !== 'openrouter') return { provider, model };
  const [, vendor = '', id] = /^([^/]+)\/([^/:]+)(?::[a-z]+)?$/.exec(model) ?? [];
  if (id === undefined || !Object.hasOwn(onOpenRouter, vendor)) return null;
  return { provider: onOpenRouter[vendor]!, model: id };
}

/** The known end of a model; null: none is known, which does not say that it stays. */
export function retirementOf(name: ModelName): Retirement | null {
  const own = vendorsName(name);
  return (own && known.get(keyOf(own))) ?? null;
}

/** Providers of which a page was read. */
export const readProviders: ReadonlySet<string> = new Set(pages.map(({ provider }) => provider));

/** Whole days until a date begins (UTC); negative: it has passed. */
export function daysLeft(date: string, now: number): number {
  return Math.round((Date.parse(date) - Math.floor(now / dayMs) * dayMs) / dayMs);
}

/** The first of the models to end; null: no end is known. */
export function firstToRetire<Name extends ModelName>(names: readonly Name[]): (Name & Retirement) | null {
  const ends = names.flatMap((name) => {
    const end = retirementOf(name);
    return end ? [{ ...name, ...end }] : [];
  });
  return ends.reduce<(typeof ends)[number] | null>(
    (first, end) => (first === null || end.shutdownDate < first.shutdownDate ? end : first),
    null,
  );
}

/** The warning about a model that ends within 90 days or has ended; null: none is due. */
export function retirementWarning(name: ModelName, now: number): string | null {
  const end = retirementOf(name);
  if (!end) return null;
  const left = daysLeft(end.shutdownDate, now);
  if (left > warnedDays) return null;
  const verb = left >= 0 ? 'retires' : 'retired';
  const { replacement } = end;
  const next = replacement === null ? 'the vendor names no other' : `the vendor names ${replacement}`;
  return `Model ${name.model} of ${name.provider} ${verb} on ${end.shutdownDate}; ${next}.`;
}
