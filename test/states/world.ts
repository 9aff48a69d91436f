import type { Client } from '@temporalio/client';
import type { Sql } from '../harness/evidence/found.js';
import { rolesOf } from '../harness/worlds/roles.js';
import type { Restartable } from '../harness/worlds/restartable.js';
import type { Servers } from '../harness/worlds/world.js';
import { startCluster } from '../support/servers/cluster.js';
import { startHeldContainer, type HeldContainer } from './held-container.js';

/** An HTTP answer, its body parsed. */
export interface Reply {
  code: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** One API and one worker as processes on their own database and namespace, with a container. */
export interface World {
  container: HeldContainer;
  temporal: Client;
  api: Restartable;
  worker: Restartable;
  /** Calls the API. Rejects only without an answer. */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown, idempotencyKey?: string): Promise<Reply>;
  /** Reads the database. */
  sql: Sql;
  stop(): Promise<void>;
}

export async function startWorld(servers: Servers): Promise<World> {
  const { env, apiKey, db, temporal, close } = await startCluster(servers);
  const container = await startHeldContainer();
  const { url, api, worker } = await rolesOf(env);
  await api.start();
  await worker.start();
  return {
    container,
    temporal,
    api,
    worker,
    async call(method, path, body, idempotencyKey) {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        code: response.status,
        headers: response.headers,
        // Not response.json(): under jest its objects come from another realm, and equal none of
        // ours.
        body: JSON.parse(await response.text()) as Record<string, unknown>,
      };
    },
    sql: (text, values) => db.org('default', (tx) => tx.query(text, values)),
    async stop() {
      await worker.kill();
      await api.kill();
      await container.close();
      await close();
    },
  };
}
