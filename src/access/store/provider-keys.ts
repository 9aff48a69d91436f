import { ExpiringMap } from '../../util/expiring-map.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { openSecret, seal } from './secrets.js';

/** A provider key without the key itself. */
export interface ProviderKeyRecord {
  provider: string;
  setAt: Date;
}

const columns = `provider, set_at as "setAt"`;
const aad = (orgId: string, provider: string) => JSON.stringify(['provider key', orgId, provider]);

/** Stores an organization's key of a provider, encrypted, in place of an earlier one. */
export async function putProviderKey(
  tx: Tx,
  secretKey: Buffer,
  { orgId, provider, value }: { orgId: string; provider: string; value: string },
): Promise<ProviderKeyRecord> {
  const [record] = await tx.query<ProviderKeyRecord>(
    `insert into provider_keys (org_id, provider, ciphertext) values ($1, $2, $3)
     on conflict (org_id, provider) do update set ciphertext = excluded.ciphertext, set_at = now()
     returning ${columns}`,
    [orgId, provider, seal(secretKey, value, aad(orgId, provider))],
  );
  return record!;
}

/** The organization's keys by provider. */
export async function listProviderKeys(tx: Tx, orgId: string): Promise<ProviderKeyRecord[]> {
  return tx.query<ProviderKeyRecord>(`select ${columns} from provider_keys where org_id = $1 order by provider`, [
    orgId,
  ]);
}

/** The providers for which the organization has its own key. */
export async function ownProviders(db: Db, orgId: string): Promise<ReadonlySet<string>> {
  const records = await db.orgApart(orgId, (tx) => listProviderKeys(tx, orgId));
  return new Set(records.map(({ provider }) => provider));
}

/** False: there is none. */
export async function deleteProviderKey(tx: Tx, orgId: string, provider: string): Promise<boolean> {
  const rows = await tx.query('delete from provider_keys where org_id = $1 and provider = $2 returning provider', [
    orgId,
    provider,
  ]);
  return rows.length > 0;
}

/** The maximum delay of a new or deleted key. */
const cachedMs = 5_000;
const cachedOrgs = 10_000;

/** Reads the organization's own key of a provider, or null; `fresh`: not from the cache. */
export type ReadProviderKey = (orgId: string, provider: string, fresh: boolean) => Promise<string | null>;

/** Reads provider keys with a cache: calls of an organization share one query. */
export function createProviderKeys(db: Db, secretKey: Buffer): ReadProviderKey {
  const cache = new ExpiringMap<string, Promise<ReadonlyMap<string, Buffer>>>(cachedOrgs, cachedMs);
  const read = async (orgId: string): Promise<ReadonlyMap<string, Buffer>> => {
    const rows = await db.orgApart(orgId, (tx) =>
      tx.query<{ provider: string; ciphertext: Buffer }>(
        'select provider, ciphertext from provider_keys where org_id = $1',
        [orgId],
        'provider_keys',
      ),
    );
    return new Map(rows.map(({ provider, ciphertext }) => [provider, ciphertext]));
  };
  return async (orgId, provider, fresh) => {
    const known = fresh ? undefined : cache.get(orgId);
    const keys = known ?? read(orgId);
    if (!known) {
      cache.set(orgId, keys);
      keys.catch(() => cache.delete(orgId));
    }
    const sealed = (await keys).get(provider);
    return sealed ? openSecret(secretKey, sealed, aad(orgId, provider), `the key of ${provider}`) : null;
  };
}
