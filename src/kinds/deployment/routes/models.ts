import { z } from 'zod';
import { modelListSchema, modelSchema } from '../contract/models.js';
import type { Db } from '../../../platform/db/db.js';
import { resolveDeployment } from '../store/resolve.js';
import { listServedNames } from '../store/served.js';
import { whatNameHas } from '../../../models/routes/deployments/unknown-ref.js';
import type { App } from '../../../platform/http/deps.js';
import { unknownModel } from '../../../models/routes/deployments/not-ready.js';
import { openAiFailure } from '../../../models/routes/schema.js';

const longestList = 1_000;
const tags = ['Inference'];
const config = { access: 'inference', orScope: 'read' } as const;
const params = z.object({
  model: z.string().describe('The name of a deployment, NAME@LABEL, NAME@VERSION, or its id.'),
});
const failures = {
  401: openAiFailure('Missing or unknown key.'),
  403: openAiFailure('The key has neither of the scopes infer and read.'),
};

/** Registers OpenAI's list of models: the names that deployments serve. */
export function registerModels(app: App, { db }: { db: Db }): void {
  app.get(
    '/v1/models',
    {
      config,
      schema: {
        tags,
        operationId: 'listModels',
        summary: 'The deployments that answer, as OpenAI models',
        response: { 200: modelListSchema, ...failures },
      },
    },
    async ({ caller: { orgId } }) => {
      const names = await db.org(orgId, (tx) => listServedNames(tx, longestList));
      return { object: 'list' as const, data: names.map(({ name, liveAt }) => modelView(name, liveAt)) };
    },
  );

  app.get(
    '/v1/models/:model',
    {
      config,
      schema: {
        tags,
        operationId: 'getModel',
        summary: 'A deployment that answers, as an OpenAI model',
        params,
        response: { 200: modelSchema, ...failures, 404: openAiFailure('No deployment serves this model.') },
      },
    },
    async ({ caller: { orgId }, params: { model } }) => {
      const served = await db.org(orgId, (tx) => resolveDeployment(tx, model));
      if (!served?.liveAt) throw unknownModel(model, await db.org(orgId, (tx) => whatNameHas(tx, model)));
      return modelView(model, served.liveAt);
    },
  );
}

function modelView(id: string, liveAt: Date): z.output<typeof modelSchema> {
  return { id, object: 'model', created: Math.floor(liveAt.getTime() / 1_000), owned_by: 'ratchet' };
}
