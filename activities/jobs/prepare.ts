import { Context } from '@temporalio/activity';
import { ContainerError } from '../../src/clients/container/client.js';
import {
  initialGraphOf,
  type EvaluationSpec,
  type GraphSpec,
  type JobSpec,
  type Message,
  type SearchSpec,
  type SessionSpec,
} from '../../src/core/jobs/spec.js';
import { evaluationRequests } from '../../src/core/jobs/evaluation.js';
import { algorithmOf, type SearchSettings } from '../../src/core/algorithms/index.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { addCandidate } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { appendEvents, type JobRef } from '../../src/storage/jobs/events.js';
import { planRollouts } from '../../src/storage/rollouts/rollouts.js';
import { readKept, type KeptSearch } from '../../src/storage/jobs/extensions.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { adoptCalledPrompt } from './adopt-baseline.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { checkModels } from './preflight.js';
import { containerKey, isLive, lockOpenJob, recordLost } from './spec.js';
import { startEvents } from './start.js';

/** The container errors that a later try may not meet. */
const transientErrors = new Set(['container_unreachable', 'container_busy', 'container_timeout', 'container_error']);

/** The limits of a search that its workflow keeps. */
export interface SessionLimits {
  maxFailureRate: number;
  maxConcurrent: number;
  /** The running time in milliseconds, pauses not counted; absent: no limit. */
  runMs?: number;
  /** Running time of earlier runs of the job, which `runMs` does not include. */
  usedMs?: number;
  /** The rollouts are the caller's live traffic. */
  live?: true;
}

export interface SessionPlan {
  search: SearchSettings;
  limits: SessionLimits;
  /** The search goes on from this end of an earlier run. */
  kept?: KeptSearch;
}

/** The steps before a job's first rollout: check container and models, find the baseline. */
export function prepareActivities(deps: ActivityDeps) {
  const { db, container } = deps;

  async function probe<Spec extends JobSpec, T>(
    job: JobRef,
    ask: (spec: Spec, key: string | null, signal: AbortSignal) => Promise<T>,
  ): Promise<{ spec: Spec; found: T }> {
    const { spec, key } = await db.org(job.orgId, async (tx) => {
      const spec = await readSpec<Spec>(tx, job.jobId);
      return { spec, key: await containerKey(tx, deps.secretKey, job, spec) };
    });
    try {
      const { cancellationSignal } = Context.current();
      if (spec.container) await container.health(spec.container.url, key, cancellationSignal);
      await checkModels(deps, job, spec, cancellationSignal);
      return { spec, found: await ask(spec, key, cancellationSignal) };
    } catch (error) {
      if (error instanceof ContainerError) throw jobFailure(error.code, error.message, transientErrors.has(error.code));
      throw error;
    }
  }

  return {
    /** Checks the models and stores the first graph as the baseline; answers the plan. */
    prepareGraph: (job: JobRef): Promise<SessionPlan> =>
      withHeartbeat(async () => {
        const spec = await db.org(job.orgId, (tx) => readSpec<GraphSpec>(tx, job.jobId));
        await checkModels(deps, job, spec, Context.current().cancellationSignal);
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, startEvents(spec, { baselineKnown: true }));
          await addCandidate(tx, job, { ...baselineOf(null), graph: initialGraphOf(spec) });
        });
        return { search: spec.search, limits: limitsOf(spec) };
      }),

    /** Checks container and models and stores the baseline; answers the plan of the search. */
    prepareSession: (job: JobRef): Promise<SessionPlan> =>
      withHeartbeat(async () => {
        const kept = await db.org(job.orgId, (tx) => readLastRun(tx, job));
        const { spec, found: messages } = await probe<SessionSpec, Message[] | null>(job, async (spec, key, signal) => {
          if (kept || spec.initialPrompt || !spec.container) return spec.initialPrompt;
          return componentsOf((await container.taskInfo(spec.container.url, key, signal)).initialPrompt);
        });
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, startEvents(spec, { baselineKnown: messages !== null }));
          const demos = algorithmOf(spec.search).hasDemos ? { demos: [] } : {};
          await addCandidate(tx, job, { ...baselineOf(messages), ...demos });
        });
        return {
          search: spec.search,
          limits: { ...limitsOf(spec), ...(isLive(spec) && { live: true }) },
          ...(kept && { kept }),
        };
      }),

    adoptBaseline: (job: JobRef): Promise<void> => db.org(job.orgId, (tx) => adoptCalledPrompt(tx, job)),

    /** Checks container and model; stores the candidate and all rollouts. */
    prepareEvaluation: (job: JobRef): Promise<{ total: number; timeoutMs: number; maxFailureRate: number }> =>
      withHeartbeat(async () => {
        const { spec } = await probe<EvaluationSpec, void>(job, () => Promise.resolve());
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, startEvents(spec, { baselineKnown: true }));
          await Promise.all([
            spec.candidate &&
              addCandidate(tx, job, { ...baselineOf(spec.candidate.messages), ...demosOf(spec.candidate) }),
            planRollouts(tx, job, evaluationRequests(spec.seeds), spec.candidate !== null),
          ]);
        });
        return { total: spec.seeds.length, timeoutMs: spec.timeoutS * 1_000, maxFailureRate: spec.maxFailureRate };
      }),
  };
}

/** The end of the run before this one; null: this is the first. */
async function readLastRun(tx: Tx, job: JobRef): Promise<KeptSearch | null> {
  const { run } = await lockOpenJob(tx, job);
  if (run === 1) return null;
  const kept = await readKept(tx, job.jobId, run - 1);
  if (!kept) throw recordLost(job);
  return kept;
}

function limitsOf({ maxFailureRate, maxConcurrent, budget }: SearchSpec): SessionLimits {
  return {
    maxFailureRate,
    maxConcurrent,
    ...(budget.maxMinutes != null && { runMs: budget.maxMinutes * 60_000 }),
  };
}

const baselineOf = (messages: Message[] | null) => ({ leverVersion: 0, generation: 0, parents: [], messages });

const demosOf = ({ demos }: NonNullable<EvaluationSpec['candidate']>) => (demos ? { demos } : {});

/** The components to optimize: the named messages, else the only system message. */
function componentsOf(messages: Message[] | null): Message[] | null {
  const named = messages?.filter(({ name }) => name !== undefined) ?? [];
  if (named.length > 0) return named;
  const system = messages?.filter((message) => message.role === 'system') ?? [];
  return system.length === 1 ? system : null;
}

async function begin(tx: Tx, job: JobRef, events: NewEvent[]): Promise<void> {
  await lockOpenJob(tx, job);
  await Promise.all([
    tx.query('update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1', [
      job.jobId,
    ]),
    appendEvents(tx, job, events),
  ]);
}
