import { createHmac } from 'node:crypto';

/**
 * The signing secret of an organization's webhooks (32 bytes, Standard Webhooks), derived from the
 * service's secret key.
 */
export function webhookSecret(secretKey: Buffer, orgId: string): string {
  return `whsec_${createHmac('sha256', secretKey).update(`ratchet webhooks v1 ${orgId}`).digest('base64')}`;
}
