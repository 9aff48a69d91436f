/** Commands on organizations, their keys and their audit log. */
import type { z } from 'zod';
import { text } from 'node:stream/consumers';
import type {
  auditEntrySchema,
  keySchema,
  newKeySchema,
  orgSchema,
  providerKeySchema,
} from '../../contracts/access.js';
import { ConfigError } from '../../config.js';
import { withService } from '../service/connect.js';
import { note, say, sayJson, table } from '../service/output.js';

const base = '/api/v1/admin';
type Org = z.output<typeof orgSchema>;
type Key = z.output<typeof keySchema>;
type NewKey = z.output<typeof newKeySchema>;

interface Shown {
  json?: boolean;
}
interface OfOrg extends Shown {
  org?: string;
}

const minutes = (time: string | null) => time?.slice(0, 16).replace('T', ' ') ?? '';
const query = ({ org }: OfOrg) => (org === undefined ? '' : `?${new URLSearchParams({ org_id: org }).toString()}`);

export async function createOrg(name: string, { json = false }: Shown): Promise<void> {
  await withService(async (api) => {
    const org = await api.call<Org>('POST', `${base}/orgs`, { name });
    if (json) sayJson(org);
    else say(org.org_id);
  });
}

export async function listOrgs({ json = false }: Shown): Promise<void> {
  await withService(async (api) => {
    const orgs = await api.all<Org>(`${base}/orgs`);
    if (json) return sayJson(orgs);
    const rows = orgs.map((org) => [
      org.org_id,
      minutes(org.created_at),
      org.deleted_at === null ? org.name : `${org.name} (being deleted)`,
    ]);
    say(table([['ORGANIZATION', 'CREATED (UTC)', 'NAME'], ...rows]));
  });
}

/** `confirm`: its name, so that no mistyped id deletes another organization. */
export async function deleteOrg(id: string, { confirm }: { confirm: string }): Promise<void> {
  await withService(async (api) => {
    await api.remove(`${base}/orgs/${encodeURIComponent(id)}?${new URLSearchParams({ name: confirm }).toString()}`);
    say(`The deletion of ${id} has begun: its keys are revoked, and a worker deletes its data.`);
  });
}

interface KeyRequest extends OfOrg {
  scope: string[];
  expires?: string;
}

export async function createKey(name: string, { scope, expires, ...shown }: KeyRequest): Promise<void> {
  const body = { name, scopes: scope, expires_at: expires ?? null };
  await withService(async (api) => showNew(await api.call<NewKey>('POST', `${base}/keys${query(shown)}`, body), shown));
}

export async function listKeys({ json = false, ...org }: OfOrg): Promise<void> {
  await withService(async (api) => {
    const keys = await api.all<Key>(`${base}/keys${query(org)}`);
    if (json) return sayJson(keys);
    const rows = keys.map((key) => [
      key.key_id,
      key.scopes.join(','),
      key.revoked_at === null ? minutes(key.expires_at) : 'revoked',
      minutes(key.last_used_at),
      key.name,
    ]);
    say(table([['KEY', 'SCOPES', 'ENDS (UTC)', 'LAST USE (UTC)', 'NAME'], ...rows]));
  });
}

export async function rotateKey(id: string, { grace, ...shown }: OfOrg & { grace: number }): Promise<void> {
  const path = `${base}/keys/${encodeURIComponent(id)}/rotate${query(shown)}`;
  await withService(async (api) => showNew(await api.call<NewKey>('POST', path, { grace_seconds: grace }), shown));
}

export async function revokeKey(id: string, org: OfOrg): Promise<void> {
  await withService(async (api) => {
    await api.remove(`${base}/keys/${encodeURIComponent(id)}${query(org)}`);
    say(`${id} is revoked.`);
  });
}

type AuditEntry = z.output<typeof auditEntrySchema>;

/** The newest changes. */
export async function listAuditLog({ json = false, limit, org }: OfOrg & { limit: number }): Promise<void> {
  const wanted = new URLSearchParams({ limit: String(limit), ...(org !== undefined && { org_id: org }) });
  await withService(async (api) => {
    const { data } = await api.call<{ data: AuditEntry[] }>('GET', `${base}/audit-log?${wanted.toString()}`);
    if (json) return sayJson(data);
    const rows = data.map((entry) => [
      entry.created_at.slice(0, 19).replace('T', ' '),
      entry.key_id ?? 'ratchet',
      String(entry.status ?? 'unknown'),
      entry.action,
      [...Object.values(entry.params), entry.created_id ?? ''].join(' '),
    ]);
    say(table([['TIME (UTC)', 'KEY', 'STATUS', 'ACTION', 'OF'], ...rows]));
  });
}

type ProviderKey = z.output<typeof providerKeySchema>;

/** Reads the key from standard input: arguments are visible to other processes. */
export async function setProviderKey(provider: string, org: OfOrg): Promise<void> {
  const key = (await text(process.stdin)).trim();
  if (key === '') throw new ConfigError('send the key on standard input');
  await withService(async (api) => {
    await api.call('PUT', `${base}/provider-keys/${encodeURIComponent(provider)}${query(org)}`, { api_key: key });
    say(`The key of ${provider} is set.`);
  });
}

export async function listProviderKeys({ json = false, ...org }: OfOrg): Promise<void> {
  await withService(async (api) => {
    const { data } = await api.call<{ data: ProviderKey[] }>('GET', `${base}/provider-keys${query(org)}`);
    if (json) return sayJson(data);
    say(table([['PROVIDER', 'SET (UTC)'], ...data.map((key) => [key.provider, minutes(key.set_at)])]));
  });
}

export async function deleteProviderKey(provider: string, org: OfOrg): Promise<void> {
  await withService(async (api) => {
    await api.remove(`${base}/provider-keys/${encodeURIComponent(provider)}${query(org)}`);
    say(`The key of ${provider} is deleted.`);
  });
}

function showNew(created: NewKey, { json = false }: Shown): void {
  if (json) return sayJson(created);
  note(`${created.key_id}, shown this once:`);
  say(created.key);
}
