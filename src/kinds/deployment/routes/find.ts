import type { FastifyRequest } from 'fastify';
import { readDeployment, type DeploymentRow } from '../store/deployments.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { deploymentsBase } from './view.js';

export const tags = ['Deployments'];
export const path = `${deploymentsBase}/:deployment_id` as const;

/** The deployment of an id or a name. Throws 404. */
export async function find(
  { db }: HttpDeps,
  { caller: { orgId } }: FastifyRequest,
  ref: string,
): Promise<DeploymentRow> {
  const row = await db.org(orgId, (tx) => readDeployment(tx, ref));
  if (!row) throw refuse.notFound(`deployment ${ref.slice(0, 100)}`);
  return row;
}

/** For a change, a name that serves nothing stands for no deployment. */
export async function findServing(deps: HttpDeps, request: FastifyRequest, ref: string): Promise<DeploymentRow> {
  const row = await find(deps, request, ref);
  if (row.id === ref || row.live) return row;
  throw refuse.notFound(`deployment that serves ${ref.slice(0, 100)}`);
}
