/** One command for many runs; each answers as its own command would. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { command } from '../../jobs/routes/control.js';
import { mark } from '../../jobs/routes/labels.js';
import { readJobs, type JobHead, type ListedJob } from '../../jobs/store/jobs.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import { statuses, transition, type Status } from '../../core/jobs/status.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader } from '../../platform/http/server/schema.js';
import { maxTags } from '../../contracts/labels.js';
import { mapLimited } from '../../util/map-limited.js';
import {
  mostRuns,
  runCommandsAnswerSchema,
  runCommandsSchema,
  type RunAction,
  type RunCommands,
} from '../contract/commands.js';
import { listRuns } from '../store/runs.js';

type Outcome = z.output<typeof runCommandsAnswerSchema>['runs'][number];
type Job = ListedJob<JobHead>;

/** Runs that a filter looks through. */
const mostListed = 2_000;
/** Commands that wait for their workflows at the same time. */
const atOnce = 16;

export function registerRunCommands(app: App, deps: HttpDeps): void {
  app.post(
    '/api/v1/runs/commands',
    {
      schema: {
        tags: ['Runs'],
        operationId: 'commandRuns',
        summary: 'Pause, resume, cancel, archive or tag many runs',
        description: `At most ${mostRuns} runs. With a filter, those that the action would change. Runs that cannot take the command are listed as refused; the others take it.`,
        headers: idempotencyHeader,
        body: runCommandsSchema,
        response: { 200: runCommandsAnswerSchema, ...bodyProblems() },
      },
    },
    async (request) => {
      const { action, dry_run, tag } = request.body;
      const { jobs, missing } = await findRuns(deps, request, request.body);
      const work = (job: Job) =>
        dry_run ? preview(job, action, tag) : act(deps, job, { action, tag, keyId: request.caller.keyId });
      const outcomes = await mapLimited(jobs, atOnce, async (job) => work(job));
      return { action, dry_run, runs: [...outcomes, ...missing.map(notFound)] };
    },
  );
}

/** The runs that a request names, or that its filter finds. Throws 422 for more than `mostRuns`. */
async function findRuns(
  { db }: HttpDeps,
  { caller }: FastifyRequest,
  { action, job_ids, filter, tag }: RunCommands,
): Promise<{ jobs: Job[]; missing: string[] }> {
  return db.org(caller.orgId, async (tx) => {
    if (!filter) {
      const ids = [...new Set(job_ids)];
      const found = new Map((await readJobs(tx, ids)).filter(isRun).map((job) => [job.jobId, job]));
      return {
        jobs: ids.flatMap((id) => found.get(id) ?? []),
        missing: ids.filter((id) => !found.has(id)),
      };
    }
    const { kind, provider, status: state, created_by: createdBy } = filter;
    const tags = [filter.tag ?? []].flat();
    const states = changedBy(action);
    // A running job costs money, whoever started it.
    const wanted = { kind, provider, state, states, createdBy, tags, archived: true, parts: true };
    const order = { by: 'created', isDescending: true } as const;
    const rows = await listRuns(tx, wanted, order, { after: undefined, limit: mostListed });
    const jobs = await readJobs(
      tx,
      rows.map(({ id }) => id),
    );
    const touched = jobs.filter((job) => preview(job, action, tag).outcome === 'would');
    if (touched.length > mostRuns || rows.length === mostListed) throw tooMany();
    return { jobs: touched, missing: [] };
  });
}

/** The statuses that an action changes; undefined: it changes none. */
function changedBy(action: RunAction): Status[] | undefined {
  if (action !== 'pause' && action !== 'resume' && action !== 'cancel') return undefined;
  return statuses.filter((status) => {
    const result = transition(status, action);
    return result.ok && !result.already;
  });
}

const isRun = ({ kind }: Job) => jobKinds[kind].takesCommands;

function tooMany(): ApiError {
  const message = `passes more than ${mostRuns} runs; narrow it, by status for example`;
  return refuse.invalid([{ pointer: '/filter', message }]);
}

/** What an action would do to a run. */
function preview(job: Job, action: RunAction, tag: string | undefined): Outcome {
  const { jobId: job_id, kind, name, status } = job;
  const shown = { job_id, kind: kind as Outcome['kind'], name, status, error: null };
  switch (action) {
    case 'archive':
    case 'unarchive':
      return { ...shown, outcome: job.archived === (action === 'archive') ? 'unchanged' : 'would' };
    case 'tag':
      if (job.tags.includes(tag!)) return { ...shown, outcome: 'unchanged' };
      if (job.tags.length < maxTags) return { ...shown, outcome: 'would' };
      return {
        ...shown,
        outcome: 'refused',
        error: { code: 'validation_failed', message: `The run has ${maxTags} tags already; remove one first.` },
      };
    default: {
      const result = transition(status, action);
      if (result.ok) return { ...shown, outcome: result.already ? 'unchanged' : 'would' };
      const message = `The job is ${status}, so it does not take ${action}.`;
      return { ...shown, outcome: 'refused', error: { code: 'invalid_state', message } };
    }
  }
}

interface GivenAction {
  action: RunAction;
  tag: string | undefined;
  keyId: string | null;
}

async function act(deps: HttpDeps, job: Job, { action, tag, keyId }: GivenAction): Promise<Outcome> {
  const expected = preview(job, action, tag);
  if (expected.outcome !== 'would') return expected;
  try {
    switch (action) {
      case 'archive':
      case 'unarchive':
        await mark(deps, job, { archived: action === 'archive' });
        return { ...expected, outcome: 'done' };
      case 'tag':
        await mark(deps, job, { tags: [...job.tags, tag!] });
        return { ...expected, outcome: 'done' };
      default: {
        const { body } = await command(deps, job, { kind: action, keyId });
        return { ...expected, status: body.status, outcome: body.pending_command ? 'pending' : 'done' };
      }
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...expected, outcome: 'refused', error: { code: error.code, message: error.message } };
  }
}

function notFound(job_id: string): Outcome {
  const error = { code: 'not_found', message: `Run "${job_id}" not found.` };
  return { job_id, kind: null, name: null, status: null, outcome: 'refused', error };
}
