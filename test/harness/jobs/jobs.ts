import { join } from 'node:path';
import { workflowId } from '../../../src/core/jobs/kinds.js';
import { graphDataset } from '../../support/worlds/graph.js';
import { baseline } from '../../support/worlds/rules.js';
import { answerOfRow } from './keys.js';
import { evaluations, graphs as graphJobs, pathOf, sessions } from '../../support/jobs-over-http.js';
import { startJobContainer, type ContainerNature, type JobContainer } from '../faults/container-server.js';
import type { SeededChoice } from '../seeded-choice.js';
import type { JobEvidence } from '../evidence/evidence.js';
import { startReader, type Reader } from '../clients/reader.js';
import { create, type Created } from './create.js';
import type { World } from '../worlds/world.js';

/** A running job, with its container and its readers. */
export interface Job extends Pick<JobEvidence, 'name' | 'id' | 'kind' | 'maxConcurrent' | 'seeds' | 'mayEnd'> {
  outside: JobEvidence['outside'];
  /** The ids of all answers to its create. */
  answered: string[];
  /** Paths of its status and its event stream. */
  path: string;
  eventsPath: string;
  workflowId: string;
  /** Null: the service runs its rollouts itself, or it has none. */
  container: Pick<JobContainer, 'lines' | 'trapped'> | null;
  readers: Reader[];
}

/** Size of a round's jobs, and the behaviour of containers and models. */
export interface JobPlan {
  nature: ContainerNature;
  seeds: number;
  /** For a session. */
  generations: number;
  maxConcurrent: number;
  /** Seconds per try of a rollout. */
  rolloutTimeout: number;
  mayEnd: string[];
}

/** World, folder and randomness of a round's jobs. */
export interface Where {
  world: World;
  folder: string;
  choice: SeededChoice;
  /** Clean-up at the end of the round. */
  after: (() => unknown)[];
}

const seedsFrom = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const maxFailureRate = 1;

/** Starts an evaluation on a container of its own, with one reader. */
export async function startEvaluation(where: Where, name: string, plan: JobPlan): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = seedsFrom(where.choice.between(0, 1_000), plan.seeds);
  const created = await create(where.world, evaluations, name, {
    ...common(name, container, plan),
    app_id: 'chaos',
    env_name: 'chaos',
    seeds,
  });
  return follow(where, { ...started(name, created, 'evaluation', plan, container), seeds });
}

/** Starts a session on a container of its own, with one reader. */
export async function startSession(
  where: Where,
  name: string,
  plan: JobPlan,
  algorithm: 'gepa' | 'mipro' = 'gepa',
): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = seedsFrom(0, Math.max(4, Math.floor(plan.seeds / 4)));
  const created = await create(where.world, sessions, name, {
    policy_optimization: {
      ...common(name, container, plan),
      ...{ algorithm, [algorithm]: { ...searches(plan.generations)[algorithm], evaluation: { seeds } } },
      ...{ budget: { max_rollouts: plan.seeds * 3 } },
      rng_seed: where.choice.between(0, 1_000),
    },
  });
  return follow(where, { ...started(name, created, 'session', plan, container), seeds });
}

/** The search of a small session, by its algorithm. */
const searches = (generations: number) => ({
  gepa: { population_size: 2, generations, minibatch_size: 3 },
  mipro: { num_candidates: 3, num_trials: 2 * generations, minibatch_size: 3 },
});

/** Rows of a job on a data set; see support/worlds/rows.ts. */
const rows = 16;
const rowRules = 4;

/** Starts an evaluation or a session on a data set, whose rollouts the service runs itself. */
export async function startDatasetJob(
  where: Where,
  name: string,
  kind: 'evaluation' | 'session',
  plan: JobPlan,
): Promise<Job> {
  const of = Array.from({ length: rows }, (_, row) => ({
    question: `Row ${row}: rule ${row % rowRules}`,
    answer: answerOfRow(row % rowRules),
  }));
  const job = {
    dataset: { rows: of, input: 'question', expected: 'answer' },
    scorer: 'exact',
    policy: { provider: 'chaos', model: name },
    ...{ max_concurrent: plan.maxConcurrent, max_failure_rate: maxFailureRate, preflight: false },
  };
  const initial = { messages: [{ role: 'system', content: baseline }] };
  const created =
    kind === 'evaluation'
      ? await create(where.world, evaluations, name, { ...job, candidate: initial })
      : await create(where.world, sessions, name, {
          policy_optimization: {
            ...{ ...job, initial_prompt: initial, algorithm: 'gepa', gepa: searches(plan.generations).gepa },
            budget: { max_rollouts: plan.seeds * 4 },
          },
        });
  const seeds = kind === 'evaluation' ? seedsFrom(0, rows) : [];
  return follow(where, { ...started(name, created, kind, plan, null), seeds });
}

/** Rollout budget and number of tasks of a graph job. */
const graphs = { budget: 60, tasks: 12 } as const;

/** Starts a graph job, with one reader; `judged`: scored by a judge instead of comparison. */
export async function startGraphJob(
  where: Where,
  name: string,
  { judged, ...plan }: Pick<JobPlan, 'maxConcurrent' | 'mayEnd'> & { judged: boolean },
): Promise<Job> {
  const { gold_outputs: golds, verifier_config: compared, ...dataset } = graphDataset(graphs.tasks);
  const model = { model: name, provider: 'chaos' };
  const created = await create(where.world, graphJobs, name, {
    dataset: judged
      ? { ...dataset, default_rubric: 'Is it the rule?', verifier_config: { mode: 'rubric', ...model } }
      : { ...dataset, gold_outputs: golds, verifier_config: compared },
    ...{ policy_model: name, policy_provider: 'chaos', rollout_budget: graphs.budget },
    max_concurrent: plan.maxConcurrent,
    max_failure_rate: maxFailureRate,
    preflight: false,
    rng_seed: where.choice.between(0, 1_000),
  });
  return follow(where, { ...started(name, created, 'graph', plan, null), seeds: [] });
}

/** Starts a container for a job or gate of this name. */
export async function containerOf(
  { folder, choice, after }: Where,
  name: string,
  plan: Pick<JobPlan, 'nature'>,
): Promise<JobContainer> {
  const container = await startJobContainer(name, join(folder, `container-${name}.jsonl`), choice, plan.nature);
  after.push(() => container.close());
  return container;
}

const common = (name: string, container: JobContainer, plan: JobPlan) => ({
  container_url: container.url,
  policy: { provider: 'chaos', model: name },
  max_concurrent: plan.maxConcurrent,
  rollout_timeout: plan.rolloutTimeout,
  max_failure_rate: maxFailureRate,
  // The rules judge every call by its rollout, and faults of the model must not end a job.
  preflight: false,
});

/** A started job without readers. */
export function started(
  name: string,
  { id, answered }: Created,
  kind: Job['kind'],
  { maxConcurrent, mayEnd }: Pick<JobPlan, 'maxConcurrent' | 'mayEnd'>,
  container: Job['container'],
) {
  const path = pathOf(id);
  return {
    ...{ name, id, answered, kind, container, outside: null, maxConcurrent, mayEnd },
    path: kind === 'deployment' ? `${path}/status` : path,
    eventsPath: `${path}/events`,
    workflowId: workflowId(kind, id),
  };
}

/** Attaches a reader to a job. */
export function follow({ world, after }: Where, job: Omit<Job, 'readers'>): Job {
  const reader = startReader('straight', () => world.url + job.eventsPath, world.apiKey);
  after.push(() => reader.stop());
  return { ...job, readers: [reader] };
}
