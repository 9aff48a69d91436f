import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createOrgSchema, deleteOrgQuerySchema, orgSchema, type orgQuerySchema } from '../contract/access.js';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { insertOrg, listOrgs, newOrgId, operatorOrg, orgExists, type Org } from '../store/orgs.js';
import { markOrg } from '../../retention/store/orgs.js';
import type { Db } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { iso, isoOrNull } from '../../jobs/routes/view.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, idempotencyHeader, problems } from '../../platform/http/server/schema.js';
import { adminBase } from '../../platform/http/server/scopes.js';

const tags = ['Access'];

/** Organizations: an operator creates and lists all, others see their own. */
export function registerOrgs(app: App, { db }: Pick<HttpDeps, 'db'>): void {
  app.post(
    `${adminBase}/orgs`,
    {
      schema: {
        tags,
        operationId: 'createOrganization',
        summary: 'Create an organization (operators)',
        headers: idempotencyHeader,
        body: createOrgSchema,
        response: { 201: orgSchema, ...bodyProblems() },
      },
    },
    async (request, reply) => {
      requireOperator(request.caller.orgId, 'creates organizations');
      const id = newOrgId();
      const org = await db.org(id, (tx) => insertOrg(tx, { id, name: request.body.name }));
      return reply.code(201).send(viewOf(org));
    },
  );

  app.get(
    `${adminBase}/orgs`,
    {
      schema: {
        tags,
        operationId: 'listOrganizations',
        summary: 'List organizations, newest first: all for an operator, otherwise your own',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(orgSchema), ...problems(422) },
      },
    },
    async ({ caller: { orgId }, query: { limit, cursor } }) => {
      const page = { after: parseTimeCursor(cursor), limit: limit + 1 };
      const rows = await (isOperator(orgId)
        ? db.operator((tx) => listOrgs(tx, page))
        : db.org(orgId, (tx) => listOrgs(tx, page)));
      return timedPage(rows, limit, ({ id }) => id, viewOf);
    },
  );

  app.delete(
    `${adminBase}/orgs/:org_id`,
    {
      schema: {
        tags,
        operationId: 'deleteOrganization',
        summary: 'Delete an organization with all its data (operators)',
        description:
          'Revokes its keys, ends its jobs, and deletes everything that it has in Postgres and Temporal. A worker does so in the next minutes.',
        params: z.object({ org_id: z.string() }),
        querystring: deleteOrgQuerySchema,
        response: { 204: z.undefined().describe('Its deletion has begun.'), ...problems(404, 409, 422) },
      },
    },
    async (request, reply) => {
      requireOperator(request.caller.orgId, 'deletes organizations');
      const { org_id: id } = request.params;
      if (id === operatorOrg)
        throw new ApiError(409, 'operator_org', `The organization "${operatorOrg}" operates the service and stays.`);
      const marked = await db.org(id, (tx) => markOrg(tx, id, request.query.name));
      if (marked === 'unknown') throw refuse.notFound(`organization ${id.slice(0, 100)}`);
      if (marked === 'mismatch')
        throw new ApiError(409, 'name_mismatch', `The organization ${id} has another name than "name" says.`);
      return reply.code(204).send();
    },
  );
}

const isOperator = (orgId: string) => orgId === operatorOrg;

/** Refuses a caller that does not operate the service; `what`: as in "creates organizations". */
export function requireOperator(callerOrg: string, what: string): void {
  if (isOperator(callerOrg)) return;
  throw new ApiError(403, 'not_operator', `Only an admin key of the organization "${operatorOrg}" ${what}.`);
}

/** The organization that a request manages; one that the caller may not see does not exist. */
export async function managedOrg(
  db: Db,
  { caller, query }: Pick<FastifyRequest, 'caller'> & { query: z.output<typeof orgQuerySchema> },
): Promise<string> {
  const { org_id: requested = caller.orgId } = query;
  if (requested === caller.orgId) return requested;
  const exists = isOperator(caller.orgId) && (await db.org(requested, (tx) => orgExists(tx, requested)));
  if (!exists) throw refuse.notFound(`organization ${requested}`);
  return requested;
}

function viewOf({ id, name, createdAt, deletedAt }: Org): z.output<typeof orgSchema> {
  return { org_id: id, name, created_at: iso(createdAt), deleted_at: isoOrNull(deletedAt) };
}
