import type { FastifyRequest } from 'fastify';
import { readDeployment, type DeploymentRow } from '../store/deployments.js';
import { parseRef } from '../../../core/deployments/ref.js';
import { unknownRef } from '../../../models/routes/deployments/unknown-ref.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { deploymentsBase } from './view.js';

export const tags = ['Deployments'];
export const path = `${deploymentsBase}/:deployment_id` as const;

/** The deployment of an id or a name. Throws 404. */
export async function find(
  { db }: HttpDeps,
  { caller: { orgId } }: Pick<FastifyRequest, 'caller'>,
  ref: string,
): Promise<DeploymentRow> {
  return db.org(orgId, async (tx) => {
    const row = await readDeployment(tx, ref);
    if (!row) throw await unknownRef(tx, ref);
    return row;
  });
}

/** Whether a reference is a name, or a label, which mean another deployment later. */
export const mayMove = (ref: string, { id }: { id: string }): boolean => ref !== id && parseRef(ref).version === null;

/** For a change, a name that serves nothing stands for no deployment. */
export async function findServing(
  deps: HttpDeps,
  request: Pick<FastifyRequest, 'caller'>,
  ref: string,
): Promise<DeploymentRow> {
  const row = await find(deps, request, ref);
  if (ref !== row.name || row.live) return row;
  throw refuse.notFound(`deployment that serves ${ref.slice(0, 100)}`);
}
