import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { sourceOf, type Gate, type Rollout } from '../commands/deploy.js';
import type { Scorer } from '../../client/index.js';
import { optimizeModes } from '../../kinds/migration/contract/steps.js';
import { checkModelName, modelOf } from '../task/model-name.js';
import type { Files } from '../task/files.js';
import { answer } from './answer.js';
import { refuseTargets } from './bounds.js';
import type { Connection, ToolService } from './service.js';
import { jobView } from './views.js';

/** The tool that serves a prompt. */
export function registerDeploymentTools(server: McpServer, service: ToolService, files: Files): void {
  server.registerTool(
    'deploy',
    {
      description:
        "Serve a prompt under a name, behind OpenAI's chat completions at /v1 with the name as the model. What the name served before stays until the gate is passed; watch the deployment.",
      inputSchema: z.strictObject({
        source: z.string().describe('A session (ses_…), a graph job (grf_…), or the file of a prompt.'),
        name: z.string().describe('The name that callers use as the model.'),
        model: z.string().optional().describe('provider/model, for the file of a prompt.'),
        gate: z
          .looseObject({})
          .optional()
          .describe(
            'The evaluation to pass, such as {"dataset": {"dataset_id": "…"}, "scorer": "exact", "min_improvement": 0}.',
          ),
        rollout: z
          .looseObject({})
          .optional()
          .describe(
            'Steps by which it takes requests, such as {"steps": [1, 10, 50, 100], "hold": "30m"}. Default: all at once.',
          ),
      }),
    },
    async ({ source, name, model, gate, rollout }) => {
      refuseTargets(gate, 'gate');
      const given = { ...(gate && { gate: gate as Gate }), ...(rollout && { rollout: rollout as Rollout }) };
      const body = { name, source: await sourceOf(source, model, files), ...given };
      return service.use(async (connection) => {
        const created = await connection.client.request('createDeployment', { body });
        return answer(withEnd(jobView(created.id, created), connection));
      });
    },
  );
}

/** The tool that moves a deployment to another model. */
export function registerMigrationTool(server: McpServer, service: ToolService): void {
  server.registerTool(
    'migrate',
    {
      description:
        'Move what a name serves to another model: evaluates both models on rows, looks for a better prompt if the new one is worse, and answers whether it is no worse within max_loss. Costs model calls; watch the migration.',
      inputSchema: z.strictObject({
        name: z.string().describe('The name that callers use.'),
        to: z.string().describe('The new model, as provider/model.'),
        max_loss: z.number().gt(0).default(0.02).describe('The loss of mean reward that counts as none.'),
        dataset_id: z.string().optional().describe('Rows that decide. Default: those of the gate of what is live.'),
        scorer: z.string().optional().describe('With dataset_id: the name of a scorer, such as exact.'),
        optimize: z.enum(optimizeModes).default('if_worse').describe('When to look for a better prompt.'),
        budget: z.int().min(1).default(200).describe('Maximum answers of the search.'),
        deploy: z.boolean().default(false).describe('Serve it under the name if it is no worse.'),
      }),
    },
    async ({ name, to, dataset_id: id, scorer, budget, deploy, ...others }) => {
      await checkModelName(to, 'to');
      const body = {
        ...others,
        to: modelOf(to),
        budget: { max_rollouts: budget },
        ...(id !== undefined && { dataset: { dataset_id: id } }),
        ...(scorer !== undefined && { scorer: scorer as Scorer }),
        ...(deploy && { deploy: {} }),
      };
      return service.use(async ({ client }) => {
        const created = await client.request('createMigration', { path: { deployment_id: name }, body });
        return answer({ ...created });
      });
    },
  );
}

/** A deployment, and when its address ends. */
export function withEnd(deployment: object, { ends }: Connection): object {
  return ends === null ? deployment : { ...deployment, served_until: ends };
}
