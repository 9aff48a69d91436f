/** Commands on the limits of an organization and its keys. */
import type { z } from 'zod';
import type { limitsSchema } from '../../contracts/access.js';
import { ConfigError } from '../../config.js';
import { withService } from '../service/connect.js';
import { say, sayJson, table } from '../service/output.js';

type Limits = z.output<typeof limitsSchema>;

interface Of {
  org?: string;
  key?: string;
  json?: boolean;
}
interface Changes {
  requestsPerMinute?: number | 'none';
  callsInFlight?: number | 'none';
  openJobs?: number | 'none';
  storedBytes?: number | 'none';
  spendUsdPerDay?: number | 'none';
}

function pathOf({ org, key }: Of): string {
  const query = org === undefined ? '' : `?${new URLSearchParams({ org_id: org }).toString()}`;
  const owner = key === undefined ? '' : `keys/${encodeURIComponent(key)}/`;
  return `/api/v1/admin/${owner}limits${query}`;
}

export async function showLimits(of: Of): Promise<void> {
  await withService(async (api) => show(await api.call<Limits>('GET', pathOf(of)), of));
}

/** Sets the named limits and keeps the others. */
export async function setLimits({ org, key, json, ...named }: Of & Changes): Promise<void> {
  const of: Of = { ...(org !== undefined && { org }), ...(key !== undefined && { key }), ...(json && { json }) };
  const changes = Object.fromEntries(
    Object.entries(named).map(([name, limit]) => [fieldOf(name), limit === 'none' ? null : limit]),
  );
  if (Object.keys(changes).length === 0) throw new ConfigError('name a limit; see ratchet limits set --help');
  await withService(async (api) => {
    const { limits } = await api.call<Limits>('GET', pathOf(of));
    const present = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null));
    show(await api.call<Limits>('PUT', pathOf(of), { ...present, ...changes }), of);
  });
}

/** The field of an option: `open_jobs` of `openJobs`. */
function fieldOf(option: string): string {
  return option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function show({ org_id: org, key_id: key, limits, used }: Limits, { json = false }: Of): void {
  if (json) return sayJson({ org_id: org, key_id: key, limits, used });
  const rows = Object.entries(limits).map(([name, limit]) => {
    const inUse = (used as Record<string, number>)[name];
    return [name.replaceAll('_', ' '), String(limit ?? 'none'), inUse === undefined ? '' : String(inUse)];
  });
  say(table([['LIMIT OF', key ?? org, 'USED'], ...rows]));
}
