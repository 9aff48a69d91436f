import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { taskQueue } from '../../workflows/messages.js';

/** The worker deployment's name in Temporal: there is one a task queue. */
const deploymentName = taskQueue;
/** WorkerVersioningMode.VERSIONED and the gRPC code NOT_FOUND of Temporal's API. */
const versioned = 2;
const notFound = 5;
const everyMs = 500;

/** What makes a worker one of this build: the jobs that it begins stay with their build until they end. */
export function pinnedTo(buildId: string) {
  return {
    version: { deploymentName, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  } as const;
}

/** The build a poller is of, null: it is of none. */
export function buildOf(
  options?: { workerVersioningMode?: number | null; buildId?: string | null } | null,
): string | null {
  return options?.workerVersioningMode === versioned ? (options.buildId ?? null) : null;
}

/** The command that sends new jobs to a build; null: to workers without one. */
export function setCurrentCommand(client: Client, buildId: string | null): string {
  const to = buildId ? `--build-id ${buildId}` : '--unversioned';
  return `temporal worker deployment set-current-version --namespace ${client.options.namespace} --deployment-name ${deploymentName} ${to}`;
}

/**
 * Sends new jobs to this build if it has never had any, or if no build has them yet. So whoever starts a new build has deployed
 * it, a worker of an older one that is started again changes nothing, and there is always a build that takes new jobs.
 * Returns at once; goes on until it is done or `stopping`.
 */
export function announceBuild(client: Client, buildId: string, log: Logger, stopping: AbortSignal): void {
  const run = async () => {
    for (let failed = 0; !stopping.aborted;) {
      try {
        if (await announced(client, buildId, log)) return;
      } catch (err) {
        failed += 1;
        if (failed === 10)
          log.error({ err }, `new jobs do not go to this build. Run: ${setCurrentCommand(client, buildId)}`);
      }
      await delay(everyMs, undefined, { signal: stopping });
    }
  };
  run().catch((err: Error) => log.debug({ err }, 'stopped before the build was announced'));
}

/** Whether the build stands where it should; false: its first worker has not been heard of yet. */
async function announced(client: Client, buildId: string, log: Logger): Promise<boolean> {
  const { namespace, identity } = client.options;
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
  // The token refuses the change when somebody else has changed it since the look.
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    namespace,
    deploymentName,
    buildId,
    conflictToken: conflictToken ?? null,
    identity,
  });
  log.info({ build_id: buildId }, 'new jobs go to this build');
  return true;
}
