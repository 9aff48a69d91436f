import { Webhook } from 'standardwebhooks';
import { exchange } from '../container/exchange.js';
import { isFault } from '../container/retry.js';
import { createEgressAgent, type EgressPolicy } from '../net/egress.js';

const timeoutMs = 15_000;

/** A signed message, by Standard Webhooks. `id` is equal in all attempts. */
export interface WebhookMessage {
  url: string;
  id: string;
  /** Those that receivers may have: a signature by each, separated by spaces. */
  secrets: readonly string[];
  body: string;
}

/** Why an attempt failed; `isFinal`: a further one would be in vain. */
export interface WebhookFault {
  message: string;
  isFinal: boolean;
}

export interface WebhookClient {
  /** POSTs a message once, within 15 s and without redirects; null: a 2xx answered. */
  send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookFault | null>;
  close(): Promise<void>;
}

export function createWebhookClient({ egress }: { egress: EgressPolicy }): WebhookClient {
  const agent = createEgressAgent(egress);
  return {
    async send({ url, id, secrets, body }, signal) {
      const sentAt = new Date();
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'ratchet-webhooks',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
      };
      const answer = await exchange(agent, { method: 'POST', url, headers, body }, timeoutMs, signal, 'webhook');
      if (isFault(answer))
        return { message: answer.failure.message, isFinal: answer.failure.code === 'egress_refused' };
      const { status } = answer;
      if (status >= 200 && status < 300) return null;
      // 410 Gone: the receiver wants no further attempt.
      return { message: `The receiver answered ${status}.`, isFinal: status === 410 };
    },
    close: () => agent.close(),
  };
}
