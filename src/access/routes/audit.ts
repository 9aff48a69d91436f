import type { FastifyRequest } from 'fastify';
import { announceChange, settleChange, withdrawChange } from '../store/audit-log.js';
import { operatorOrg } from '../store/orgs.js';
import { asObject } from '../../util/json.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { isDryRun } from '../../jobs/routes/dry-run.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `none`: what the route changes is data that is on record by itself; `read`: a read that hands
     * out a secret.
     */
    audit?: 'none' | 'read';
  }
}

const safeMethods = ['GET', 'HEAD'];

/**
 * Announces each change in the audit log before its handler runs, and settles or withdraws the
 * entry before the answer: no change is without an entry. Register after idempotency.
 */
export function registerAudit(app: App, { db, log }: Pick<HttpDeps, 'db' | 'log'>): void {
  const announced = new WeakMap<FastifyRequest, string>();
  const created = new WeakMap<FastifyRequest, string>();

  app.addHook('preHandler', (request, _reply, done) => {
    const { config, url } = request.routeOptions;
    const changes = (config.scope === 'write' || config.scope === 'admin') && !safeMethods.includes(request.method);
    const isAnnounced = config.audit === 'read' || (changes && config.audit !== 'none' && !isDryRun(request));
    if (!isAnnounced) return done();
    const { orgId, keyId } = request.caller;
    const entry = {
      orgId,
      keyId,
      targetOrg: targetOf(request),
      ...request.ids,
      action: `${request.method} ${url}`,
      params: request.params as Record<string, string>,
    };
    db.org(orgId, (tx) => announceChange(tx, entry)).then((id) => {
      announced.set(request, id);
      done();
    }, done);
  });

  app.addHook('preSerialization', (request, { statusCode }, payload, done) => {
    const id = statusCode === 201 ? idIn(payload) : null;
    if (id !== null) created.set(request, id);
    done(null, payload);
  });

  app.addHook('onSend', (request, reply, _payload, done) => {
    const id = announced.get(request);
    if (id === undefined) return done();
    const isMade = reply.statusCode < 400 && !reply.hasHeader('idempotency-replayed');
    db.org(request.caller.orgId, (tx) =>
      isMade ? settleChange(tx, id, reply.statusCode, created.get(request) ?? null) : withdrawChange(tx, id),
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

const idFields = ['job_id', 'key_id', 'dataset_id', 'schedule_id', 'org_id', 'id'];

/** The id of the created resource. The rest of the response may contain secrets. */
function idIn(payload: unknown): string | null {
  const response = asObject(payload);
  const field = idFields.find((name) => typeof response?.[name] === 'string');
  return field === undefined ? null : String(response![field]);
}
