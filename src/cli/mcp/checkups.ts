import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Scorer } from '../../client/index.js';
import { improveModes } from '../../kinds/checkup/contract/steps.js';
import { answer } from './answer.js';
import type { ToolService } from './service.js';

const searchFields = {
  name: z.string().describe('The name that callers use.'),
  requests: z.int().min(1).optional().describe('The latest kept requests that are rows, at most so many.'),
  max_age: z.string().optional().describe('Requests of this time alone, such as 7d.'),
  expected: z
    .enum(['corrected', 'corrected_or_answer'])
    .default('corrected')
    .describe('The right answer to a request: the corrected answer alone, or else the answer itself.'),
  scorer: z.string().optional().describe('Of requests, by its name. Default: as the judge of the name does.'),
  budget: z.int().min(1).default(200).describe('Maximum answers of the search.'),
  max_cost_usd: z.number().gt(0).optional().describe('Maximum dollars of all its jobs.'),
  deploy: z
    .enum(['no', 'approval', 'yes'])
    .default('no')
    .describe('Whether a better prompt is rolled out: not, once a person approves it, or at once.'),
};
type SearchFields = z.output<z.ZodObject<typeof searchFields>>;

/** The tools that look again at what a name serves. */
export function registerCheckupTools(server: McpServer, service: ToolService): void {
  server.registerTool(
    'checkup',
    {
      description:
        'Whether what a name serves is better, the same or worse than at its release, on the rows of its gate and on recent requests; with improve it searches a better prompt. Costs model calls; watch the checkup.',
      inputSchema: z.strictObject({
        ...searchFields,
        rows: z.boolean().default(true).describe('Whether the rows of the gate are checked.'),
        max_change: z.number().gt(0).default(0.02).describe('A difference of mean reward that counts as none.'),
        improve: z.enum(improveModes).optional().describe('When to search a better prompt. Default: never.'),
      }),
    },
    async ({ rows, max_change, improve: when, ...fields }) => {
      const { traffic, scorer, deploy } = askedOf(fields);
      const body = {
        ...(!rows && { rows: null }),
        // The service's own default leaves out requests that are too few.
        ...(isTrafficAsked(fields) && { traffic }),
        ...scorer,
        max_change,
        ...(when && { improve: { when, budget: { max_rollouts: fields.budget }, deploy } }),
        ...(fields.max_cost_usd !== undefined && { budget: { max_cost_usd: fields.max_cost_usd } }),
      };
      return service.use(async ({ client }) => {
        const created = await client.request('createCheckup', { path: { deployment_id: fields.name }, body });
        return answer({ ...created });
      });
    },
  );

  server.registerTool(
    'improve',
    {
      description:
        'Search a better prompt for a name: half of its recent requests are searched on, half decide whether the winner is better than what is live. Costs model calls; watch the job.',
      inputSchema: z.strictObject(searchFields),
    },
    async (fields) => {
      const { traffic, scorer, deploy } = askedOf(fields);
      const dollars = fields.max_cost_usd;
      const budget = { max_rollouts: fields.budget, ...(dollars !== undefined && { max_cost_usd: dollars }) };
      const body = { traffic, ...scorer, budget, deploy };
      return service.use(async ({ client }) => {
        const created = await client.request('improveDeployment', { path: { deployment_id: fields.name }, body });
        return answer({ ...created });
      });
    },
  );
}

const isTrafficAsked = ({ requests, max_age: maxAge, expected }: SearchFields): boolean =>
  requests !== undefined || maxAge !== undefined || expected !== 'corrected';

function askedOf({ requests, max_age: maxAge, expected, scorer, deploy }: SearchFields) {
  return {
    traffic: {
      ...(requests !== undefined && { limit: requests }),
      ...(maxAge !== undefined && { max_age: maxAge }),
      expected,
    },
    scorer: scorer === undefined ? {} : { scorer: scorer as Scorer },
    deploy: deploy === 'no' ? null : { require_approval: deploy === 'approval' },
  };
}
