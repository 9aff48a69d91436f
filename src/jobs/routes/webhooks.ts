import type { z } from 'zod';
import { rotateWebhookSecretSchema, webhookSecretSchema, type WebhookView } from '../../contracts/webhook.js';
import { readWebhookSecrets, rotateWebhookSecret, type WebhookSecrets } from '../../access/store/webhook-secret.js';
import type { WebhookState } from '../store/webhooks.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';

const path = '/api/v1/webhooks/secret';

/** The secret that verifies webhooks, and its change. */
export function registerWebhooks(app: App, { db, secretKey }: HttpDeps): void {
  app.get(
    path,
    {
      // Whoever has it can forge webhooks.
      config: { scope: 'admin', audit: 'read' },
      schema: {
        tags: ['Webhooks'],
        operationId: 'getWebhookSecret',
        summary: 'The secret that verifies the signatures of webhooks',
        response: { 200: webhookSecretSchema, ...problems() },
      },
    },
    async ({ caller: { orgId } }) => viewOf(await db.org(orgId, (tx) => readWebhookSecrets(tx, secretKey, orgId))),
  );

  app.post(
    `${path}/rotate`,
    {
      // A stored response would hold the secret.
      config: { scope: 'admin', idempotency: 'none' },
      schema: {
        tags: ['Webhooks'],
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the secret that verifies the signatures of webhooks',
        description:
          'In the grace messages have a signature by each of the two; a secret before them ends at once. Idempotency-Key has no effect, since no response is kept.',
        body: rotateWebhookSecretSchema,
        response: { 200: webhookSecretSchema, ...bodyProblems() },
      },
    },
    async ({ caller: { orgId }, body }) =>
      viewOf(await db.org(orgId, (tx) => rotateWebhookSecret(tx, secretKey, orgId, body.grace_seconds))),
  );
}

function viewOf({ current, previous }: WebhookSecrets): z.output<typeof webhookSecretSchema> {
  return { secret: current, previous_valid_until: previous?.until.toISOString() ?? null };
}

/** The field `webhook` of a job; only the origin of its URL, since the rest may hold a token. */
export function webhookView(webhook: WebhookState | null): WebhookView | null {
  if (!webhook) return null;
  const { url, status, attempts, lastError, settledAt } = webhook;
  return {
    origin: new URL(url).origin,
    status: status === 'due' ? 'sending' : status,
    attempts,
    last_error: lastError,
    settled_at: settledAt && new Date(settledAt).toISOString(),
  };
}
