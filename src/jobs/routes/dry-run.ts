import type { FastifyRequest } from 'fastify';

/** Whether a create only validates its request; true after the validation of such a route only. */
export function isDryRun({ query }: FastifyRequest): boolean {
  return (query as { dry_run?: unknown }).dry_run === true;
}
