/** Commands on organizations, their keys and their audit log. */
import { text } from 'node:stream/consumers';
import { all, type Answer, type Body } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { note, say, sayJson, table } from '../service/output.js';

interface Shown {
  json?: boolean;
}
interface OfOrg extends Shown {
  org?: string;
}

const minutes = (time: string | null) => time?.slice(0, 16).replace('T', ' ') ?? '';
const of = ({ org }: OfOrg) => ({ org_id: org });

export async function createOrg(name: string, { json = false }: Shown): Promise<void> {
  await withService(async ({ orgs }) => {
    const org = await orgs.create({ name });
    if (json) sayJson(org);
    else say(org.org_id);
  });
}

export async function listOrgs({ json = false }: Shown): Promise<void> {
  await withService(async (client) => {
    const orgs = await all(client.orgs.list());
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
  await withService(async ({ orgs }) => {
    await orgs.delete(id, confirm);
    say(`The deletion of ${id} has begun: its keys are revoked, and a worker deletes its data.`);
  });
}

interface KeyRequest extends OfOrg {
  scope: Body<'createApiKey'>['scopes'];
  expires?: string;
}

export async function createKey(name: string, { scope, expires, ...shown }: KeyRequest): Promise<void> {
  const body = { name, scopes: scope, expires_at: expires ?? null };
  await withService(async ({ keys }) => showNew(await keys.create(body, of(shown)), shown));
}

export async function listKeys({ json = false, ...org }: OfOrg): Promise<void> {
  await withService(async (client) => {
    const keys = await all(client.keys.list(of(org)));
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
  const body = { grace_seconds: grace };
  await withService(async ({ keys }) => showNew(await keys.rotate(id, body, of(shown)), shown));
}

export async function revokeKey(id: string, org: OfOrg): Promise<void> {
  await withService(async ({ keys }) => {
    await keys.revoke(id, of(org));
    say(`${id} is revoked.`);
  });
}

/** The newest changes. */
export async function listAuditLog({ json = false, limit, org }: OfOrg & { limit: number }): Promise<void> {
  await withService(async (client) => {
    const { data } = await client.request('listAuditEntries', { query: { limit, org_id: org } });
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

/** Reads the key from standard input: arguments are visible to other processes. */
export async function setProviderKey(provider: string, org: OfOrg): Promise<void> {
  const key = (await text(process.stdin)).trim();
  if (key === '') throw new ConfigError('send the key on standard input');
  await withService(async ({ providerKeys }) => {
    await providerKeys.set(provider, key, of(org));
    say(`The key of ${provider} is set.`);
  });
}

export async function listProviderKeys({ json = false, ...org }: OfOrg): Promise<void> {
  await withService(async ({ providerKeys }) => {
    const { data } = await providerKeys.list(of(org));
    if (json) return sayJson(data);
    say(table([['PROVIDER', 'SET (UTC)'], ...data.map((key) => [key.provider, minutes(key.set_at)])]));
  });
}

export async function deleteProviderKey(provider: string, org: OfOrg): Promise<void> {
  await withService(async ({ providerKeys }) => {
    await providerKeys.delete(provider, of(org));
    say(`The key of ${provider} is deleted.`);
  });
}

function showNew(created: Answer<'createApiKey'>, { json = false }: Shown): void {
  if (json) return sayJson(created);
  note(`${created.key_id}, shown this once:`);
  say(created.key);
}
