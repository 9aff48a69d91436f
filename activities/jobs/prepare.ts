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
import { algorithmOf } from '../../src/core/algorithms/index.js';
import { SearchProgress } from '../../src/core/algorithms/progress.js';
import { noOutcomes } from '../../src/core/jobs/failures.js';
import { progressOfEvaluation, progressOfSearch, type JobProgress } from '../../src/core/jobs/progress.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { addCandidate } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { appendEvents, type ControlRow, type JobRef } from '../../src/storage/jobs/events.js';
import { planRollouts } from '../../src/storage/rollouts/rollouts.js';
import { readSearch, saveSearch } from '../../src/storage/jobs/step-log.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { checkModels } from './preflight.js';
import { recordSearchUpdate } from './search-update.js';
import { containerKey, lockOpenJob, recordLost, suggestionsOf } from './spec.js';
import { startEvents } from './start.js';

/** The container errors that a later try may not meet. */
const transientErrors = new Set(['container_unreachable', 'container_busy', 'container_timeout', 'container_error']);

/** A job that is ready for its first rollout. */
export interface PreparedJob {
  /** The running time that is left, in milliseconds, pauses not counted; null: no limit. */
  leftMs: number | null;
  progress: JobProgress;
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

  /** Checks the models and stores the first graph as the baseline. */
  async function prepareGraph(job: JobRef): Promise<PreparedJob> {
    const spec = await db.org(job.orgId, (tx) => readSpec<GraphSpec>(tx, job.jobId));
    await checkModels(deps, job, spec, Context.current().cancellationSignal);
    return db.org(job.orgId, async (tx) => {
      const { run } = await begin(tx, job, startEvents(spec, { baselineKnown: true }));
      await addCandidate(tx, job, { ...baselineOf(null), graph: initialGraphOf(spec) });
      return beginSearch(tx, job, spec, run);
    });
  }

  /** Checks container and models and stores the baseline. */
  async function prepareSession(job: JobRef): Promise<PreparedJob> {
    const isExtended = await db.org(job.orgId, async (tx) => (await lockOpenJob(tx, job)).run > 1);
    const { spec, found: messages } = await probe<SessionSpec, Message[] | null>(job, async (spec, key, signal) => {
      if (isExtended || spec.initialPrompt || !spec.container) return spec.initialPrompt;
      return componentsOf((await container.taskInfo(spec.container.url, key, signal)).initialPrompt);
    });
    return db.org(job.orgId, async (tx) => {
      const { run } = await begin(tx, job, startEvents(spec, { baselineKnown: messages !== null }));
      const demos = algorithmOf(spec.search).hasDemos ? { demos: [] } : {};
      await addCandidate(tx, job, { ...baselineOf(messages), ...demos });
      return beginSearch(tx, job, spec, run);
    });
  }

  /** Checks container and model; stores the candidate and all rollouts. */
  async function prepareEvaluation(job: JobRef): Promise<PreparedJob> {
    const { spec } = await probe<EvaluationSpec, void>(job, () => Promise.resolve());
    await db.org(job.orgId, async (tx) => {
      await begin(tx, job, startEvents(spec, { baselineKnown: true }));
      await Promise.all([
        spec.candidate && addCandidate(tx, job, { ...baselineOf(spec.candidate.messages), ...demosOf(spec.candidate) }),
        planRollouts(tx, job, evaluationRequests(spec.seeds), spec.candidate !== null),
      ]);
    });
    return { leftMs: spec.timeoutS * 1_000, progress: progressOfEvaluation(noOutcomes, spec.seeds.length) };
  }

  const prepareKind = { session: prepareSession, graph: prepareGraph, evaluation: prepareEvaluation };
  return {
    /** The steps before a job's first rollout; a repeated call finds what the first one stored. */
    prepare: (job: JobRef): Promise<PreparedJob> =>
      withHeartbeat(async () => {
        const { kind } = await db.org(job.orgId, (tx) => readSpec<JobSpec>(tx, job.jobId));
        return prepareKind[kind](job);
      }),
  };
}

/** Begins a search, or goes on with that of an extended session; idempotent. */
async function beginSearch(tx: Tx, job: JobRef, spec: SearchSpec, run: number): Promise<PreparedJob> {
  const recorded = await readSearch(tx, job.jobId);
  if (!recorded && run > 1) throw recordLost(job);
  const search = recorded?.search ?? new SearchProgress(algorithmOf(spec.search).create(spec.search), 0);
  if (recorded && recorded.run < run) {
    const update = search.extend(spec.search);
    if (update) await recordSearchUpdate(tx, job, update);
  }
  if (recorded?.run !== run) await saveSearch(tx, job, search, run);
  const { maxMinutes } = spec.budget;
  return {
    leftMs: maxMinutes == null ? null : maxMinutes * 60_000 - (recorded?.usedMs ?? 0),
    progress: progressOfSearch(job.jobId, search, suggestionsOf(spec)),
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

async function begin(tx: Tx, job: JobRef, events: NewEvent[]): Promise<ControlRow> {
  const row = await lockOpenJob(tx, job);
  await Promise.all([
    tx.query('update jobs set started_at = coalesce(started_at, now()), workflow_started = true where id = $1', [
      job.jobId,
    ]),
    appendEvents(tx, job, events),
  ]);
  return row;
}
