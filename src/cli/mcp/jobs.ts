import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Answer } from '../../client/index.js';
import { kindOf } from '../../core/jobs/kinds.js';
import { phaseName, progressInWords } from '../../core/jobs/phase.js';
import { unitOfView } from '../../core/jobs/unit.js';
import { control, jobOf, newestJobs } from '../commands/jobs.js';
import { hasEnded } from '../service/status.js';
import { answer, reads } from './answer.js';
import { withEnd } from './deployments.js';
import { fields, id } from './inputs.js';
import type { Connection, ToolService } from './service.js';
import { jobView, listedJob, listedRun } from './views.js';
import { runSorts } from '../../runs/contract/run.js';

/** Clients give a call a minute. */
const longestWatchS = 50;
const pollMs = 500;
const jobsShown = 20;
const newest = 1_000;

type Job = Answer<'getSession' | 'getEvaluation' | 'getGraphJob' | 'getDeployment' | 'getMigration' | 'getCheckup'>;

/** Tools that list and watch jobs. */
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
    'list_runs',
    {
      description:
        'Sessions, evaluations and graph jobs in an order, with verdict, gain over the baseline and cost. Only runs with the same comparable_key are on one scale.',
      inputSchema: z.strictObject({
        sort: z.enum(runSorts.flatMap((sort) => [sort, `-${sort}`] as const)).default('-gain'),
        dataset: z.string().optional().describe('Only runs on this data set.'),
        tag: z.string().optional(),
        limit: z.int().min(1).max(jobsShown).default(jobsShown),
      }),
      annotations: reads,
    },
    (query) =>
      service.use(async ({ client }) => {
        const { data, totals } = await client.runs.page(query);
        return answer({ runs: data.map((run) => listedRun({ ...run })), totals });
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
}

/** The tool that pauses, resumes or cancels a job. */
export function registerControlTool(server: McpServer, service: ToolService): void {
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
      const message = [`${job.status}: ${rollouts} answers`, ...phaseOf(job)].join(', ');
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: rollouts, message },
      });
    }
    if (hasEnded(job.status) || performance.now() >= until || mcpReq.signal.aborted) return job;
    await delay(pollMs);
  }
}

/** Its phase in words; empty: it has none now. */
function phaseOf(job: Job): string[] {
  if (!('progress' in job) || job.progress.phase === null) return [];
  const { phase } = job.progress;
  const round = 'generation' in job.progress ? job.progress.generation : 0;
  return [`${phaseName(phase.name, unitOfView(job))} ${progressInWords(phase, round)}`];
}

/** The rollouts of a job that have ended; 0: it has none. */
function rolloutsOf(job: Job): number {
  if (!('progress' in job)) return 0;
  return 'completed' in job.progress ? job.progress.completed : job.progress.rollouts_completed;
}
