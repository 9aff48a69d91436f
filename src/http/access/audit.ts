import type { FastifyReply, FastifyRequest } from 'fastify';
import { announceChange, settleChange, withdrawChange } from '../../storage/access/audit-log.js';
import { operatorOrg } from '../../storage/access/orgs.js';
import { asObject } from '../../util/json.js';
import type { App, HttpDeps } from '../deps.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `none`: what the route changes is data that is on record by itself. */
    audit?: 'none';
  }
}

const safeMethods = ['GET', 'HEAD'];

/**
 * Announces each change in the audit log before its handler runs, and settles or withdraws the
 * entry before the answer: no change is without an entry. Register after idempotency.
 */
export function registerAudit(app: App, { db, log }: Pick<HttpDeps, 'db' | 'log'>): void {
  const announced = new WeakMap<FastifyRequest, string>();

  app.addHook('preHandler', (request, _reply, done) => {
    const { config, url } = request.routeOptions;
    const changes = config.scope === 'write' || config.scope === 'admin';
    if (!changes || safeMethods.includes(request.method) || config.audit === 'none') return done();
    const { orgId, keyId } = request.caller;
    const entry = {
      ...{ orgId, keyId, targetOrg: targetOf(request), requestId: request.id },
      action: `${request.method} ${url}`,
      params: request.params as Record<string, string>,
    };
    db.org(orgId, (tx) => announceChange(tx, entry)).then((id) => {
      announced.set(request, id);
      done();
    }, done);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const id = announced.get(request);
    if (id === undefined) return done();
    const isMade = reply.statusCode < 400 && !reply.hasHeader('idempotency-replayed');
    db.org(request.caller.orgId, (tx) =>
      isMade ? settleChange(tx, id, reply.statusCode, createdBy(reply, payload)) : withdrawChange(tx, id),
    )
      // The change is made, and its entry stays without a status.
      .catch((error: unknown) => log.error({ err: error, audit_id: id }, 'could not settle an entry of the audit log'))
      .finally(done);
  });
}

/** The organization that an operator names in place of its own. */
function targetOf({ caller, query }: FastifyRequest): string | null {
  const { org_id: target } = query as { org_id?: string };
  return caller.orgId === operatorOrg && target !== caller.orgId ? (target ?? null) : null;
}

const idFields = ['job_id', 'key_id', 'dataset_id', 'org_id', 'id'];

/** The id of the created resource. The rest of the body may contain secrets. */
function createdBy(reply: FastifyReply, payload: unknown): string | null {
  if (reply.statusCode !== 201 || typeof payload !== 'string') return null;
  const body = asObject(JSON.parse(payload));
  const field = idFields.find((name) => typeof body?.[name] === 'string');
  return field === undefined ? null : String(body![field]);
}
