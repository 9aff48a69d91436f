import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { connect } from '../../../src/storage/db/db.js';
import { logLevel, temporalAddress } from '../environment.js';
import { createDatabase } from './embedded.js';
import { createNamespace } from '../service.js';

/**
 * Resources of several processes of one installation: an unmigrated database, a Temporal namespace
 * without search attributes, keys, and clients for the test.
 */
export async function startCluster() {
  const databaseUrl = await createDatabase('empty');
  const namespace = `test-${randomUUID().slice(0, 8)}`;
  const connection = await Connection.connect({ address: temporalAddress() });
  await createNamespace(connection, namespace);
  const apiKey = `scale-key-${randomUUID()}`;
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress(),
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
    },
  };
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
