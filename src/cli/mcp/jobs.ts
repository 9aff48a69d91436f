import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { evaluationResultsSchema } from '../../contracts/evaluations/evaluation.js';
import { kindOf } from '../../core/jobs/kinds.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Api } from '../service/api.js';
import { control, newestJobs, pathOf, resultsOf } from '../commands/jobs.js';
import { answer, reads } from './answer.js';
import { candidatesOf } from './candidates.js';

const id = z.string().describe('Id of a session (ses_…), an evaluation (evl_…), a graph job (grf_…) or a deployment.');
/** Clients give a call a minute. */
const longestWatchS = 50;
const pollMs = 500;
const lowestShown = 20;

type Job = { status: string; progress?: { completed?: number; rollouts_completed?: number; total?: number } };

/** Tools on existing jobs. */
export function registerJobTools(server: McpServer, api: Api): void {
  server.registerTool(
    'list_jobs',
    {
      description: 'The newest jobs, with status and best reward.',
      inputSchema: z.strictObject({ limit: z.int().min(1).max(100).default(20) }),
      annotations: reads,
    },
    async ({ limit }) => answer({ jobs: await newestJobs(api, limit) }),
  );

  server.registerTool(
    'watch',
    {
      description: `The state of a job as soon as it has ended, or after at most wait_seconds. Repeat until status is completed, failed, cancelled or ready.`,
      inputSchema: z.strictObject({ id, wait_seconds: z.number().min(0).max(longestWatchS).default(longestWatchS) }),
      annotations: reads,
    },
    async ({ id, wait_seconds: seconds }, context) => answer(await watch(api, id, seconds, context)),
  );

  server.registerTool(
    'results',
    {
      description: `Of a session: best prompt, history, verdict on held-out rows. Of an evaluation: the summary, and the ${lowestShown} rows with the lowest rewards; trace says why.`,
      inputSchema: z.strictObject({ id }),
      annotations: reads,
    },
    async ({ id }) => {
      const found = await resultsOf(api, id);
      return answer(kindOf(id) === 'evaluation' ? withLowest(found as EvaluationResults) : found);
    },
  );

  server.registerTool(
    'list_candidates',
    {
      description:
        'The prompts that a session or graph job considered, with reward, parents and why each was accepted or rejected; the baseline first.',
      inputSchema: z.strictObject({
        id: z.string().describe('Id of a session (ses_…) or a graph job (grf_…).'),
        limit: z.int().min(1).max(50).default(20),
        cursor: z.string().optional().describe('next_cursor of the answer before.'),
      }),
      annotations: reads,
    },
    async ({ id, ...page }) => answer(await candidatesOf(api, id, page)),
  );

  server.registerTool(
    'trace',
    {
      description: 'A rollout with its model calls, reward and feedback.',
      inputSchema: z.strictObject({ id, trace_id: z.string().describe('trace_id of a row in results.') }),
      annotations: reads,
    },
    async ({ id, trace_id: trace }) =>
      answer(await api.call<object>('GET', `${pathOf(id).path}/traces/${encodeURIComponent(trace)}`)),
  );

  server.registerTool(
    'compare',
    {
      description: 'Whether b is better than a, row by row with a 95 % interval.',
      inputSchema: z.strictObject({
        a: z.string().describe('An evaluation, session, graph job, candidate, or deployment by id or name.'),
        b: z.string(),
      }),
      annotations: reads,
    },
    async (sides) => answer(await api.call<object>('GET', `/api/v1/compare?${new URLSearchParams(sides).toString()}`)),
  );

  server.registerTool(
    'control',
    {
      description: 'Pause, resume or cancel a job.',
      inputSchema: z.strictObject({ id, action: z.enum(['pause', 'resume', 'cancel']) }),
    },
    async ({ id, action }) => answer({ id, status: await control(api, action, id) }),
  );
}

/** Reads a job until it has ended, and reports its rollouts to clients that ask for progress. */
async function watch(api: Api, id: string, seconds: number, { mcpReq }: ServerContext): Promise<Job> {
  const { path } = pathOf(id);
  const until = performance.now() + seconds * 1_000;
  let reported = -1;
  for (;;) {
    const job = await api.call<Job>('GET', path);
    const { completed, rollouts_completed: rollouts = completed ?? 0 } = job.progress ?? {};
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined && rollouts > reported) {
      reported = rollouts;
      const message = `${job.status}: ${rollouts} rollouts`;
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: rollouts, message },
      });
    }
    if (isEnded(job.status) || performance.now() >= until || mcpReq.signal.aborted) return job;
    await delay(pollMs);
  }
}

/** Whether a job has ended; a deployment that answers is ready. */
function isEnded(status: string): boolean {
  return status === 'ready' || isTerminal(status as Status);
}

type EvaluationResults = z.output<typeof evaluationResultsSchema>;

function withLowest({ results, ...rest }: EvaluationResults) {
  const lowest = results.toSorted((left, right) => (left.reward ?? -Infinity) - (right.reward ?? -Infinity));
  return { ...rest, lowest: lowest.slice(0, lowestShown) };
}
