/** Commands on the limits of an organization and its keys. */
import type { z } from 'zod';
import type { limitsSchema } from '../contracts/access.js';
import { ConfigError } from '../config.js';
import { withService } from './connect.js';
import { say, sayJson, table } from './output.js';

type Limits = z.output<typeof limitsSchema>;

interface Of {
  org?: string;
  key?: string;
  json?: boolean;
}
interface Changes extends Of {
  requestsPerMinute?: number | null;
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
export async function setLimits({ requestsPerMinute, ...of }: Changes): Promise<void> {
  const changes = { ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }) };
  if (Object.keys(changes).length === 0) throw new ConfigError('name a limit; see ratchet limits set --help');
  await withService(async (api) => {
    const { limits } = await api.call<Limits>('GET', pathOf(of));
    show(await api.call<Limits>('PUT', pathOf(of), { ...limits, ...changes }), of);
  });
}

function show(found: Limits, { json = false }: Of): void {
  if (json) return sayJson(found);
  const rows = Object.entries(found.limits).map(([name, limit]) => [
    name.replaceAll('_', ' '),
    String(limit ?? 'none'),
  ]);
  say(table([['LIMIT OF', found.key_id ?? found.org_id], ...rows]));
}
