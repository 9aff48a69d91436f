import type { Arrived } from './caller.js';
import { now } from './clock.js';
import type { World } from './world.js';

/** Timeline of a job; times by `clock.now`. */
export interface JobRun {
  jobId: string;
  workflowId: string;
  /** The create request was sent, and answered. */
  sentAt: number;
  createdAt: number;
  /** The terminal event reached the client of the event stream. */
  endedAt: number;
  last: Arrived;
}

export interface EvaluationOptions {
  /** The container's base URL, with its behaviour. */
  containerUrl: string;
  seeds: number;
  maxConcurrent: number;
  onEvent?: (event: Arrived) => void;
  onCreated?: (jobId: string) => void;
}

const longestMs = 600_000;
// Jobs are created without preflight: the rows count the calls of rollouts and proposer.
const policy = { provider: 'fake', model: 'fake-1' };

/** Numbers from 0 to `count`, exclusive. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** The search of a small session on as many train seeds as there are rules. */
export function smallSearch(rules: number) {
  return {
    population_size: 2,
    generations: 20,
    minibatch_size: 3,
    train_seeds: range(rules),
    evaluation: { seeds: range(10) },
  };
}

/** Runs an evaluation to its terminal event; rejects unless it completed. */
export async function evaluate(world: World, options: EvaluationOptions): Promise<JobRun> {
  const { containerUrl, seeds, maxConcurrent, onEvent, onCreated } = options;
  const body = {
    container_url: containerUrl,
    app_id: 'bench',
    env_name: 'bench',
    seeds: range(seeds),
    policy,
    max_concurrent: maxConcurrent,
    preflight: false,
  };
  return run(world, '/api/v1/offline/jobs', 'events/stream', body, onEvent, onCreated);
}

/** Runs a session to completion, or rejects. `request` overrides the common fields. */
export async function optimize(
  world: World,
  request: Record<string, unknown>,
  onCreated?: (jobId: string) => void,
): Promise<JobRun> {
  const body = { policy_optimization: { algorithm: 'gepa', policy, preflight: false, ...request } };
  return run(world, '/api/v1/online/sessions', 'events', body, undefined, onCreated);
}

/** Runs a graph job to its terminal event; rejects unless it completed. */
export function graphJob(world: World, body: Record<string, unknown>): Promise<JobRun> {
  return run(world, '/api/graphgen/jobs', 'events', body);
}

async function run(
  world: World,
  route: string,
  events: string,
  body: unknown,
  onEvent?: (event: Arrived) => void,
  onCreated?: (jobId: string) => void,
): Promise<JobRun> {
  const sentAt = now();
  const created = await world.call<{ job_id: string; workflow_id: string }>('POST', route, body);
  const createdAt = now();
  const jobId = created.job_id;
  onCreated?.(jobId);
  const last = await world.follow(`${route}/${jobId}/${events}`, AbortSignal.timeout(longestMs), onEvent);
  if (!/complete/.test(last.type)) throw new Error(`${jobId} ended by ${last.type}: ${JSON.stringify(last.data)}`);
  return { jobId, workflowId: created.workflow_id, sentAt, createdAt, endedAt: last.at, last };
}
