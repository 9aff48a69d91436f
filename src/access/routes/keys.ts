import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { createKeySchema, keySchema, newKeySchema, orgQuerySchema, rotateKeySchema } from '../contract/access.js';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { createKey, listKeys, revokeKey, rotateKey, type KeyRecord, type RotationRefusal } from '../store/keys.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { iso, isoOrNull } from '../../jobs/routes/view.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import { adminBase } from '../../platform/http/server/scopes.js';
import { managedOrg } from './orgs.js';

const tags = ['Access'];
const base = `${adminBase}/keys`;
const params = z.object({ key_id: z.string() });
const shownOnce = 'The response shows the key, this once; Idempotency-Key has no effect, since no response is kept.';

type Deps = Pick<HttpDeps, 'db' | 'secretKey'>;

/** The API keys of an organization. */
export function registerKeys(app: App, deps: Deps): void {
  registerCreate(app, deps);
  registerList(app, deps);
  registerRotate(app, deps);
  registerRevoke(app, deps);
}

function registerCreate(app: App, { db, secretKey }: Deps): void {
  app.post(
    base,
    {
      // A stored response would hold the key.
      config: { idempotency: 'none' },
      schema: {
        tags,
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: shownOnce,
        querystring: orgQuerySchema,
        body: createKeySchema,
        response: { 201: newKeySchema, ...bodyProblems(404) },
      },
    },
    async (request, reply) => {
      const orgId = await managedOrg(db, request);
      const { name, scopes, expires_at: expires } = request.body;
      const expiresAt = expires ? new Date(expires) : null;
      return sendNew(reply, await db.org(orgId, (tx) => createKey(tx, secretKey, { orgId, name, scopes, expiresAt })));
    },
  );
}

function registerList(app: App, { db }: Deps): void {
  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listApiKeys',
        summary: 'List API keys, newest first',
        querystring: orgQuerySchema.extend(pageQuery),
        response: { 200: pageSchema(keySchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseTimeCursor(cursor);
      const orgId = await managedOrg(db, request);
      const rows = await db.org(orgId, (tx) => listKeys(tx, { after, limit: limit + 1 }));
      return timedPage(rows, limit, ({ id }) => id, viewOf);
    },
  );
}

function registerRotate(app: App, { db, secretKey }: Deps): void {
  app.post(
    `${base}/:key_id/rotate`,
    {
      config: { idempotency: 'none' },
      schema: {
        tags,
        operationId: 'rotateApiKey',
        summary: 'Replace an API key',
        description: `The new key has the name, the scopes, the lifetime and the limits of the replaced one. ${shownOnce}`,
        params,
        querystring: orgQuerySchema,
        body: rotateKeySchema,
        response: { 201: newKeySchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const orgId = await managedOrg(db, request);
      const { key_id: id } = request.params;
      const rotated = await db.org(orgId, (tx) => rotateKey(tx, secretKey, id, request.body.grace_seconds));
      if (typeof rotated === 'string') throw refusalOf(rotated, id);
      return sendNew(reply, rotated);
    },
  );
}

function registerRevoke(app: App, { db }: Deps): void {
  app.delete(
    `${base}/:key_id`,
    {
      schema: {
        tags,
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Every process refuses it after at most 5 seconds. It stays in the list.',
        params,
        querystring: orgQuerySchema,
        response: { 204: z.undefined().describe('Revoked.'), ...problems(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const orgId = await managedOrg(db, request);
      const { key_id: id } = request.params;
      const outcome = await db.org(orgId, (tx) => revokeKey(tx, id));
      if (outcome !== 'revoked') throw refusalOf(outcome, id);
      return reply.code(204).send();
    },
  );
}

export const unknownKey = (id: string) => refuse.notFound(`API key ${id.slice(0, 100)}`);

function refusalOf(refusal: RotationRefusal, id: string): ApiError {
  switch (refusal) {
    case 'unknown':
      return unknownKey(id);
    case 'bootstrap':
      return new ApiError(409, 'bootstrap_key', 'RATCHET_API_KEY sets this key: change the setting and restart.');
    case 'replaced':
      return new ApiError(409, 'key_replaced', `The key ${id} was rotated already; see its replaced_by.`);
    case 'ended':
      return new ApiError(409, 'key_ended', `The key ${id} is revoked or expired; create a new one.`);
  }
}

function sendNew(reply: FastifyReply, { record, key }: { record: KeyRecord; key: string }): FastifyReply {
  return reply
    .code(201)
    .header('cache-control', 'no-store')
    .send({ ...viewOf(record), key });
}

function viewOf(record: KeyRecord): z.output<typeof keySchema> {
  return {
    key_id: record.id,
    org_id: record.orgId,
    name: record.name,
    scopes: record.scopes,
    created_at: iso(record.createdAt),
    expires_at: isoOrNull(record.expiresAt),
    revoked_at: isoOrNull(record.revokedAt),
    last_used_at: isoOrNull(record.lastUsedAt),
    replaced_by: record.replacedBy,
  };
}
