import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { sourceOf, type Gate, type Rollout } from '../commands/deploy.js';
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

/** A deployment, and when its address ends. */
export function withEnd(deployment: object, { ends }: Connection): object {
  return ends === null ? deployment : { ...deployment, served_until: ends };
}
