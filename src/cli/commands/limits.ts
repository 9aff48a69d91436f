/** Commands on the limits of an organization and its keys. */
import type { Answer, Body, Ratchet } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { say, sayJson, table } from '../service/output.js';

type Limits = Answer<'getOrganizationLimits'>;

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

function limitsOf({ orgs, keys }: Ratchet, { org, key }: Of): Promise<Limits> {
  const query = { org_id: org };
  return key === undefined ? orgs.limits(query) : keys.limits(key, query);
}

export async function showLimits(of: Of): Promise<void> {
  await withService(async (client) => show(await limitsOf(client, of), of));
}

/** Sets the named limits and keeps the others. */
export async function setLimits({ org, key, json, ...named }: Of & Changes): Promise<void> {
  const of: Of = { ...(org !== undefined && { org }), ...(key !== undefined && { key }), ...(json && { json }) };
  const changes = Object.fromEntries(
    Object.entries(named).map(([name, limit]) => [fieldOf(name), limit === 'none' ? null : limit]),
  );
  if (Object.keys(changes).length === 0) throw new ConfigError('name a limit; see ratchet limits set --help');
  await withService(async (client) => {
    const { limits } = await limitsOf(client, of);
    const present = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null));
    const body: Body<'setOrganizationLimits'> = { ...present, ...changes };
    const query = { org_id: org };
    const { orgs, keys } = client;
    show(await (key === undefined ? orgs.setLimits(body, query) : keys.setLimits(key, body, query)), of);
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
