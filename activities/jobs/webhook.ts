import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failureOf } from '../../src/core/jobs/fault.js';
import { webhookBody, webhookId } from '../../src/core/events/webhook.js';
import { readWebhookSecrets } from '../../src/access/store/webhook-secret.js';
import { readControl, type JobRef } from '../../src/jobs/store/events.js';
import { failWebhook, readDelivery, recordAttempt } from '../../src/jobs/store/webhooks.js';
import type { ActivityDeps } from '../deps.js';

export function webhookActivities({ db, webhooks, secretKey }: ActivityDeps) {
  return {
    /** One attempt; fails for a missing job. A kill after the POST repeats it with the same id. */
    async deliverWebhook({ orgId, jobId }: JobRef): Promise<void> {
      const [delivery, { current, previous }] = await db.org(orgId, async (tx) => [
        await readDelivery(tx, jobId),
        await readWebhookSecrets(tx, secretKey, orgId),
      ]);
      if (!delivery) return void (await db.org(orgId, (tx) => readControl(tx, jobId)));
      const { url, job } = delivery;
      const secrets = [current, ...(previous ? [previous.secret] : [])];
      const signed = { url, id: webhookId(job), secrets, body: webhookBody(job) };
      const fault = await webhooks.send(signed, Context.current().cancellationSignal);
      await db.org(orgId, (tx) => recordAttempt(tx, job, fault?.message ?? null));
      if (!fault) return;
      const { message, isFinal } = fault;
      const failure = failureOf({ code: 'webhook_failed', message, retryable: !isFinal });
      throw ApplicationFailure.create({ ...failure, nonRetryable: isFinal });
    },

    /** Whether nothing is left to deliver; an operator may complete the delivery by hand. */
    isDelivered: ({ orgId, jobId }: JobRef): Promise<boolean> =>
      db.org(orgId, async (tx) => (await readDelivery(tx, jobId)) === null),

    abandonWebhook: ({ orgId, jobId }: JobRef) => db.org(orgId, (tx) => failWebhook(tx, jobId)),
  };
}
