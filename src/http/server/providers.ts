import { z } from 'zod';
import { ownProviders } from '../../storage/access/provider-keys.js';
import type { App, HttpDeps } from '../deps.js';
import { problems } from './schema.js';

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
}
