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
import { addCandidate } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { appendEvents, type JobRef, type NewEvent } from '../../src/storage/jobs/events.js';
import { planRollouts } from '../../src/storage/rollouts/rollouts.js';
import { toJsonb } from '../../src/storage/db/json.js';
import type { EvaluationProjection } from '../../src/storage/jobs/jobs.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { adoptCalledPrompt } from './adopt-baseline.js';
import type { ActivityDeps } from '../deps.js';
import { classifyErrors, jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { containerKey, containerOf, lockOpenJob } from './spec.js';

/** Why a container may be unfit now and fit later. */
const passing = new Set(['container_unreachable', 'container_busy', 'container_timeout', 'container_error']);

/** What a session's workflow must keep to, beside what the search does. */
export interface SessionLimits {
  maxFailureRate: number;
  maxConcurrent: number;
  /** Milliseconds that it may run, pauses not counted; absent: no limit. */
  runMs?: number;
  /** Its rollouts are the caller's live traffic. */
  live?: true;
}

/** The search of a job and the limits of its workflow. */
export interface SessionPlan {
  search: SearchSettings;
  limits: SessionLimits;
}

/** A probe may take a minute: that its worker was killed must be known before. */
const guardedBeating = <T>(work: () => Promise<T>): Promise<T> => classifyErrors(() => withHeartbeat(work));

/** What comes before a job's first rollout: is the container there, does it take the key, what is the baseline. */
export function prepareActivities(deps: ActivityDeps) {
  const { db, container } = deps;

  /** Reads a job's request and has its container probed; why it cannot serve is the reason for which the job fails. */
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
      if (!isLive(spec)) await container.health(containerOf(spec).url, key, cancellationSignal);
      return { spec, found: await ask(spec, key, cancellationSignal) };
    } catch (error) {
      if (error instanceof ContainerError) throw jobFailure(error.code, error.message, passing.has(error.code));
      throw error;
    }
  }

  return {
    /** Stores the first graph as the baseline. Answers what the search needs to know. */
    prepareGraph: (job: JobRef): Promise<SessionPlan> =>
      classifyErrors(() =>
        db.org(job.orgId, async (tx) => {
          const spec = await readSpec<GraphSpec>(tx, job.jobId);
          await begin(tx, job, [graphStarted(spec)]);
          await addCandidate(tx, job, { ...baselineOf(null), graph: initialGraphOf(spec) });
          return { search: spec.search, limits: limitsOf(spec) };
        }),
      ),

    /** Checks the container and stores the baseline. Answers what the search needs to know, seeds included. */
    prepareSession: (job: JobRef): Promise<SessionPlan> =>
      guardedBeating(async () => {
        const { spec, found: messages } = await probe<SessionSpec, Message[] | null>(job, async (spec, key, signal) => {
          if (spec.initialPrompt || isLive(spec)) return spec.initialPrompt;
          return componentsOf((await container.taskInfo(containerOf(spec).url, key, signal)).initialPrompt);
        });
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, [sessionStarted(spec, messages !== null)]);
          const demos = algorithmOf(spec.search).hasDemos ? { demos: [] } : {};
          await addCandidate(tx, job, { ...baselineOf(messages), ...demos });
        });
        return {
          search: spec.search,
          limits: { ...limitsOf(spec), ...(isLive(spec) && { live: true }) },
        };
      }),

    /** Finds the baseline's prompt in its calls, where nobody named it. */
    adoptBaseline: (job: JobRef): Promise<void> =>
      classifyErrors(() => db.org(job.orgId, (tx) => adoptCalledPrompt(tx, job))),

    /** Checks the container, stores the candidate and all rollouts. */
    prepareEvaluation: (job: JobRef): Promise<{ total: number; timeoutMs: number; maxFailureRate: number }> =>
      guardedBeating(async () => {
        const { spec } = await probe<EvaluationSpec, void>(job, () => Promise.resolve());
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, []);
          const total = toJsonb({ total: spec.seeds.length } satisfies EvaluationProjection);
          await Promise.all([
            tx.query('update jobs set projection = projection || $2::jsonb where id = $1', [job.jobId, total]),
            spec.candidate &&
              addCandidate(tx, job, { ...baselineOf(spec.candidate.messages), ...demosOf(spec.candidate) }),
            planRollouts(tx, job, evaluationRequests(spec.seeds), spec.candidate !== null),
          ]);
        });
        return { total: spec.seeds.length, timeoutMs: spec.timeoutS * 1_000, maxFailureRate: spec.maxFailureRate };
      }),
  };
}

function limitsOf({ maxFailureRate, maxConcurrent, budget }: SearchSpec): SessionLimits {
  return {
    maxFailureRate,
    maxConcurrent,
    ...(budget.maxMinutes != null && { runMs: budget.maxMinutes * 60_000 }),
  };
}

/** The caller's own traffic needs no container: none is called. */
const isLive = (spec: JobSpec): boolean => spec.kind === 'session' && spec.rollouts === 'caller';

const baselineOf = (messages: Message[] | null) => ({ leverVersion: 0, generation: 0, parents: [], messages });

/** Of an evaluation's candidate, where it has some. */
const demosOf = ({ demos }: NonNullable<EvaluationSpec['candidate']>) => (demos ? { demos } : {});

/**
 * What of a container's own prompt is under optimization: the messages that it gave names, else its one system message. What
 * else there is stays in the container.
 */
function componentsOf(messages: Message[] | null): Message[] | null {
  const named = messages?.filter(({ name }) => name !== undefined) ?? [];
  if (named.length > 0) return named;
  const system = messages?.filter((message) => message.role === 'system') ?? [];
  return system.length === 1 ? system : null;
}

/** What a session's log begins with. */
export function sessionStarted({ search }: SessionSpec, baselineKnown: boolean): NewEvent {
  const { algorithm, evaluationSeeds } = search;
  const generations = algorithmOf(search).totalGenerations(search);
  return {
    key: 'started',
    type: 'session_started',
    message: `${algorithm} session on ${evaluationSeeds.length} evaluation seeds`,
    data: { algorithm, generations, baseline_known: baselineKnown },
  };
}

/** What a graph job's log begins with. */
export function graphStarted({ search, numTasks }: GraphSpec): NewEvent {
  return {
    key: 'started',
    type: 'job_started',
    message: `graph job on ${numTasks} tasks, ${search.evaluationSeeds.length} of them for evaluation`,
    data: { algorithm: search.algorithm, generations: search.generations, tasks: numTasks },
  };
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
