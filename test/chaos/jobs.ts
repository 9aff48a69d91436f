import { join } from 'node:path';
import { workflowId } from '../../workflows/messages.js';
import { startJobContainer, type ContainerNature, type JobContainer } from './container.js';
import type { Dice } from './dice.js';
import type { JobEvidence } from './evidence.js';
import { startReader, type Reader } from './reader.js';
import type { World } from './world.js';

/** A job under way, with its container and its readers. */
export interface Job extends Pick<JobEvidence, 'name' | 'id' | 'kind' | 'maxConcurrent' | 'seeds' | 'mayEnd'> {
  outside: JobEvidence['outside'];
  /** Its resource, and the stream of its events. */
  path: string;
  eventsPath: string;
  workflowId: string;
  container: JobContainer;
  readers: Reader[];
}

/** How large the jobs of a round are and what is done to them. */
export interface JobPlan {
  nature: ContainerNature;
  seeds: number;
  /** Of a session. */
  generations: number;
  maxConcurrent: number;
  /** Seconds for one try of a rollout. */
  rolloutTimeout: number;
  mayEnd: string[];
}

interface Where {
  world: World;
  folder: string;
  dice: Dice;
  /** What is done when the round is over. */
  after: (() => unknown)[];
}

const seedsFrom = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const maxFailureRate = 1;

/** Starts an evaluation on a container of its own, with one reader. */
export async function startEvaluation(where: Where, name: string, plan: JobPlan): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = seedsFrom(where.dice.between(0, 1_000), plan.seeds);
  const { job_id: id } = await where.world.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    ...common(name, container, plan),
    app_id: 'chaos',
    env_name: 'chaos',
    seeds,
  });
  return follow(where, { ...started(name, id, 'evaluation', plan, container), seeds });
}

/** Starts a GEPA session on a container of its own, with one reader. */
export async function startSession(where: Where, name: string, plan: JobPlan): Promise<Job> {
  const container = await containerOf(where, name, plan);
  const seeds = seedsFrom(0, Math.max(4, Math.floor(plan.seeds / 4)));
  const gepa = { population_size: 2, generations: plan.generations, minibatch_size: 3, evaluation: { seeds } };
  const { job_id: id } = await where.world.api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      ...common(name, container, plan),
      ...{ algorithm: 'gepa', gepa, budget: { max_rollouts: plan.seeds * 3 } },
      rng_seed: where.dice.between(0, 1_000),
    },
  });
  return follow(where, { ...started(name, id, 'session', plan, container), seeds });
}

async function containerOf({ folder, dice, after }: Where, name: string, plan: JobPlan): Promise<JobContainer> {
  const container = await startJobContainer(name, join(folder, `container-${name}.jsonl`), dice, plan.nature);
  after.push(() => container.close());
  return container;
}

const common = (name: string, container: JobContainer, plan: JobPlan) => ({
  container_url: container.url,
  policy: { provider: 'chaos', model: name },
  max_concurrent: plan.maxConcurrent,
  rollout_timeout: plan.rolloutTimeout,
  max_failure_rate: maxFailureRate,
});

function started(name: string, id: string, kind: Job['kind'], plan: JobPlan, container: JobContainer) {
  const path = kind === 'session' ? `/api/v1/online/sessions/${id}` : `/api/v1/offline/jobs/${id}`;
  return {
    ...{ name, id, kind, path, container, outside: null },
    eventsPath: `${path}/events`,
    maxConcurrent: plan.maxConcurrent,
    mayEnd: plan.mayEnd,
    workflowId: workflowId(kind, id),
  };
}

function follow({ world, after }: Where, job: Omit<Job, 'readers'>): Job {
  const reader = startReader('straight', () => world.url + job.eventsPath, world.apiKey);
  after.push(() => reader.stop());
  return { ...job, readers: [reader] };
}
