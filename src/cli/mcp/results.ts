import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Ratchet } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { kindOf } from '../../core/jobs/kinds.js';
import { rowGroups } from '../../core/rows/groups.js';
import { jobOf, resultsOf } from '../commands/jobs.js';
import { readRows } from '../commands/rows.js';
import { answer, reads } from './answer.js';
import { candidateOf, candidatesOf } from './candidates.js';
import { fields, id } from './inputs.js';
import { lowestOf, lowestShown } from './lowest.js';
import type { ToolService } from './service.js';
import { jobView, sessionResultsView } from './views.js';

const ofSearch = z.string().describe('Id of a session (ses_…) or a graph job (grf_…).');
const candidatesShown = 10;
const rowsShown = 20;
const mostColumns = 8;
/** An agent asks for a trace to read its texts. */
const longestTrace = 20_000;

/** Tools that show what jobs found. */
export function registerResultTools(server: McpServer, service: ToolService): void {
  server.registerTool(
    'results',
    {
      description: `First what happened and what to do now (diagnosis). Of a session: best prompt, verdict on held-out rows, counts of proposals, history of the best reward. Of an evaluation: the summary, and the ${lowestShown} rows with the lowest rewards with input, expected value, answer and feedback, shortened; trace has all of them.`,
      inputSchema: z.strictObject({ id, fields }),
      annotations: reads,
    },
    ({ id, fields }) => service.use(({ client }) => resultsAnswer(client, id, fields)),
  );

  server.registerTool(
    'rows',
    {
      description:
        'Rows of a session, graph job or evaluation with input, expected value and both answers, shortened; by default those that are still wrong.',
      inputSchema: z.strictObject({
        id,
        group: z.enum(rowGroups).default('failing'),
        search: z.string().min(1).max(500).optional().describe('A part of a text.'),
        limit: z.int().min(1).max(rowsShown).default(rowsShown),
      }),
      annotations: reads,
    },
    ({ id, group, search, limit }) =>
      service.use(async ({ client }) => answer({ rows: await readRows(client, id, { group, q: search }, limit) })),
  );

  server.registerTool(
    'list_candidates',
    {
      description:
        'The prompts that a session or graph job considered, with reward, parents and why each was accepted or rejected; the baseline first. Long prompts are cut; candidate has the whole one.',
      inputSchema: z.strictObject({
        id: ofSearch,
        limit: z.int().min(1).max(candidatesShown).default(candidatesShown),
        cursor: z.string().optional().describe('next_cursor of the answer before.'),
      }),
      annotations: reads,
    },
    ({ id, ...page }) => service.use(async ({ client }) => answer(await candidatesOf(client, id, page))),
  );

  server.registerTool(
    'candidate',
    {
      description:
        'A candidate with its whole prompt, its differences from its parents, the proposal behind it, and its edits of the baseline: who wrote each, from which row, and the rows won and lost.',
      inputSchema: z.strictObject({ id: ofSearch, candidate_id: z.string() }),
      annotations: reads,
    },
    ({ id, candidate_id: candidate }) =>
      service.use(async ({ client }) =>
        answer(await candidateOf(client, id, candidate), { whole: ['messages', 'prompts'] }),
      ),
  );

  server.registerTool(
    'trace',
    {
      description: 'An answer with its model calls, reward and feedback; very long texts are cut.',
      inputSchema: z.strictObject({ id, trace_id: z.string().describe('trace_id of a row in results.') }),
      annotations: reads,
    },
    ({ id, trace_id: trace }) => service.use(({ client }) => traceAnswer(client, id, trace)),
  );

  registerCompare(server, service);
}

function registerCompare(server: McpServer, service: ToolService): void {
  server.registerTool(
    'compare',
    {
      description:
        'Which of two to eight is better than the baseline, row by row with 95 % intervals and p-values corrected for their number. Read against_baseline of each column.',
      inputSchema: z.strictObject({
        ids: z
          .array(z.string())
          .min(2)
          .max(mostColumns)
          .describe('Evaluations, sessions, graph jobs, candidates, or deployments by id or name.'),
        baseline: z.string().optional().describe('The one of ids to compare with. Default: the first.'),
      }),
      annotations: reads,
    },
    ({ ids, baseline }) =>
      service.use(async ({ client }) => answer(await client.compareMany(ids, { ...(baseline && { baseline }) }))),
  );
}

async function resultsAnswer(client: Ratchet, id: string, fields: string[]) {
  const kind = kindOf(id);
  if (kind === 'evaluation') {
    if (fields.length > 0) throw new ConfigError('fields: results of an evaluation have no others; see trace');
    return answer(await lowestOf(client, id));
  }
  const found = { ...(await resultsOf(client, id)) };
  if (kind === 'session') return answer(sessionResultsView(found, fields), { whole: ['best_prompt'] });
  return answer(jobView(id, found, kind === 'graph' ? ['history', ...fields] : fields));
}

async function traceAnswer(client: Ratchet, id: string, trace: string) {
  const job = jobOf(client, id);
  if (!('trace' in job)) throw new ConfigError(`${id} is a deployment, which has no traces`);
  return answer(await job.trace(trace), { max: longestTrace });
}
