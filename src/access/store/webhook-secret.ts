/** The secrets that sign an organization's webhooks (32 bytes, Standard Webhooks). */
import { createHmac } from 'node:crypto';
import type { Tx } from '../../platform/db/db.js';

/** The first signs all messages; the one before it signs them as well until its grace ends. */
export interface WebhookSecrets {
  current: string;
  previous: { secret: string; until: Date } | null;
}

interface Changes extends Record<string, unknown> {
  changes: number;
  until: Date | null;
}

/** What follows from the organization's row: a secret is stored nowhere. */
export async function readWebhookSecrets(tx: Tx, secretKey: Buffer, orgId: string): Promise<WebhookSecrets> {
  const [row] = await tx.query<Changes>(
    `select webhook_secrets as changes, case when webhook_grace_until > now() then webhook_grace_until end as until
       from orgs where id = $1`,
    [orgId],
  );
  return secretsOf(secretKey, orgId, row!);
}

/** Makes a new secret; the current one is valid for `graceS` seconds more, an earlier one ends. */
export async function rotateWebhookSecret(
  tx: Tx,
  secretKey: Buffer,
  orgId: string,
  graceS: number,
): Promise<WebhookSecrets> {
  const [row] = await tx.query<Changes>(
    `update orgs set webhook_secrets = webhook_secrets + 1,
            webhook_grace_until = case when $2::float8 > 0 then now() + make_interval(secs => $2::float8) end
      where id = $1 returning webhook_secrets as changes, webhook_grace_until as until`,
    [orgId, graceS],
  );
  return secretsOf(secretKey, orgId, row!);
}

function secretsOf(secretKey: Buffer, orgId: string, { changes, until }: Changes): WebhookSecrets {
  const previous = until && { secret: secretOf(secretKey, orgId, changes - 1), until };
  return { current: secretOf(secretKey, orgId, changes), previous };
}

function secretOf(secretKey: Buffer, orgId: string, changes: number): string {
  const name = `ratchet webhooks v1 ${orgId}${changes === 0 ? '' : ` ${changes}`}`;
  return `whsec_${createHmac('sha256', secretKey).update(name).digest('base64')}`;
}
