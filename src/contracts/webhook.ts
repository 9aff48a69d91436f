/** The notice that a job has ended, by Standard Webhooks. */
import { z } from 'zod';
import { urlForm } from './rules.js';

export const webhookField = {
  webhook_url: z
    .string()
    .min(1)
    .max(2_048)
    .meta(urlForm)
    .nullish()
    .describe('Gets one signed POST (Standard Webhooks) when the job has completed, failed or been cancelled.'),
};

export const webhookViewSchema = z
  .object({
    origin: z.string().describe('Scheme, host and port of webhook_url; the rest may hold a token.'),
    status: z
      .enum(['waiting', 'sending', 'delivered', 'failed'])
      .describe('waiting: the job has not ended; failed: given up after 24 hours, or refused for good.'),
    attempts: z.int(),
    last_error: z.string().nullable().describe('Why the last attempt failed; null otherwise.'),
    settled_at: z.string().nullable().describe('When it was delivered or given up.'),
  })
  .meta({ id: 'Webhook', description: 'The delivery of the webhook.' });
export type WebhookView = z.output<typeof webhookViewSchema>;

const longestGraceS = 30 * 24 * 3_600;
const usualGraceS = 24 * 3_600;

export const rotateWebhookSecretSchema = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(longestGraceS)
      .default(usualGraceS)
      .describe('How long messages are signed by the previous secret as well. Default: a day.'),
  })
  .meta({ id: 'RotateWebhookSecret' });

export const webhookSecretSchema = z
  .object({
    secret: z.string().describe('Verifies the signatures of all webhooks of the organization.'),
    previous_valid_until: z
      .string()
      .nullable()
      .describe('Until then messages have a second signature, by the previous secret; null: they have one.'),
  })
  .meta({ id: 'WebhookSecret' });
