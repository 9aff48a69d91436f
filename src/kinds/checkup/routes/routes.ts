import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { checkupCreatedSchema, checkupListItemSchema, checkupSchema } from '../contract/checkup.js';
import {
  approvalSchema,
  checkupOf,
  createCheckupSchema,
  improveDeploymentSchema,
  usualCheckup,
  type CreateCheckup,
} from '../contract/request.js';
import { noQuerySchema } from '../../../contracts/common.js';
import { workflowId } from '../../../core/jobs/kinds.js';
import type { CheckupHead } from '../../../jobs/store/jobs.js';
import { registerCancel } from '../../../jobs/routes/commands.js';
import { create, startInTime, type Creation } from '../../../jobs/routes/create.js';
import { registerDelete } from '../../../jobs/routes/delete.js';
import { registerEvents } from '../../../jobs/routes/events.js';
import { routeOf, type JobRoute } from '../../../jobs/routes/kind.js';
import { registerReads } from '../../../jobs/routes/routes.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader } from '../../../platform/http/server/schema.js';
import { findServing, path as deploymentPath } from '../../deployment/routes/find.js';
import { decide, type Decided } from '../store/approval.js';
import { draftCheckup } from './draft.js';
import { checkupListItem, readCheckup } from './view.js';

const tags = ['Checkups'];
const kind = {
  kind: 'checkup' as const,
  param: 'job_id' as const,
  noun: 'a checkup',
  name: 'Checkup',
  tags,
  list: { summary: 'List checkups, newest first', item: checkupListItemSchema, view: checkupListItem },
  state: { summary: 'A checkup', schema: checkupSchema, read: readCheckup },
};

/** Checkups of what names serve, and improvements from recent traffic. */
export function registerCheckups(app: App, deps: HttpDeps): void {
  const route = routeOf<CheckupHead>(deps, kind);
  registerCreates(app, deps, route);
  registerReads(app, deps, route, kind);
  registerApproval(app, deps, route);
  registerCancel(app, deps, route);
  registerDelete(app, deps, route);
  registerEvents(app, deps, route, ['/events']);
}

const params = z.object({ deployment_id: z.string().describe('The name, or the id of what it serves.') });
const creates = {
  params,
  querystring: noQuerySchema,
  headers: idempotencyHeader,
  response: { 201: checkupCreatedSchema, ...bodyProblems(404, 409) },
};

function registerCreates(app: App, deps: HttpDeps, route: JobRoute<CheckupHead>): void {
  app.post(
    `${deploymentPath}/checkups`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createCheckup',
        summary: 'Check what a name serves again, and improve it if it is worse',
        description:
          'Evaluates what is live on the rows of its gate and on recent requests; answers better, same or worse than at release; looks for a better prompt and deploys it if asked for.',
        body: createCheckupSchema,
        ...creates,
      },
    },
    async (request, reply) =>
      create(deps, request, reply, await creationOf(deps, route, request, request.body ?? usualCheckup())),
  );

  app.post(
    `${deploymentPath}/improve`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'improveDeployment',
        summary: 'Search a better prompt for a name on its recent requests, and deploy it as a canary',
        description:
          'A checkup without rows that always searches: half of the latest kept requests are searched on, and half decide whether the winner is better than what is live.',
        body: improveDeploymentSchema,
        ...creates,
      },
    },
    async (request, reply) =>
      create(deps, request, reply, await creationOf(deps, route, request, checkupOf(request.body))),
  );
}

async function creationOf(
  deps: HttpDeps,
  { base }: JobRoute<CheckupHead>,
  request: FastifyRequest,
  body: CreateCheckup,
): Promise<Creation> {
  const { deployment_id: ref } = request.params as z.output<typeof params>;
  const live = await findServing(deps, request, ref);
  const { rollouts, ...draft } = await draftCheckup(deps, request.caller, live, body);
  const { rows, traffic } = draft.spec.parts;
  return {
    ...draft,
    kind: 'checkup',
    algorithm: null,
    correlationId: null,
    location: (jobId) => `${base}/${jobId}`,
    answer: ({ jobId, workflowId: workflow }) => ({
      job_id: jobId,
      status: 'running',
      rows: rows?.gate.seeds.length ?? null,
      traffic: traffic?.gate.seeds.length ?? null,
      rollouts,
      workflow_id: workflow,
      temporal_url: deps.temporalUrl(workflow),
    }),
  };
}

function registerApproval(app: App, deps: HttpDeps, { path, params, find }: JobRoute<CheckupHead>): void {
  app.post(
    `${path}/approval`,
    {
      schema: {
        tags,
        operationId: 'decideCheckup',
        summary: 'Approve or reject the deployment of a better winner',
        description:
          'Of a checkup with require_approval whose winner is better. Approved, its deployment is created. The same decision again changes nothing.',
        params,
        headers: idempotencyHeader,
        body: approvalSchema,
        response: { 200: checkupSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const job = await find(request);
      const { orgId, jobId } = job;
      const { approve, reason = null } = request.body;
      const { keyId } = request.caller;
      const decided = await deps.db.org(orgId, (tx) => decide(tx, job, { approve, reason, keyId }));
      const created = createdBy(jobId, decided);
      if (created !== null) {
        const started = { orgId, jobId: created, kind: 'deployment' as const };
        await startInTime(deps, { ...started, workflowId: workflowId('deployment', created) });
      }
      const after = await find(request);
      return deps.db.org(orgId, (tx) => readCheckup(tx, after, deps));
    },
  );
}

/** The deployment to start; null: none. Throws a refused decision. */
function createdBy(jobId: string, decided: Decided): string | null {
  if (decided.kind === 'decided') return decided.created;
  const { approval } = decided;
  if (decided.kind === 'refused') {
    const code = approval === 'expired' ? 'approval_expired' : 'canary_in_progress';
    throw new ApiError(409, code, decided.why, { extra: { approval } });
  }
  const state = approval === null ? 'has no deployment to approve' : `is ${approval}`;
  throw new ApiError(409, 'not_awaiting_approval', `The checkup ${jobId} ${state}.`, { extra: { approval } });
}
