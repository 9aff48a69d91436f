import { z } from 'zod';
import { modelCheckRequestSchema, modelCheckSchema } from '../../../contracts/model-check.js';
import { ownProviders } from '../../../access/store/provider-keys.js';
import { addSpend } from '../../../access/store/spend-quota.js';
import type { App, HttpDeps } from '../deps.js';
import { refuse } from './errors.js';
import { bodyProblems, problems } from './schema.js';

const providersSchema = z.object({
  providers: z.array(
    z.object({
      name: z.string(),
      usable: z.boolean(),
      reason: z.string().nullable().describe('Why it is not usable.'),
    }),
  ),
});

/** The model providers and their usability. */
export function registerProviders(app: App, deps: HttpDeps): void {
  app.get(
    '/api/v1/providers',
    {
      schema: {
        tags: ['Service'],
        operationId: 'listProviders',
        summary: 'Model providers',
        response: { 200: providersSchema, ...problems() },
      },
    },
    async ({ caller }) => ({ providers: deps.listProviders(await ownProviders(deps.db, caller.orgId)) }),
  );

  app.post(
    '/api/v1/providers/check',
    {
      schema: {
        tags: ['Service'],
        operationId: 'checkModel',
        summary: 'What a model takes',
        description:
          'Calls the model some seven times, with at most 256 tokens an answer. Without an answer there is one check.',
        body: modelCheckRequestSchema,
        response: { 200: modelCheckSchema, ...bodyProblems() },
      },
    },
    async ({ caller, body }) => {
      const own = await ownProviders(deps.db, caller.orgId);
      const problem = deps.checkProvider(body.provider, own);
      if (problem !== null) throw refuse.invalid([{ pointer: '/provider', message: problem }]);
      const report = await deps.checkModel(caller, body, deps.shutdown);
      const { cost_usd: costUsd } = report;
      if (costUsd) await deps.db.org(caller.orgId, (tx) => addSpend(tx, caller, costUsd));
      return report;
    },
  );
}
