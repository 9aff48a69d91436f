import type { z } from 'zod';
import { auditEntrySchema, orgQuerySchema } from '../contract/access.js';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { listAuditLog, type AuditEntry } from '../store/audit-log.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { iso } from '../../jobs/routes/view.js';
import { parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { problems } from '../../platform/http/server/schema.js';
import { adminBase } from '../../platform/http/server/scopes.js';
import { managedOrg } from './orgs.js';

/** The audit log of an organization. */
export function registerAuditLog(app: App, { db }: Pick<HttpDeps, 'db'>): void {
  app.get(
    `${adminBase}/audit-log`,
    {
      schema: {
        tags: ['Access'],
        operationId: 'listAuditEntries',
        summary: 'Changes by keys of the organization and to the organization, newest first',
        querystring: orgQuerySchema.extend(pageQuery),
        response: { 200: pageSchema(auditEntrySchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseTimeCursor(cursor);
      const orgId = await managedOrg(db, request);
      const rows = await db.org(orgId, (tx) => listAuditLog(tx, { after, limit: limit + 1 }));
      return timedPage(rows, limit, ({ id }) => id, viewOf);
    },
  );
}

function viewOf(entry: AuditEntry): z.output<typeof auditEntrySchema> {
  return {
    audit_id: entry.id,
    created_at: iso(entry.createdAt),
    org_id: entry.orgId,
    target_org_id: entry.targetOrg,
    key_id: entry.keyId,
    action: entry.action,
    params: entry.params,
    created_id: entry.createdId,
    status: entry.status,
    request_id: entry.requestId,
    client_request_id: entry.clientRequestId,
  };
}
