import { z } from 'zod';
import {
  createMigrationSchema,
  migrationCreatedSchema,
  migrationListItemSchema,
  migrationSchema,
} from '../contract/migration.js';
import { noQuerySchema } from '../../../contracts/common.js';
import type { MigrationHead } from '../../../jobs/store/jobs.js';
import { registerCancel } from '../../../jobs/routes/commands.js';
import { create } from '../../../jobs/routes/create.js';
import { registerDelete } from '../../../jobs/routes/delete.js';
import { registerEvents } from '../../../jobs/routes/events.js';
import { routeOf, type JobRoute } from '../../../jobs/routes/kind.js';
import { labelsOf } from '../../../jobs/routes/labels.js';
import { registerReads } from '../../../jobs/routes/routes.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { bodyProblems, idempotencyHeader } from '../../../platform/http/server/schema.js';
import { findServing, path as deploymentPath } from '../../deployment/routes/find.js';
import { draftMigration } from './draft.js';
import { migrationListItem, readMigration } from './view.js';

const tags = ['Migrations'];
const kind = {
  kind: 'migration' as const,
  param: 'job_id' as const,
  noun: 'a migration',
  name: 'Migration',
  tags,
  list: { summary: 'List migrations, newest first', item: migrationListItemSchema, view: migrationListItem },
  state: { summary: 'A migration', schema: migrationSchema, read: readMigration },
};

/** Moves of what names serve to other models. */
export function registerMigrations(app: App, deps: HttpDeps): void {
  const route = routeOf<MigrationHead>(deps, kind);
  registerCreate(app, deps, route);
  registerReads(app, deps, route, kind);
  registerCancel(app, deps, route);
  registerDelete(app, deps, route);
  registerEvents(app, deps, route, ['/events']);
}

function registerCreate(app: App, deps: HttpDeps, { base }: JobRoute<MigrationHead>): void {
  app.post(
    `${deploymentPath}/migrations`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createMigration',
        summary: 'Move what a name serves to another model, if it is no worse there',
        description:
          'Evaluates what is live on its own model and on the new one, row by row; looks for a better prompt if it is worse; answers whether the new model is no worse within max_loss; deploys it if asked for.',
        params: z.object({ deployment_id: z.string().describe('The name, or the id of what it serves.') }),
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: createMigrationSchema,
        response: { 201: migrationCreatedSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const live = await findServing(deps, request, request.params.deployment_id);
      const { spec, warnings, rollouts, keep } = await draftMigration(deps, request, live, request.body);
      const { labels, warnings: ofLabels } = labelsOf({ ...request.body, name: live.name });
      return create(deps, request, reply, {
        kind: 'migration',
        spec,
        labels,
        warnings: [...ofLabels, ...warnings],
        webhookUrl: request.body.webhook_url,
        algorithm: null,
        correlationId: null,
        prepare: keep,
        location: (jobId) => `${base}/${jobId}`,
        answer: ({ jobId, workflowId }) => ({
          job_id: jobId,
          status: 'running',
          rows: spec.gate.seeds.length,
          rollouts,
          workflow_id: workflowId,
          temporal_url: deps.temporalUrl(workflowId),
        }),
      });
    },
  );
}
