import { Context } from '@temporalio/activity';
import { ContainerError } from '../src/clients/container.js';
import type { EvaluationSpec, JobSpec, Message, SessionSpec } from '../src/contracts/spec.js';
import { evaluationRequests } from '../src/core/evaluation.js';
import type { GepaConfig } from '../src/core/gepa/config.js';
import { addCandidate, readPrompts, setBaseline } from '../src/storage/candidates.js';
import type { Tx } from '../src/storage/db.js';
import { appendEvents, type JobRef, type NewEvent } from '../src/storage/events.js';
import { planRollouts } from '../src/storage/rollouts.js';
import { toJsonb } from '../src/storage/json.js';
import type { ActivityDeps } from './deps.js';
import { guarded, jobFailure } from './failure.js';
import { beating } from './heartbeat.js';
import { containerKey, lockOpenJob, readSpec } from './jobs.js';

/** Why a container may be unfit now and fit later. */
const passing = new Set(['container_unreachable', 'container_busy', 'container_timeout', 'container_error']);

/** What a session's workflow must keep to, beside what the search does. */
export interface SessionLimits {
  maxFailureRate: number;
  maxConcurrent: number;
}

/** A probe may take a minute: that its worker was killed must be known before. */
const guardedBeating = <T>(work: () => Promise<T>): Promise<T> => guarded(() => beating(work));

/** What comes before a job's first rollout: is the container there, does it take the key, what is the baseline. */
export function prepareActivities(deps: ActivityDeps) {
  const { db, container } = deps;

  /** Reads a job's request and has its container probed; why it cannot serve is the reason for which the job fails. */
  async function probe<Spec extends JobSpec, T>(
    job: JobRef,
    ask: (spec: Spec, key: string | null, signal: AbortSignal) => Promise<T>,
  ): Promise<{ spec: Spec; found: T }> {
    const { spec, key } = await db.org(job.orgId, async (tx) => {
      const spec = await readSpec<Spec>(tx, job);
      return { spec, key: await containerKey(tx, deps.secretKey, job, spec) };
    });
    try {
      const { cancellationSignal } = Context.current();
      await container.health(spec.container.url, key, cancellationSignal);
      return { spec, found: await ask(spec, key, cancellationSignal) };
    } catch (error) {
      if (error instanceof ContainerError) throw jobFailure(error.code, error.message, passing.has(error.code));
      throw error;
    }
  }

  return {
    /** Checks the container and stores the baseline. Answers what the search needs to know, seeds included. */
    prepareSession: (job: JobRef): Promise<{ gepa: GepaConfig; limits: SessionLimits }> =>
      guardedBeating(async () => {
        const { spec, found: messages } = await probe<SessionSpec, Message[] | null>(job, async (spec, key, signal) => {
          return spec.initialPrompt ?? (await container.taskInfo(spec.container.url, key, signal)).initialPrompt;
        });
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, [sessionStarted(spec, messages !== null)]);
          await addCandidate(tx, job, baselineOf(systemOnly(messages)));
        });
        return {
          gepa: { ...spec.gepa, maxRollouts: spec.budget.maxRollouts, rngSeed: spec.rngSeed },
          limits: { maxFailureRate: spec.maxFailureRate, maxConcurrent: spec.maxConcurrent },
        };
      }),

    /**
     * Where neither the request nor the container named a prompt, the baseline is the system message that its calls
     * carried; if they differ from seed to seed, there is none to improve and the session fails.
     */
    adoptBaseline: (job: JobRef): Promise<void> =>
      guarded(() =>
        db.org(job.orgId, async (tx) => {
          await lockOpenJob(tx, job);
          if ((await readPrompts(tx, job.jobId)).get(0)) return;
          const rows = await tx.query<{ prompt: string | null }>(
            `select distinct (select m->>'content' from jsonb_array_elements(c.request->'messages') as m
                               where m->>'role' in ('system', 'developer') limit 1) as prompt
               from model_calls c join rollouts r on r.id = c.rollout_id
              where c.job_id = $1 and r.stage = 'baseline' limit 2`,
            [job.jobId],
          );
          const [only] = rows;
          if (rows.length === 1 && only?.prompt) {
            await setBaseline(tx, job.jobId, [{ role: 'system', content: only.prompt }]);
            return;
          }
          throw jobFailure(
            'initial_prompt_needed',
            rows.length === 0
              ? 'No prompt to start from: the baseline made no model call through inference_url. Give policy_optimization.initial_prompt, or let the container serve one in /task_info.'
              : 'No single prompt to start from: the system messages of the baseline differ from seed to seed or are missing. Give policy_optimization.initial_prompt.',
          );
        }),
      ),

    /** Checks the container, stores the candidate and all rollouts. */
    prepareEvaluation: (job: JobRef): Promise<{ total: number; timeoutMs: number; maxFailureRate: number }> =>
      guardedBeating(async () => {
        const { spec } = await probe<EvaluationSpec, void>(job, () => Promise.resolve());
        await db.org(job.orgId, async (tx) => {
          await begin(tx, job, []);
          const total = toJsonb({ total: spec.seeds.length });
          await Promise.all([
            tx.query('update jobs set projection = projection || $2::jsonb where id = $1', [job.jobId, total]),
            spec.candidate && addCandidate(tx, job, baselineOf(spec.candidate.messages)),
            planRollouts(tx, job, evaluationRequests(spec.seeds), spec.candidate !== null),
          ]);
        });
        return { total: spec.seeds.length, timeoutMs: spec.timeoutS * 1_000, maxFailureRate: spec.maxFailureRate };
      }),
  };
}

const baselineOf = (messages: Message[] | null) => ({ leverVersion: 0, generation: 0, parents: [], messages });

/** Only a system message is under optimization; what else the container's prompt has stays in the container. */
function systemOnly(messages: Message[] | null): Message[] | null {
  const system = messages?.filter((message) => message.role === 'system') ?? [];
  return system.length === 1 ? system : null;
}

/** What a session's log begins with. */
export function sessionStarted({ algorithm, gepa }: SessionSpec, baselineKnown: boolean): NewEvent {
  return {
    key: 'started',
    type: 'session_started',
    message: `${algorithm} session on ${gepa.evaluationSeeds.length} evaluation seeds`,
    data: { algorithm, generations: gepa.generations, baseline_known: baselineKnown },
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
