import { join } from 'node:path';
import { jobKinds, workflowId } from '../../../src/core/jobs/kinds.js';
import { graphDataset } from '../../support/worlds/graph.js';
import { baseline } from '../../support/worlds/rules.js';
import { answerOfRow } from './keys.js';
import { pathOf } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
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

const maxFailureRate = 1;

/** Starts an evaluation on a container of its own, with one reader. */
export async function startEvaluation(where: Where, name: string, plan: JobPlan): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = range(where.choice.between(0, 1_000), plan.seeds);
  const body = { ...common(name, container, plan), app_id: 'chaos', env_name: 'chaos', seeds };
  return start(where, name, plan, { kind: 'evaluation', container, seeds, body });
}

/** Starts a session on a container of its own, with one reader. */
export async function startSession(
  where: Where,
  name: string,
  plan: JobPlan,
  algorithm: 'gepa' | 'mipro' = 'gepa',
): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = range(0, Math.max(4, Math.floor(plan.seeds / 4)));
  const policy_optimization = {
    ...common(name, container, plan),
    algorithm,
    [algorithm]: { ...searches(plan.generations)[algorithm], evaluation: { seeds } },
    budget: { max_rollouts: plan.seeds * 3 },
    rng_seed: where.choice.between(0, 1_000),
  };
  return start(where, name, plan, { kind: 'session', container, seeds, body: { policy_optimization } });
}

/** The search of a small session, by its algorithm. */
const searches = (generations: number) => ({
  gepa: { population_size: 2, generations, minibatch_size: 3 },
  mipro: { num_candidates: 3, num_trials: 2 * generations, minibatch_size: 3 },
});

/** Rows of a job on a data set; see test/support/worlds/rows.ts. */
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
    max_concurrent: plan.maxConcurrent,
    max_failure_rate: maxFailureRate,
    preflight: false,
  };
  const initial = { messages: [{ role: 'system', content: baseline }] };
  if (kind === 'evaluation')
    return start(where, name, plan, { kind, seeds: range(0, rows), body: { ...job, candidate: initial } });
  const policy_optimization = {
    ...job,
    initial_prompt: initial,
    algorithm: 'gepa',
    gepa: searches(plan.generations).gepa,
    budget: { max_rollouts: plan.seeds * 4 },
  };
  return start(where, name, plan, { kind, body: { policy_optimization } });
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
  const body = {
    dataset: judged
      ? { ...dataset, default_rubric: 'Is it the rule?', verifier_config: { mode: 'rubric', ...model } }
      : { ...dataset, gold_outputs: golds, verifier_config: compared },
    policy_model: name,
    policy_provider: 'chaos',
    rollout_budget: graphs.budget,
    max_concurrent: plan.maxConcurrent,
    max_failure_rate: maxFailureRate,
    preflight: false,
    rng_seed: where.choice.between(0, 1_000),
  };
  return start(where, name, plan, { kind: 'graph', body });
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

/** What a job is created with. */
interface Start {
  kind: Job['kind'];
  body: object;
  /** Absent: the service runs its rollouts itself, or it has none. */
  container?: Job['container'];
  seeds?: number[];
}

type Ends = Pick<JobPlan, 'maxConcurrent' | 'mayEnd'>;

/** Creates a job, and attaches a reader to it. */
export async function start(where: Where, name: string, ends: Ends, job: Start): Promise<Job> {
  const { world, after } = where;
  const { kind, container = null, seeds = [] } = job;
  const created = await create(world, jobKinds[kind].path, name, job.body);
  const begun = begunJob(created, ends, { name, kind, container, seeds });
  const reader = startReader('straight', () => world.url + begun.eventsPath, world.apiKey);
  after.push(() => reader.stop());
  return { ...begun, readers: [reader] };
}

/** A created job without readers. */
export function begunJob(
  { id, answered }: Created,
  { maxConcurrent, mayEnd }: Ends,
  job: Pick<Job, 'name' | 'kind' | 'container' | 'seeds'>,
): Job {
  const path = pathOf(id);
  return {
    ...job,
    id,
    answered,
    outside: null,
    maxConcurrent,
    mayEnd,
    readers: [],
    path: job.kind === 'deployment' ? `${path}/status` : path,
    eventsPath: `${path}/events`,
    workflowId: workflowId(job.kind, id),
  };
}
