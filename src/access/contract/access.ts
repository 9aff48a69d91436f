/** Organizations and API keys. */
import { z } from 'zod';
import { lineSchema } from '../../contracts/rules.js';
import { scopes } from './scopes.js';
import { largestWhole } from '../../contracts/validation.js';

export const scopeSchema = z.enum(scopes).meta({
  id: 'Scope',
  description:
    'read: read jobs and their results; write: change them; infer: model calls; admin: keys and organizations. No scope includes another.',
});
export type Scope = z.output<typeof scopeSchema>;

const label = lineSchema(100);
const expiry = z.iso
  .datetime({ offset: true, error: 'must be a time in ISO 8601 with an offset' })
  .refine((time) => new Date(time).getTime() > Date.now(), 'must be in the future');

export const orgQuerySchema = z.strictObject({
  org_id: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,100}$/, 'must be the id of an organization')
    .optional()
    .describe('Default: the organization of the key. Another one: only with a key of the organization `default`.'),
});

export const createOrgSchema = z.strictObject({ name: label });
export const deleteOrgQuerySchema = z.strictObject({
  name: z.string().describe('The name of the organization, as a confirmation.'),
});
export const orgSchema = z
  .object({
    org_id: z.string(),
    name: z.string(),
    created_at: z.string(),
    deleted_at: z.string().nullable().describe('When its deletion began. It disappears once all its data is gone.'),
  })
  .meta({ id: 'Organization' });

export const createKeySchema = z.strictObject({
  name: label,
  scopes: z
    .array(scopeSchema)
    .min(1, 'must hold at least one scope')
    .max(scopes.length)
    .transform((given) => scopes.filter((scope) => given.includes(scope))),
  expires_at: expiry.nullish().describe('The key is refused from then on. Default: never.'),
});

const longestGraceS = 30 * 24 * 3_600;
export const rotateKeySchema = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(longestGraceS)
    .default(0)
    .describe('How long the replaced key stays valid, unless it expires before.'),
});

const largest = 1_000_000_000;
/** All limits of a key: one that is left out is removed. */
export const setKeyLimitsSchema = z.strictObject({
  requests_per_minute: z
    .int()
    .min(1)
    .max(largest)
    .nullish()
    .describe('Requests with an API key in a minute of the clock; those of containers in jobs do not count.'),
  calls_in_flight: z
    .int()
    .min(1)
    .max(largest)
    .nullish()
    .describe('Model calls with an API key at a time, of deployments and the proxy; those of containers do not count.'),
  open_jobs: z
    .int()
    .min(0)
    .max(largest)
    .nullish()
    .describe('Jobs that are pending, running or paused: sessions, evaluations, graph jobs, deployments being built.'),
  spend_usd_per_day: z
    .number()
    .min(0)
    .max(largest)
    .nullish()
    .describe('Dollars of model calls in a UTC day: of jobs that the key or organization created, and of deployments.'),
});
/** All limits of an organization. */
export const setOrgLimitsSchema = setKeyLimitsSchema.extend({
  stored_bytes: z
    .int()
    .min(0)
    .max(largestWhole)
    .nullish()
    .describe('Bytes of data sets, of the requests that made jobs, and of recorded model calls.'),
});
export const limitsSchema = z
  .object({
    org_id: z.string(),
    key_id: z.string().nullable().describe('null: the limits of the organization.'),
    limits: z
      .object({
        requests_per_minute: z.int().nullable(),
        calls_in_flight: z.int().nullable(),
        open_jobs: z.int().nullable(),
        stored_bytes: z.int().nullable().describe('Of an organization; null for a key.'),
        spend_usd_per_day: z.number().nullable(),
      })
      .describe('null: without limit.'),
    used: z.object({
      open_jobs: z.int(),
      stored_bytes: z.int().optional().describe('Of an organization.'),
      spend_usd_per_day: z.number().describe('Today.'),
    }),
  })
  .meta({ id: 'Limits' });

const time = z.string().nullable();
export const keySchema = z
  .object({
    key_id: z.string(),
    org_id: z.string(),
    name: z.string(),
    scopes: z.array(scopeSchema),
    created_at: z.string(),
    expires_at: time,
    revoked_at: time,
    last_used_at: time.describe('To the minute.'),
    replaced_by: z.string().nullable().describe('The key that a rotation made in its place.'),
  })
  .meta({ id: 'ApiKey' });

export const setProviderKeySchema = z.strictObject({
  api_key: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')
    .max(4_096)
    .describe('Stored encrypted and never returned.'),
});
export const providerKeySchema = z.object({ provider: z.string(), set_at: z.string() }).meta({ id: 'ProviderKey' });

export const newKeySchema = keySchema
  .extend({ key: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'NewApiKey' });

export const auditEntrySchema = z
  .object({
    audit_id: z.string(),
    created_at: z.string(),
    org_id: z.string().describe('The organization of the key.'),
    target_org_id: z.string().nullable().describe('Another organization, which an operator changed.'),
    key_id: z.string().nullable().describe('null: the service itself.'),
    action: z.string().describe('Method and path pattern; `promote` for a promotion by the service.'),
    params: z.record(z.string(), z.string()).describe('The parameters of the path.'),
    created_id: z.string().nullable().describe('What the request created.'),
    status: z.int().nullable().describe('Of the answer; null: in progress, or the process died meanwhile.'),
    request_id: z.string().nullable().describe("The service's own; its log has it. null: the service itself."),
    client_request_id: z.string().nullable().describe('The x-request-id that the caller sent.'),
  })
  .meta({ id: 'AuditEntry' });
