import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Installation, InstallationClient } from './installation-client.js';

/** WorkerVersioningMode.VERSIONED and the gRPC code NOT_FOUND of Temporal's API. */
const versioned = 2;
const notFound = 5;
const intervalMs = 500;

/**
 * Worker options of a build: jobs stay with the build that began them. The worker deployment has
 * the name of the task queue.
 */
export function pinnedTo({ taskQueue }: Installation, buildId: string) {
  return {
    version: { deploymentName: taskQueue, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  } as const;
}

/** A poller's build; null: none. */
export function buildOf(
  options?: { workerVersioningMode?: number | null; buildId?: string | null } | null,
): string | null {
  return options?.workerVersioningMode === versioned ? (options.buildId ?? null) : null;
}

/** The command that routes new jobs to a build; null: to workers without a build. */
export function setCurrentCommand(client: InstallationClient, buildId: string | null): string {
  const to = buildId ? `--build-id ${buildId}` : '--unversioned';
  return `temporal worker deployment set-current-version --namespace ${client.options.namespace} --deployment-name ${client.installation.taskQueue} ${to}`;
}

/**
 * Routes new jobs to this build if it never had any, or if no build has them: a new build is
 * deployed, a restarted older build changes nothing. Runs in the background until `stopping`.
 */
export function announceBuild(client: InstallationClient, buildId: string, log: Logger, stopping: AbortSignal): void {
  const run = async () => {
    for (let failed = 0; !stopping.aborted;) {
      try {
        if (await routeNewJobs(client, buildId, log)) return;
      } catch (err) {
        failed += 1;
        if (failed === 10)
          log.error({ err }, `new jobs are not routed to this build. Run: ${setCurrentCommand(client, buildId)}`);
      }
      await delay(intervalMs, undefined, { signal: stopping });
    }
  };
  run().catch((err: Error) => log.debug({ err }, 'stopped before new jobs were routed to the build'));
}

/** Whether the routing is settled; false: Temporal does not know the build's first worker yet. */
async function routeNewJobs(client: InstallationClient, buildId: string, log: Logger): Promise<boolean> {
  const { namespace, identity } = client.options;
  const deploymentName = client.installation.taskQueue;
  const { workerDeploymentInfo: info, conflictToken } = await client.workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch((error: unknown) => {
      if (isGrpcServiceError(error) && Number(error.code) === notFound)
        return { workerDeploymentInfo: null, conflictToken: null };
      throw error;
    });
  const mine = info?.versionSummaries?.find((version) => version.deploymentVersion?.buildId === buildId);
  if (!mine) return false;
  const taken = info?.routingConfig?.currentDeploymentVersion?.buildId;
  if (taken && mine.firstActivationTime) return true;
  // The token makes Temporal refuse the change if the routing has changed meanwhile.
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    namespace,
    deploymentName,
    buildId,
    conflictToken: conflictToken ?? null,
    identity,
  });
  log.info({ build_id: buildId }, 'new jobs are routed to this build');
  return true;
}
