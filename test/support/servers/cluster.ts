import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { databaseUrl as serverUrl, logLevel, temporalAddress } from '../environment.js';
import { createDatabase, dropDatabase } from './embedded.js';
import { createNamespace } from '../service.js';

/**
 * Resources of several processes of one installation: an unmigrated database, a Temporal namespace
 * without search attributes, keys, and clients for the test; default: on the servers of the run.
 */
export async function startCluster(servers = { databaseUrl: serverUrl(), temporalAddress: temporalAddress() }) {
  const databaseUrl = await createDatabase('empty', servers.databaseUrl);
  const namespace = `test-${randomUUID().slice(0, 8)}`;
  const connection = await Connection.connect({ address: servers.temporalAddress });
  await createNamespace(connection, namespace);
  const apiKey = `scale-key-${randomUUID()}`;
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
    RATCHET_API_KEY: apiKey,
    RATCHET_EGRESS: 'dev',
    RATCHET_LOG_LEVEL: logLevel('silent'),
  };
  const db = connect(databaseUrl, pino({ level: 'silent' }), 2);
  return {
    env,
    apiKey,
    db,
    temporal: new Client({ connection, namespace }),
    async close() {
      await db.close();
      await connection.close();
      await dropDatabase(databaseUrl, servers.databaseUrl);
    },
  };
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
