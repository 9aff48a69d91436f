/** Labels of a name, and the changes of what it and they serve. */
import { z } from 'zod';
import { liveLabel } from '../../../core/deployments/ref.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { iso } from '../../../jobs/routes/view.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { parseTimeCursor, timedPage } from '../../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../../platform/http/server/schema.js';
import {
  changesQuerySchema,
  changesSchema,
  labelSchema,
  labelSetSchema,
  labelsSchema,
  setLabelSchema,
} from '../contract/registry.js';
import { listChanges } from '../store/changes.js';
import { listLabels, mostLabels, removeLabel, setLabel } from '../store/names.js';
import { find, path, tags } from './find.js';
import { keyView } from '../../../jobs/routes/view.js';

const params = z.object({ deployment_id: z.string().describe('A name, or the id of any deployment of it.') });
const labelParams = params.extend({ label: labelSchema });

export function registerRegistry(app: App, deps: HttpDeps): void {
  registerLabels(app, deps);
  app.get(
    `${path}/changes`,
    {
      schema: {
        tags,
        operationId: 'listDeploymentChanges',
        summary: 'Changes of what a name and its labels serve, newest first',
        params,
        querystring: changesQuerySchema,
        response: { 200: changesSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseTimeCursor(cursor);
      const { orgId, name } = await find(deps, request, request.params.deployment_id);
      const rows = await deps.db.org(orgId, (tx) => listChanges(tx, name, { after, limit: limit + 1 }));
      return timedPage(
        rows,
        limit,
        ({ id }) => id,
        ({ id, createdAt, label, action, from, to, by, reason }) => {
          const versions = { from_version: from, to_version: to };
          return { id, at: iso(createdAt), label, action, ...versions, by: keyView(by), reason };
        },
      );
    },
  );
}

function registerLabels(app: App, deps: HttpDeps): void {
  app.get(
    `${path}/labels`,
    {
      schema: {
        tags,
        operationId: 'listDeploymentLabels',
        summary: 'The labels of a name',
        params,
        response: { 200: labelsSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { orgId, name } = await find(deps, request, request.params.deployment_id);
      const labels = await deps.db.org(orgId, (tx) => listLabels(tx, name));
      const view = labels.map(({ label, id, version, snapshotId }) => {
        return { label, version, deployment_id: id, snapshot_id: snapshotId };
      });
      return { name, labels: view };
    },
  );

  app.put(
    `${path}/labels/:label`,
    {
      schema: {
        tags,
        operationId: 'setDeploymentLabel',
        summary: 'Set a label of a name to a version',
        description: `Callers reach it as NAME@LABEL. The label ${liveLabel} is what the name itself serves: setting it promotes the version, without its gate.`,
        params: labelParams,
        body: setLabelSchema,
        response: { 200: labelSetSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const { label } = request.params;
      const { version, deployment_id: deploymentId, reason = null } = request.body;
      const { orgId, name } = await find(deps, request, request.params.deployment_id);
      const target = version === undefined ? { id: deploymentId! } : { version };
      const by = { keyId: request.caller.keyId, reason };
      const outcome = await deps.db.org(orgId, (tx) => setLabel(tx, { name, label, target }, by));
      if (outcome.is !== 'set') throw refusal(outcome.is, name, target);
      const { id, version: set, previous } = outcome;
      return { name, label, version: set, deployment_id: id, previous_version: previous };
    },
  );

  app.delete(
    `${path}/labels/:label`,
    {
      schema: {
        tags,
        operationId: 'removeDeploymentLabel',
        summary: 'Remove a label of a name',
        params: labelParams,
        response: { 204: z.undefined().describe('Removed.'), ...problems(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { label } = request.params;
      const { orgId, name } = await find(deps, request, request.params.deployment_id);
      if (label === liveLabel) throw liveStays(name);
      const by = { keyId: request.caller.keyId, reason: null };
      const isRemoved = await deps.db.org(orgId, (tx) => removeLabel(tx, { name, label }, by));
      if (!isRemoved) throw refuse.notFound(`label ${label} of ${name}`);
      return reply.code(204).send();
    },
  );
}

function refusal(why: 'unknown' | 'not_ready' | 'full', name: string, target: { id: string } | { version: number }) {
  const pointer = 'id' in target ? '/deployment_id' : '/version';
  if (why === 'full') {
    const message = `is beyond the ${mostLabels} labels of ${name}: remove another one`;
    return refuse.invalid([{ pointer: '', message }]);
  }
  if (why === 'unknown') return refuse.invalid([{ pointer, message: `names no deployment of ${name}` }]);
  const detail = `A label needs a deployment that is ready, and this one of ${name} is being built or has failed.`;
  return new ApiError(409, 'not_ready', detail, { errors: [{ pointer, message: 'is not ready' }] });
}

function liveStays(name: string): ApiError {
  const detail = `${liveLabel} is what ${name} serves, and cannot be removed. Set it to another version, or delete the deployment.`;
  return new ApiError(409, 'label_not_removable', detail);
}
