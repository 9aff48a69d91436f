/** Changes of a deployment: its labels, the way back, and its end. */
import { z } from 'zod';
import { deploymentChangeSchema } from '../contract/change.js';
import { deploymentStatusSchema, rolledBackSchema } from '../contract/deployment.js';
import { rollBackBodySchema } from '../contract/registry.js';
import type { DeploymentRow } from '../store/deployments.js';
import { deleteDeployment, rollBack } from '../store/names.js';
import { changeSettings } from '../store/settings.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { mark } from '../../../jobs/routes/labels.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader, problems } from '../../../platform/http/server/schema.js';
import { findServing, path, tags } from './find.js';
import { requireJudge, settingsOf } from './settings.js';

const liveParams = z.object({
  deployment_id: z.string().describe('Its id, the name that it serves, NAME@LABEL or NAME@VERSION.'),
});
const deploymentStateSchema = z.object({ id: z.string(), status: deploymentStatusSchema });

export function registerChanges(app: App, deps: HttpDeps): void {
  app.patch(
    path,
    {
      schema: {
        tags,
        operationId: 'updateDeployment',
        summary: 'Change settings and labels of a deployment, or archive it',
        params: liveParams,
        body: deploymentChangeSchema,
        response: { 200: deploymentStateSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const { id, name, orgId, status, workflowId, models } = await findServing(
        deps,
        request,
        request.params.deployment_id,
      );
      const { log, fallbacks, limits, judge, ...marks } = request.body;
      const settings = await settingsOf(deps, request, { log, fallbacks, limits, judge }, models);
      await deps.db.org(orgId, async (tx) => requireJudge(await changeSettings(tx, name, settings)));
      if (Object.keys(marks).length > 0) await mark(deps, { orgId, jobId: id, workflowId }, marks);
      return { id, status };
    },
  );

  app.post(
    `${path}/rollback`,
    {
      schema: {
        tags,
        operationId: 'rollBackDeployment',
        summary: 'Roll the name back to the previous deployment',
        params: liveParams,
        headers: idempotencyHeader,
        body: rollBackBodySchema,
        response: { 200: rolledBackSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const row = await findServing(deps, request, request.params.deployment_id);
      const by = { keyId: request.caller.keyId, reason: request.body?.reason ?? null };
      const result = await deps.db.org(row.orgId, (tx) => rollBack(tx, row, by));
      if (result === 'not_live') throw notLive(row);
      if (result === 'none_before') throw noneBefore(row);
      const { id, version, snapshotId } = result;
      return { name: row.name, id, version, snapshot_id: snapshotId, rolled_back_id: row.id };
    },
  );

  app.delete(
    path,
    {
      schema: {
        tags,
        operationId: 'deleteDeployment',
        summary: 'Delete a deployment',
        description:
          'Its snapshot stays. If it is live, its name serves nothing until another deployment takes it. Its labels are removed.',
        params: liveParams,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 422) },
      },
    },
    async (request, reply) => {
      const row = await findServing(deps, request, request.params.deployment_id);
      const by = { keyId: request.caller.keyId, reason: null };
      await deps.db.org(row.orgId, (tx) => deleteDeployment(tx, row.id, by));
      if (row.status !== 'ready' && row.status !== 'failed') await stopBuilding(deps, row);
      return reply.code(204).send();
    },
  );
}

/** If Temporal is unreachable, the reconciler cancels it. */
async function stopBuilding({ commander, log }: HttpDeps, { id, workflowId }: DeploymentRow): Promise<void> {
  await commander.cancel({ workflowId }).catch((error: unknown) => {
    log.warn(
      { err: error, deployment_id: id },
      'cancelling the build of a deleted deployment failed; the reconciler will repeat it',
    );
  });
}

function notLive({ id, name, status }: DeploymentRow): ApiError {
  return new ApiError(
    409,
    'deployment_not_live',
    `Deployment ${id} does not serve ${name}; there is nothing to roll back.`,
    {
      extra: { current_status: status },
    },
  );
}

function noneBefore({ id, name, status }: DeploymentRow): ApiError {
  const detail = `${name} has no earlier deployment that still exists. Delete ${id} to stop serving the name.`;
  return new ApiError(409, 'nothing_before', detail, { extra: { current_status: status } });
}
