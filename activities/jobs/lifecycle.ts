import { Context } from '@temporalio/activity';
import type { Decision as SearchDecision, SearchView } from '../../src/core/search/protocol.js';
import type { EvaluationSpec, JobSpec } from '../../src/core/jobs/spec.js';
import type { Tx } from '../../src/storage/db/db.js';
import { lockJob, type JobRef, type NewEvent } from '../../src/storage/jobs/events.js';
import { candidateId } from '../../src/core/jobs/ids.js';
import { finishJob, recordDecision, type Decision, type ErrorDetails } from '../../src/storage/decisions/record.js';
import { readTotals } from '../../src/storage/rollouts/totals.js';
import type { SessionProjection } from '../../src/storage/jobs/jobs.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { classifyErrors } from '../errors.js';
import { graphStarted, sessionStarted } from './prepare.js';

export interface FinishInput extends JobRef {
  ending: { status: 'completed' | 'failed' | 'cancelled'; stoppedBy: string; error: ErrorDetails | null };
  search: SearchView | null;
  accepted: string[];
}

/**
 * What a search has decided, and where it stands since. `step` counts its decisions; `view` holds of the candidates only
 * those that changed.
 */
export interface SearchUpdate {
  step: number;
  view: SearchView;
  decisions: SearchDecision[];
}

/** Records where a search stands, with the events of what it decided. Called again, or late, it changes nothing. */
export async function recordSearchUpdate(tx: Tx, job: JobRef, { step, view, decisions }: SearchUpdate): Promise<void> {
  await recordDecision(tx, job, {
    step,
    projection: projection(job.jobId, view),
    candidates: view.candidates,
    outcomesThrough: view.rolloutsCompleted,
    events: decisions.flatMap((decision) => searchEvents(job.jobId, decision)),
  });
}

/** Writes what the workflows decide. */
export function lifecycleActivities({ db, temporal }: ActivityDeps) {
  return {
    /** Records a decision: status, commands' outcomes and events, in one transaction. */
    record: ({ decision, ...job }: JobRef & { decision: Decision }) =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          const events = decision.events ?? [];
          const started = events.length > 0 ? await startOf(tx, job) : [];
          await recordDecision(tx, job, { ...decision, events: [...started, ...events] });
        }),
      ),

    /** Records what a search decided, where no work follows that could do it on its way. */
    recordSearch: ({ orgId, jobId, ...decided }: JobRef & SearchUpdate) =>
      classifyErrors(() => db.org(orgId, (tx) => recordSearchUpdate(tx, { orgId, jobId }, decided))),

    /** Closes the job's row with its terminal event. */
    finish: ({ ending, search, accepted, ...job }: FinishInput) =>
      classifyErrors(async () => {
        await db.org(job.orgId, async (tx) => {
          // What is told of the end must be what there is then: a runner may still be recording.
          await lockJob(tx, job);
          const evaluation = job.jobId.startsWith('evl_') ? await evaluationTotals(tx, job) : null;
          const error = ending.error && evaluation ? withProgress(ending.error, evaluation) : ending.error;
          await finishJob(tx, job, {
            status: ending.status,
            stoppedBy: ending.stoppedBy === 'completed' ? null : ending.stoppedBy,
            error,
            ...(search && {
              projection: projection(job.jobId, search),
              candidates: search.candidates,
              outcomesThrough: search.rolloutsCompleted,
            }),
            events: evaluation
              ? evaluationEnd(ending.status, evaluation, error)
              : sessionEnd(job.jobId, ending.status, ending.stoppedBy, search, error),
            accepted,
          });
        });
      }),

    /** Asks Temporal to cancel the workflow that runs this activity, so that it closes as CANCELED. */
    requestCancellation: () =>
      classifyErrors(async () => {
        const { workflowExecution } = Context.current().info;
        if (!workflowExecution) throw new TypeError('not called by a workflow');
        await temporal.workflow.getHandle(workflowExecution.workflowId, workflowExecution.runId).cancel();
      }),
  };
}

/** A search's log begins with its start, also where it is paused before its container has answered the first question. */
async function startOf(tx: Tx, job: JobRef): Promise<NewEvent[]> {
  const spec = await readSpec<JobSpec>(tx, job.jobId);
  switch (spec.kind) {
    case 'session':
      return [sessionStarted(spec, spec.initialPrompt !== null)];
    case 'graph':
      return [graphStarted(spec)];
    case 'evaluation':
      return [];
  }
}

/** A job that ran out of time says how far it came. */
function withProgress(error: ErrorDetails, { finished, total }: { finished: number; total: number }): ErrorDetails {
  return error.code === 'timeout'
    ? { ...error, message: `${error.message} ${finished} of ${total} seeds have a result.` }
    : error;
}

/** Of an evaluation in numbers. The total is what was asked for: a job that fails early has no rollouts yet. */
async function evaluationTotals(tx: Tx, job: JobRef) {
  const { seeds } = await readSpec<EvaluationSpec>(tx, job.jobId);
  const { succeeded, failed, meanReward } = await readTotals(tx, job.jobId);
  return { total: seeds.length, finished: succeeded + failed, succeeded, failed, meanReward };
}

function projection(jobId: string, view: SearchView): SessionProjection {
  return {
    generation: view.generation,
    totalGenerations: view.totalGenerations,
    bestCandidateId: view.bestCandidate === null ? null : candidateId(jobId, view.bestCandidate),
    bestReward: view.bestReward,
    rolloutsPlanned: view.rolloutsPlanned,
    rolloutsCompleted: view.rolloutsCompleted,
    maxRollouts: view.maxRollouts,
    history: view.history,
    baselineCandidateId: candidateId(jobId, 0),
    ...(view.estimate && { estimate: estimateOf(jobId, view.estimate) }),
    ...(view.noise && { noise: view.noise }),
    ...(view.evaluationRollouts !== undefined && { evaluationRollouts: view.evaluationRollouts }),
    ...(view.verdict && { verdict: view.verdict }),
  };
}

function estimateOf(jobId: string, { candidate, ...interval }: NonNullable<SearchView['estimate']>) {
  return { candidateId: candidateId(jobId, candidate), ...interval };
}

function searchEvents(jobId: string, decision: SearchDecision): NewEvent[] {
  const id = (candidate: number) => candidateId(jobId, candidate);
  switch (decision.type) {
    case 'candidate_proposed':
      return [
        {
          key: `proposed:${decision.candidate}`,
          type: 'candidate_proposed',
          message: `candidate ${decision.candidate} proposed`,
          data: {
            candidate_id: id(decision.candidate),
            parent_ids: decision.parents.map(id),
            generation: decision.generation,
            lever_version: decision.candidate,
          },
        },
      ];
    case 'candidate_rejected':
      return [
        {
          key: `rejected:${decision.candidate}`,
          type: 'candidate_rejected',
          message: `candidate ${decision.candidate} rejected: ${decision.reason}`,
          data: {
            candidate_id: id(decision.candidate),
            generation: decision.generation,
            reason: decision.reason,
            parent_sum: decision.parentSum,
            child_sum: decision.childSum,
          },
        },
      ];
    case 'candidate_accepted':
      return [
        {
          key: `accepted:${decision.candidate}`,
          type: 'candidate_accepted',
          message: `candidate ${decision.candidate} accepted, about ${decision.estimate.toFixed(4)} expected of it`,
          data: {
            candidate_id: id(decision.candidate),
            generation: decision.generation,
            parent_sum: decision.parentSum,
            child_sum: decision.childSum,
            estimated_reward: decision.estimate,
            ...(decision.reason && { reason: decision.reason }),
          },
        },
      ];
    case 'candidate_evaluated': {
      const data = {
        candidate_id: id(decision.candidate),
        generation: decision.generation,
        reward: decision.reward,
        seeds_evaluated: decision.seedsEvaluated,
      };
      const message = `candidate ${decision.candidate}: mean reward ${decision.reward.toFixed(4)} on ${decision.seedsEvaluated} seeds`;
      return [
        { key: `evaluated:${decision.candidate}`, type: 'candidate_evaluated', message, data },
        { key: `evaluation:${decision.candidate}`, type: 'evaluation_complete', message, data },
      ];
    }
    case 'generation_complete':
      return [
        {
          key: `generation:${decision.generation}`,
          type: 'generation_complete',
          message: `generation ${decision.generation}: best reward ${decision.bestReward.toFixed(4)}`,
          data: {
            generation: decision.generation,
            best_reward: decision.bestReward,
            best_candidate_id: id(decision.bestCandidate),
          },
        },
      ];
    case 'budget_warning':
      return [
        {
          key: 'budget_warning',
          type: 'budget_warning',
          message: `${decision.rolloutsUsed} of ${decision.maxRollouts} rollouts are used`,
          data: { rollouts_used: decision.rolloutsUsed, max_rollouts: decision.maxRollouts },
        },
      ];
    case 'proposal_failed':
      return [
        {
          key: `proposal_failed:${decision.candidate}`,
          type: 'proposal_failed',
          message: `no proposal for candidate ${decision.candidate}: ${decision.reason}`,
          data: { candidate_id: id(decision.candidate), generation: decision.generation, reason: decision.reason },
        },
      ];
  }
}

function sessionEnd(
  jobId: string,
  status: FinishInput['ending']['status'],
  stoppedBy: string,
  search: SearchView | null,
  error: ErrorDetails | null,
): NewEvent[] {
  const best = {
    best_reward: search?.bestReward ?? null,
    best_candidate_id: search?.bestCandidate == null ? null : candidateId(jobId, search.bestCandidate),
    stopped_by: stoppedBy,
  };
  if (status === 'completed')
    return [{ key: 'end', type: 'job_complete', message: `completed: ${stoppedBy}`, data: best }];
  if (status === 'cancelled') return [{ key: 'end', type: 'job_cancelled', message: 'cancelled', data: best }];
  const fault = error ?? unnamed;
  return [
    { key: 'error', type: 'error', message: fault.message, data: { ...fault } },
    {
      key: 'end',
      type: 'job_failed',
      message: fault.message,
      data: { ...best, error: fault.message, code: fault.code },
    },
  ];
}

const unnamed: ErrorDetails = { code: 'internal', message: 'no reason was recorded', retryable: false };

function evaluationEnd(
  status: FinishInput['ending']['status'],
  summary: { meanReward: number | null; succeeded: number; failed: number; total: number },
  error: ErrorDetails | null,
): NewEvent[] {
  const data = {
    mean_reward: summary.meanReward,
    num_seeds: summary.total,
    num_successful: summary.succeeded,
    num_failed: summary.failed,
  };
  const said =
    status === 'failed' ? (error ?? unnamed).message : `${status}: mean reward ${summary.meanReward ?? 'none'}`;
  return [
    {
      key: 'end',
      type: `eval.policy.job.${status}`,
      message: said,
      data: status === 'failed' ? { ...data, error: said, code: (error ?? unnamed).code } : data,
    },
  ];
}
