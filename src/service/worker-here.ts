import type { WorkflowBundlePath } from '@temporalio/worker';
import { createContainerClient } from '../clients/container/client.js';
import { createScorerClient } from '../scorers/client/client.js';
import { createWebhookClient } from '../clients/webhooks/client.js';
import { explainFault } from '../platform/temporal/connection.js';
import { createReadiness, type Readiness } from '../platform/temporal/readiness.js';
import { thisWorker } from '../platform/temporal/worker-checks.js';
import { startSendingJobs } from '../tracing/send-jobs.js';
import { startWorker } from './worker.js';
import type { Shared } from './parts.js';

/**
 * Starts the worker in this process; resolves with its readiness. `bundle`: its workflows; default:
 * those of the build.
 */
export async function startWorkerHere(shared: Shared, bundle: WorkflowBundlePath | undefined): Promise<Readiness> {
  const { config, log, life, servers, temporal, metrics, tracing } = shared;
  const { db, notifications, providers, secretKey, publicUrl } = shared;
  const { egress, javascriptOrgs } = config;
  const container = createContainerClient({ egress });
  life.onStop(() => container.close());
  const scorers = createScorerClient({ egress, javascriptOrgs });
  life.onStop(() => scorers.close());
  const webhooks = createWebhookClient({ egress });
  life.onStop(() => webhooks.close());
  const clients = { container, scorers, webhooks, providers, temporal };
  const worker = await startWorker({
    target: servers.temporal,
    codecKey: config.codecKey,
    buildId: config.workerBuildId,
    retention: { keep: config.keepDays, onSizes: metrics.storedBytes },
    onStuck: metrics.workflowTaskFailure,
    deps: { db, notifications, ...clients, secretKey, publicUrl, metrics, tracing, log },
    client: temporal,
    log,
    ...(bundle && { bundle }),
  });
  metrics.worker(() => worker.slots());
  life.onStop(() => worker.stop());
  worker.ended.catch(life.fail);
  if (tracing) {
    const sending = startSendingJobs(db, tracing, log);
    life.onStop(() => sending.stop());
  }
  return createReadiness({
    db,
    client: temporal,
    explain: (cause) => explainFault(servers.temporal, cause),
    // The start has registered the search attributes.
    namespaceProblem: () => null,
    checkWorker: thisWorker(temporal, () => worker.isPolling()),
    log,
  });
}
