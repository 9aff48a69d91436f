/** Ends of models in the lists of providers (`GET …/models`), where a vendor gives them. */
import { withTimeout } from '../../clients/net/bounded.js';
import { cutErrorText, field, parseObject } from '../../clients/net/untrusted.js';
import type { Retirement } from '../../core/retirements/lookup.js';
import { ExpiringMap } from '../../util/expiring-map.js';
import { ProviderError, providerError, type ModelAnswer } from './answers/provider-answer.js';

/** What a list said, by model; or why there is none, which ends nothing. */
export type ListedEnd = { ok: true; ends: ReadonlyMap<string, Retirement> } | { ok: false; why: string };

/** The list of a provider for an organization's key; null: its vendor gives no ends there. */
export type ListedEnds = (orgId: string, provider: string, signal: AbortSignal) => Promise<ListedEnd | null>;

/** The fields of vendors that give ends: a date, and the other model if it has a field. */
const fields: Record<string, { date: string; replacement: string | null }> = {
  openai: { date: 'shutdown_date', replacement: null },
  mistral: { date: 'deprecation', replacement: 'deprecation_replacement_model' },
};

const timeoutMs = 3_000;
/** Lists change by the week; a failed look is tried again sooner. */
const keptMs = 3_600_000;
const failedMs = 60_000;
const keptLists = 1_000;
const mostModels = 5_000;
const longestName = 300;

/** Reads lists within 3 s, and keeps them for an hour. */
export function createListedEnds(
  ask: (orgId: string, provider: string, signal: AbortSignal) => Promise<ModelAnswer>,
): ListedEnds {
  const kept = new ExpiringMap<string, ListedEnd>(keptLists, keptMs);
  const failed = new ExpiringMap<string, ListedEnd>(keptLists, failedMs);
  return async (orgId, provider, signal) => {
    if (!Object.hasOwn(fields, provider)) return null;
    const key = JSON.stringify([orgId, provider]);
    const known = kept.get(key) ?? failed.get(key);
    if (known) return known;
    const read = await readList(provider, (bounded) => ask(orgId, provider, bounded), signal);
    (read.ok ? kept : failed).set(key, read);
    return read;
  };
}

async function readList(
  provider: string,
  ask: (signal: AbortSignal) => Promise<ModelAnswer>,
  signal: AbortSignal,
): Promise<ListedEnd> {
  try {
    return await withTimeout(timeoutMs, signal, async (bounded) => {
      const answer = await ask(bounded);
      const text = (await answer.read()).toString();
      if (answer.status !== 200) return { ok: false, why: `its list of models answered ${answer.status}` };
      const list = field(parseObject(text), 'data');
      if (!Array.isArray(list)) return { ok: false, why: 'its list of models has no data' };
      return { ok: true, ends: endsIn(provider, list.slice(0, mostModels)) };
    });
  } catch (error) {
    signal.throwIfAborted();
    const fault = providerError(provider, error);
    if (!(fault instanceof ProviderError)) throw fault;
    return { ok: false, why: cutErrorText(fault.message, 512) };
  }
}

function endsIn(provider: string, list: readonly unknown[]): ReadonlyMap<string, Retirement> {
  const { date, replacement } = fields[provider]!;
  const asOf = new Date().toISOString().slice(0, 10);
  const source = `the list of models of ${provider}`;
  const found = list.flatMap((model) => {
    const id = field(model, 'id');
    const shutdownDate = dayOf(field(model, date));
    if (typeof id !== 'string' || id.length > longestName || shutdownDate === null) return [];
    const named = replacement === null ? null : field(model, replacement);
    const next = typeof named === 'string' && named !== '' ? named.slice(0, longestName) : null;
    return [[id, { shutdownDate, replacement: next, source, asOf }] as const];
  });
  return new Map(found);
}

/** The day of a date or a time; null: it is none. */
function dayOf(value: unknown): string | null {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:T.*)?$/.exec(typeof value === 'string' ? value : '') ?? [];
  return day !== undefined && !Number.isNaN(Date.parse(day)) ? day : null;
}
