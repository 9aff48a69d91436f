import { ensureBootstrapKey } from '../access/store/keys.js';
import { operatorOrg } from '../access/store/orgs.js';
import { connect, type Db } from '../platform/db/db.js';
import { listen } from '../platform/db/notifications.js';
import { checkDatabase } from '../platform/db/start-check.js';
import { clientOf, connectClient, explainFault, isFaultOfTemporal } from '../platform/temporal/connection.js';
import { identifyInstallation } from '../platform/temporal/installation.js';
import { registerSearchAttributes } from '../platform/temporal/search-attributes.js';
import type { Basis, Shared } from './parts.js';

/** Postgres connections of each role; several API processes share them. */
const connections = 20;
const fewest = 4;

/** Difference from the clock of Postgres beyond a slow answer. */
const mostSkewS = 30;

/** Connects to Postgres, checks that it is ours and holds the first API key, then to Temporal. */
export async function connectServers(basis: Basis): Promise<Pick<Shared, 'db' | 'notifications' | 'temporal'>> {
  const { config, roles, log, life, secretKey, apiKey, servers } = basis;
  const db = openDatabase(basis);
  const setting = config.appDatabaseUrl === null ? 'DATABASE_URL' : 'RATCHET_APP_DATABASE_URL';
  const { aheadS } = await checkDatabase(db, secretKey, { url: servers.databaseUrl, setting });
  if (Math.abs(aheadS) > mostSkewS)
    log.warn(`the clock of this machine is ${aheadS.toFixed()} s ahead of Postgres': synchronize both, as by NTP`);
  if (apiKey) await ensureBootstrapKey(db, secretKey, operatorOrg, apiKey.value);
  const notifications = listen(servers.databaseUrl, log);
  life.onStop(() => notifications.close());
  const client = await connectClient(servers.temporal, config.codecKey, roles.work);
  life.onStop(() => client.connection.close());
  const inOneLine = async (error: Error) => {
    throw isFaultOfTemporal(error) ? await explainFault(servers.temporal, error) : error;
  };
  const installation = await identifyInstallation(client, db, log, config.taskQueue).catch(inOneLine);
  // An API alone does not wait for Temporal: reads work without it; /readyz reports it as missing.
  if (roles.work) await registerSearchAttributes(client).catch(inOneLine);
  return { db, notifications, temporal: clientOf(client, config.codecKey, installation) };
}

/** Opens a role's pool of connections to Postgres. */
export function openDatabase({ servers, roles, log, life }: Basis): Db {
  const db = connect(servers.databaseUrl, log, Math.max(fewest, Math.ceil(connections / (roles.processes ?? 1))));
  life.onStop(() => db.close());
  return db;
}
