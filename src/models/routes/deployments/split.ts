/** Which version answers a request, where its name moves from one to another. */
import type { FastifyRequest } from 'fastify';
import { isOfCanary } from '../../../core/deployments/canary/split.js';
import type { ServedCanary, ServedDeployment } from '../../../kinds/deployment/store/resolve.js';
import { asObject } from '../../../util/json.js';

const ofHeader = 'header:';

/**
 * Who asks, as far as it keeps its version: the user that the body names, else the episode; or what
 * the name is sticky by. null: no one known, so that each request counts for itself.
 */
export function stickyKey(
  { headers, body }: Pick<FastifyRequest, 'headers' | 'body'>,
  correlationId: string | null,
  stickyBy: string | null,
): string | null {
  if (stickyBy?.startsWith(ofHeader)) return textOf(headers[stickyBy.slice(ofHeader.length).toLowerCase()]);
  if (stickyBy === 'correlation_id') return correlationId;
  const user = userOf(asObject(body) ?? {});
  return stickyBy === 'user' ? user : (user ?? correlationId);
}

/** OpenAI's names of the user, and Anthropic's. */
function userOf({ user, safety_identifier: safety, metadata }: Record<string, unknown>): string | null {
  return textOf(user) ?? textOf(safety) ?? textOf(asObject(metadata)?.['user_id']);
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The version that answers, and one that is also asked (null: none). */
export function splitRequest(
  live: ServedDeployment,
  unit: string,
): { found: ServedDeployment; shadow: ServedCanary | null } {
  const { canary } = live;
  if (!canary || !isOfCanary(canary.id, unit, canary.percent)) return { found: live, shadow: null };
  if (canary.isShadow) return { found: live, shadow: canary };
  const { id, version, snapshotId } = canary;
  return { found: { ...live, id, version, snapshotId }, shadow: null };
}
