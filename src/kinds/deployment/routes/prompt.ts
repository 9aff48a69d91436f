/** The prompt of a deployment, for an application that calls the model itself. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { longestRef } from '../../../core/deployments/ref.js';
import { placeDemos } from '../../../core/prompts/demos.js';
import { likelyInput, rowPlaceholders } from '../../../core/prompts/row-template.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { matchesEtag } from '../../../util/etag.js';
import { problems } from '../../../platform/http/server/schema.js';
import { refusal } from '../../../models/routes/deployments/not-ready.js';
import { createServedSnapshots, type PreparedSnapshot } from '../../../models/routes/served-snapshots.js';
import { promptQuerySchema, promptSchema } from '../contract/registry.js';
import { resolveLabelled } from '../store/resolve.js';
import { path, tags } from './find.js';
import { unknownRef } from '../../../models/routes/deployments/unknown-ref.js';

const params = z.object({ deployment_id: z.string().describe('A name, NAME@LABEL, NAME@VERSION, or an id.') });
/** Kept by the application only, which asks whether it is the same. */
const caching = 'private, no-cache';

export function registerPrompt(app: App, { db }: HttpDeps): void {
  const snapshots = createServedSnapshots(db);
  app.get(
    `${path}/prompt`,
    {
      config: { scope: 'infer', orScope: 'read' },
      schema: {
        tags,
        operationId: 'getDeploymentPrompt',
        summary: 'The prompt of a deployment, to call the model yourself',
        description:
          'Messages with demonstrations, model and parameters of what a name or its label serves. `ETag` identifies them, and a matching `If-None-Match` gives 304. The scope infer or read is enough.',
        params,
        querystring: promptQuerySchema,
        headers: z.looseObject({ 'if-none-match': z.string().optional().describe('An earlier `ETag`.') }),
        response: {
          200: promptSchema,
          304: z.undefined().describe('`If-None-Match` names the current version.'),
          ...problems(404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { orgId } = request.caller;
      const ref = refOf(request.params.deployment_id, request.query);
      const found = await db.orgApart(orgId, (tx) => resolveLabelled(tx, ref));
      if (!found || found.snapshotId === null) {
        throw (await refusal(db, orgId, ref)) ?? (await db.org(orgId, (tx) => unknownRef(tx, ref)));
      }
      const { id, name, version, snapshotId, labels } = found;
      const body = {
        name,
        version,
        deployment_id: id,
        snapshot_id: snapshotId,
        labels,
        ...contentOf(await snapshots.get(orgId, snapshotId), id),
      };
      const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url')}"`;
      void reply.headers({ etag, 'cache-control': caching });
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return body;
    },
  );
}

/** The reference of a path and its query. */
function refOf(ref: string, { label, version }: z.output<typeof promptQuerySchema>): string {
  const part = label ?? version;
  if (part === undefined) return ref;
  const field = label === undefined ? 'version' : 'label';
  const invalid = (message: string) => refuse.invalid([{ pointer: `/${field}`, message }]);
  if (label !== undefined && version !== undefined) throw invalid('must not be given together with version');
  if (ref.includes('@')) throw invalid(`is already in the path as ${ref.slice(0, longestRef)}`);
  return `${ref}@${part}`;
}

function contentOf(snapshot: PreparedSnapshot, id: string) {
  if (snapshot.kind === 'graph') throw noPrompt(`Deployment ${id} is a graph of several model calls`);
  const { content, policy } = snapshot;
  if (content.levers_marked) throw noPrompt(`Deployment ${id} has texts for the marked spans of a caller's messages`);
  const parts = placeDemos(content.messages, content.demos);
  const start = parts.findIndex(({ demo }) => demo);
  return {
    messages: parts.map(({ message: { role, content } }) => ({ role, content })),
    demonstrations: start === -1 ? null : { start, end: parts.findLastIndex(({ demo }) => demo) + 1 },
    variables: rowPlaceholders(content.messages, likelyInput),
    provider: policy.provider,
    model: policy.model,
    parameters: policy.params,
  };
}

function noPrompt(what: string): ApiError {
  const message = `${what}, which is no prompt that an application can send: call the deployment.`;
  return new ApiError(409, 'no_prompt', message);
}
