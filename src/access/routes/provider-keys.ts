import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { orgQuerySchema, providerKeySchema, setProviderKeySchema } from '../contract/access.js';
import {
  deleteProviderKey,
  listProviderKeys,
  ownProviders,
  putProviderKey,
  type ProviderKeyRecord,
} from '../store/provider-keys.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { iso } from '../../jobs/routes/view.js';
import { refuse } from '../../platform/http/server/errors.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import { adminBase } from '../../platform/http/server/scopes.js';
import { managedOrg } from './orgs.js';

const tags = ['Access'];
const base = `${adminBase}/provider-keys`;
const params = z.object({ provider: z.string() });

/** An organization's own keys of model providers; no route returns one. */
export function registerProviderKeys(app: App, deps: HttpDeps): void {
  const { db, secretKey } = deps;

  app.put(
    `${base}/:provider`,
    {
      schema: {
        tags,
        operationId: 'setProviderKey',
        summary: "Set the organization's key of a provider",
        description: "Its model calls use it in place of the service's key, after at most 5 seconds.",
        params,
        querystring: orgQuerySchema,
        body: setProviderKeySchema,
        response: { 200: providerKeySchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const orgId = await managedOrg(db, request);
      const { provider } = request.params;
      if (provider === 'local' || deps.checkProvider(provider, new Set([provider])) !== null)
        throw refuse.notFound(`provider ${provider.slice(0, 100)} with an address`);
      return viewOf(
        await db.org(orgId, (tx) => putProviderKey(tx, secretKey, { orgId, provider, value: request.body.api_key })),
      );
    },
  );

  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listProviderKeys',
        summary: 'List the providers for which the organization has its own key',
        querystring: orgQuerySchema,
        response: { 200: z.object({ data: z.array(providerKeySchema) }), ...problems(404, 422) },
      },
    },
    async (request) => {
      const orgId = await managedOrg(db, request);
      return { data: (await db.org(orgId, (tx) => listProviderKeys(tx, orgId))).map(viewOf) };
    },
  );

  app.delete(
    `${base}/:provider`,
    {
      schema: {
        tags,
        operationId: 'deleteProviderKey',
        summary: "Delete the organization's key of a provider",
        params,
        querystring: orgQuerySchema,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 422) },
      },
    },
    async (request, reply) => {
      const orgId = await managedOrg(db, request);
      const { provider } = request.params;
      if (!(await db.org(orgId, (tx) => deleteProviderKey(tx, orgId, provider))))
        throw refuse.notFound(`key of the provider ${provider.slice(0, 100)}`);
      return reply.code(204).send();
    },
  );
}

/** The dependencies, with providers checked as the caller's organization can use them. */
export async function checkedForCaller(
  deps: HttpDeps,
  { caller }: { caller: Pick<FastifyRequest['caller'], 'orgId'> },
): Promise<HttpDeps> {
  const own = await ownProviders(deps.db, caller.orgId);
  return { ...deps, checkProvider: (name) => deps.checkProvider(name, own) };
}

function viewOf({ provider, setAt }: ProviderKeyRecord): z.output<typeof providerKeySchema> {
  return { provider, set_at: iso(setAt) };
}
