import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Answer } from '../../client/index.js';
import { answer, reads } from './answer.js';
import type { ToolService } from './service.js';

type Health = Answer<'getHealth'>;

/** The tool that returns the health of providers and service. */
export function registerHealthTool(server: McpServer, service: ToolService): void {
  server.registerTool(
    'health',
    {
      description:
        'What is slow, throttled or failing now: providers by model, the open jobs and deployments that name them, the parts of the service, and the spend of today. Use it when a job is slow or stands still.',
      inputSchema: z.strictObject({}),
      annotations: reads,
    },
    () => service.use(async ({ client }) => answer(shortened(await client.health()))),
  );
}

/** Without the counts of each minute and hour. */
function shortened({ providers, deployments, ...rest }: Health) {
  return { ...rest, providers: providers.map(recent), deployments: deployments.map(recent) };
}

function recent<Each extends Health['providers'][number] | Health['deployments'][number]>(each: Each) {
  const { minutes: _minutes, last_hour: _hour, last_minute: _minute, ...rest } = each;
  return rest;
}
