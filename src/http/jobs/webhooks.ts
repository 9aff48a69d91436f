import { webhookSecretSchema, type WebhookView } from '../../contracts/webhook.js';
import { webhookSecret } from '../../storage/access/webhook-secret.js';
import type { WebhookState } from '../../storage/jobs/webhooks.js';
import type { App, HttpDeps } from '../deps.js';
import { problems } from '../server/schema.js';

/** The secret that verifies webhooks. */
export function registerWebhooks(app: App, { secretKey }: HttpDeps): void {
  app.get(
    '/api/v1/webhooks/secret',
    {
      // Whoever has it can forge webhooks.
      config: { scope: 'admin' },
      schema: {
        tags: ['Webhooks'],
        operationId: 'getWebhookSecret',
        summary: 'The secret that verifies the signatures of webhooks',
        response: { 200: webhookSecretSchema, ...problems() },
      },
    },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      return { secret: webhookSecret(secretKey, request.caller.orgId) };
    },
  );
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
