import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Answer } from '../../client/index.js';
import { ConfigError } from '../../config.js';
import { kindOf } from '../../core/jobs/kinds.js';
import { control, jobOf, newestJobs, resultsOf } from '../commands/jobs.js';
import { hasEnded } from '../service/status.js';
import { answer, reads } from './answer.js';
import { candidatesOf, searchOf } from './candidates.js';
import { withEnd } from './deployments.js';
import { lowestOf, lowestShown } from './lowest.js';
import type { Connection, ToolService } from './service.js';
import { jobView, listedJob, sessionResultsView } from './views.js';

const id = z.string().describe('Id of a session (ses_…), an evaluation (evl_…), a graph job (grf_…) or a deployment.');
const ofSearch = z.string().describe('Id of a session (ses_…) or a graph job (grf_…).');
const fields = z
  .array(z.string())
  .default([])
  .describe('Further fields by the names of the API, such as split; a wrong name is answered with all names.');
/** Clients give a call a minute. */
const longestWatchS = 50;
const pollMs = 500;
const jobsShown = 20;
const newest = 1_000;
const candidatesShown = 10;
/** An agent asks for a trace to read its texts. */
const longestTrace = 20_000;

type Job = Answer<'getSession' | 'getEvaluation' | 'getGraphJob' | 'getDeployment'>;

/** Tools on existing jobs. */
export function registerJobTools(server: McpServer, service: ToolService): void {
  server.registerTool(
    'list_jobs',
    {
      description: 'The newest jobs, with status and reward; watch and results say more about one.',
      inputSchema: z.strictObject({
        limit: z.int().min(1).max(jobsShown).default(jobsShown),
        offset: z
          .int()
          .min(0)
          .max(newest - jobsShown)
          .default(0)
          .describe('next_offset of the answer before.'),
      }),
      annotations: reads,
    },
    ({ limit, offset }) =>
      service.use(async ({ client }) => {
        const jobs = await newestJobs(client, Math.min(offset + limit + 1, newest));
        const hasMore = jobs.length > offset + limit;
        const shown = jobs.slice(offset, offset + limit).map((job) => listedJob({ ...job }));
        return answer({ jobs: shown, next_offset: hasMore ? offset + limit : null });
      }),
  );

  server.registerTool(
    'watch',
    {
      description: `The state of a job as soon as it has ended, or after at most wait_seconds. Repeat until status is completed, failed, cancelled or ready.`,
      inputSchema: z.strictObject({
        id,
        wait_seconds: z.number().min(0).max(longestWatchS).default(longestWatchS),
        fields,
      }),
      annotations: reads,
    },
    ({ id, wait_seconds: seconds, fields }, context) => {
      // Counted from the call on, a start of the service included.
      const until = performance.now() + seconds * 1_000;
      return service.use(async (connection) => {
        const job = await watch(connection, id, until, context);
        const view = jobView(id, { ...job }, fields);
        return answer(kindOf(id) === 'deployment' ? withEnd(view, connection) : view);
      });
    },
  );

  server.registerTool(
    'results',
    {
      description: `Of a session: best prompt, verdict on held-out rows, history of the best reward. Of an evaluation: the summary, and the ${lowestShown} rows with the lowest rewards with input, expected value, answer and feedback, shortened; trace has all of them.`,
      inputSchema: z.strictObject({ id, fields }),
      annotations: reads,
    },
    ({ id, fields }) =>
      service.use(async ({ client }) => {
        const kind = kindOf(id);
        if (kind === 'evaluation') {
          if (fields.length > 0) throw new ConfigError('fields: results of an evaluation have no others; see trace');
          return answer(await lowestOf(client, id));
        }
        const found = { ...(await resultsOf(client, id)) };
        if (kind === 'session') return answer(sessionResultsView(found, fields), { whole: ['best_prompt'] });
        return answer(jobView(id, found, kind === 'graph' ? ['history', ...fields] : fields));
      }),
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
      description: 'A candidate with its whole prompt, its differences from its parents, and the proposal behind it.',
      inputSchema: z.strictObject({ id: ofSearch, candidate_id: z.string() }),
      annotations: reads,
    },
    ({ id, candidate_id: candidate }) =>
      service.use(async ({ client }) =>
        answer(await searchOf(client, id).candidate(candidate), { whole: ['messages', 'prompts'] }),
      ),
  );

  server.registerTool(
    'trace',
    {
      description: 'A rollout with its model calls, reward and feedback; very long texts are cut.',
      inputSchema: z.strictObject({ id, trace_id: z.string().describe('trace_id of a row in results.') }),
      annotations: reads,
    },
    ({ id, trace_id: trace }) =>
      service.use(async ({ client }) => {
        const job = jobOf(client, id);
        if (!('trace' in job)) throw new ConfigError(`${id} is a deployment, which has no traces`);
        return answer(await job.trace(trace), { max: longestTrace });
      }),
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
    ({ a, b }) => service.use(async ({ client }) => answer(await client.compare(a, b))),
  );

  server.registerTool(
    'control',
    {
      description: 'Pause, resume or cancel a job.',
      inputSchema: z.strictObject({ id, action: z.enum(['pause', 'resume', 'cancel']) }),
    },
    ({ id, action }) => service.use(async ({ client }) => answer({ id, status: await control(client, action, id) })),
  );
}

/** Reads a job until it has ended, and reports its rollouts to clients that ask for progress. */
async function watch({ client }: Connection, id: string, until: number, { mcpReq }: ServerContext): Promise<Job> {
  const handle = jobOf(client, id);
  let reported = -1;
  for (;;) {
    const job: Job = await handle.get();
    const rollouts = rolloutsOf(job);
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined && rollouts > reported) {
      reported = rollouts;
      const message = `${job.status}: ${rollouts} rollouts`;
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: rollouts, message },
      });
    }
    if (hasEnded(job.status) || performance.now() >= until || mcpReq.signal.aborted) return job;
    await delay(pollMs);
  }
}

/** The rollouts of a job that have ended; 0: it has none. */
function rolloutsOf(job: Job): number {
  if (!('progress' in job)) return 0;
  return 'completed' in job.progress ? job.progress.completed : job.progress.rollouts_completed;
}
