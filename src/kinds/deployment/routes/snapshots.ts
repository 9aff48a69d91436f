import { z } from 'zod';
import { snapshotDiffSchema, snapshotSchema } from '../contract/snapshot.js';
import { readSnapshot, type Snapshot } from '../store/snapshots.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { deploymentsBase } from './view.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { iso } from '../../../jobs/routes/view.js';
import { problems } from '../../../platform/http/server/schema.js';
import { snapshotDiff } from './snapshot-diff.js';

const tags = ['Deployments'];
const params = z.object({ snapshot_id: z.string() });

/** Snapshots that deployments serve; they outlive their deployments. */
export function registerSnapshots(app: App, { db }: HttpDeps): void {
  const find = async (orgId: string, id: string): Promise<Snapshot> => {
    const isId = /^snap_[0-9a-f]{64}$/.test(id);
    const snapshot = isId ? await db.org(orgId, (tx) => readSnapshot(tx, id)) : null;
    if (!snapshot) throw refuse.notFound(`snapshot ${id.slice(0, 100)}`);
    return snapshot;
  };

  app.get(
    `${deploymentsBase}/snapshots/:snapshot_id`,
    {
      schema: {
        tags,
        operationId: 'getSnapshot',
        summary: 'A snapshot',
        params,
        response: { 200: snapshotSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { id, content, createdAt } = await find(request.caller.orgId, request.params.snapshot_id);
      return { snapshot_id: id, created_at: iso(createdAt), ...content };
    },
  );

  app.get(
    `${deploymentsBase}/snapshots/:snapshot_id/diff/:other`,
    {
      schema: {
        tags,
        operationId: 'compareSnapshots',
        summary: 'Differences of two snapshots',
        params: params.extend({ other: z.string() }),
        response: { 200: snapshotDiffSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { snapshot_id: from, other } = request.params;
      const { orgId } = request.caller;
      return snapshotDiff(await find(orgId, from), await find(orgId, other));
    },
  );
}
