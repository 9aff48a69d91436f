import { z } from 'zod';
import { limitsSchema, orgQuerySchema, setKeyLimitsSchema, setOrgLimitsSchema } from '../contract/access.js';
import { keyExists } from '../store/keys.js';
import { readLimits, setLimits, type Limits } from '../store/limits.js';
import { readSpendToday } from '../store/spend-quota.js';
import { readStoredBytes } from '../store/stored-bytes.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { countOpenJobs } from '../store/quota.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import { adminBase } from '../../platform/http/server/scopes.js';
import { unknownKey } from './keys.js';
import { managedOrg, requireOperator } from './orgs.js';

const tags = ['Access'];
const ofOrg = `${adminBase}/limits`;
const ofKey = `${adminBase}/keys/:key_id/limits`;
const keyParams = z.object({ key_id: z.string() });
const replaced = 'A limit that is left out is removed. Every process knows them after at most 5 seconds.';

/** The limits of an organization, which operators set, and of its keys, which it sets itself. */
export function registerLimits(app: App, { db }: Pick<HttpDeps, 'db'>): void {
  registerGetOfOrg(app, db);
  registerSetOfOrg(app, db);
  registerGetOfKey(app, db);
  registerSetOfKey(app, db);
}

function registerGetOfOrg(app: App, db: Db): void {
  app.get(
    ofOrg,
    {
      schema: {
        tags,
        operationId: 'getOrganizationLimits',
        summary: 'Read the limits of the organization',
        querystring: orgQuerySchema,
        response: { 200: limitsSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const orgId = await managedOrg(db, request);
      return db.org(orgId, (tx) => view(tx, orgId, null));
    },
  );
}

function registerSetOfOrg(app: App, db: Db): void {
  app.put(
    ofOrg,
    {
      schema: {
        tags,
        operationId: 'setOrganizationLimits',
        summary: 'Set the limits of an organization (operators)',
        description: replaced,
        querystring: orgQuerySchema,
        body: setOrgLimitsSchema,
        response: { 200: limitsSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      requireOperator(request.caller.orgId, 'sets the limits of organizations');
      const orgId = await managedOrg(db, request);
      return db.org(orgId, async (tx) => {
        await setLimits(tx, orgId, orgId, limitsIn(request.body));
        return view(tx, orgId, null);
      });
    },
  );
}

function registerGetOfKey(app: App, db: Db): void {
  app.get(
    ofKey,
    {
      schema: {
        tags,
        operationId: 'getApiKeyLimits',
        summary: 'Read the limits of a key',
        params: keyParams,
        querystring: orgQuerySchema,
        response: { 200: limitsSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const orgId = await managedOrg(db, request);
      const { key_id: id } = request.params;
      return db.org(orgId, async (tx) => {
        await requireKey(tx, id);
        return view(tx, orgId, id);
      });
    },
  );
}

function registerSetOfKey(app: App, db: Db): void {
  app.put(
    ofKey,
    {
      schema: {
        tags,
        operationId: 'setApiKeyLimits',
        summary: 'Set the limits of a key',
        description: `The limits of its organization hold as well. ${replaced}`,
        params: keyParams,
        querystring: orgQuerySchema,
        body: setKeyLimitsSchema,
        response: { 200: limitsSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const orgId = await managedOrg(db, request);
      const { key_id: id } = request.params;
      return db.org(orgId, async (tx) => {
        await requireKey(tx, id);
        await setLimits(tx, orgId, id, limitsIn(request.body));
        return view(tx, orgId, id);
      });
    },
  );
}

async function requireKey(tx: Tx, id: string): Promise<void> {
  if (!(await keyExists(tx, id))) throw unknownKey(id);
}

function limitsIn(body: z.output<typeof setKeyLimitsSchema> & { stored_bytes?: number | null | undefined }): Limits {
  return {
    requestsPerMinute: body.requests_per_minute ?? null,
    callsInFlight: body.calls_in_flight ?? null,
    openJobs: body.open_jobs ?? null,
    storedBytes: body.stored_bytes ?? null,
    spendUsdPerDay: body.spend_usd_per_day ?? null,
  };
}

async function view(tx: Tx, orgId: string, keyId: string | null): Promise<z.output<typeof limitsSchema>> {
  const of = { orgId, subject: keyId ?? orgId };
  const [limits, openJobs, spent, bytes] = await Promise.all([
    readLimits(tx, of.subject),
    countOpenJobs(tx, of),
    readSpendToday(tx, of),
    keyId === null ? readStoredBytes(tx, orgId) : null,
  ]);
  return {
    org_id: orgId,
    key_id: keyId,
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      calls_in_flight: limits.callsInFlight,
      open_jobs: limits.openJobs,
      stored_bytes: limits.storedBytes,
      spend_usd_per_day: limits.spendUsdPerDay,
    },
    used: { open_jobs: openJobs, ...(bytes !== null && { stored_bytes: bytes }), spend_usd_per_day: spent },
  };
}
