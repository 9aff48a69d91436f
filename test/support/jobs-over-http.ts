import type { z } from 'zod';
import type { Api, JobEvent } from './api.js';
import type { evaluationSchema } from '../../src/kinds/evaluation/contract/evaluation.js';
import type { graphJobSchema } from '../../src/kinds/graph/contract/job.js';
import type { sessionResultsSchema, sessionSchema } from '../../src/kinds/session/contract/session.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import { jobKinds, kindOf as kindOfId, type JobKind } from '../../src/core/jobs/kinds.js';
import { until } from './until.js';

export type Session = z.output<typeof sessionSchema>;
export type SessionResults = z.output<typeof sessionResultsSchema>;
export type Evaluation = z.output<typeof evaluationSchema>;
export type GraphJob = z.output<typeof graphJobSchema>;
type Job = Session | Evaluation | GraphJob;

/** An owner of an API client, such as a test service. */
interface Served {
  api: Api;
}

export const sessions = jobKinds.session.path;
export const evaluations = jobKinds.evaluation.path;
export const graphs = jobKinds.graph.path;
export const deployments = jobKinds.deployment.path;

export function kindOf(id: string): JobKind {
  return kindOfId(id)!;
}

/** The path of a job of any kind. */
export function pathOf(id: string): string {
  return `${jobKinds[kindOf(id)].path}/${id}`;
}

/** Creates a GEPA session; returns its id. */
export async function createSession({ api }: Served, spec: object): Promise<string> {
  const body = { policy_optimization: { algorithm: 'gepa', ...spec } };
  return (await api.call<{ session_id: string }>('POST', sessions, body)).session_id;
}

/** Creates an evaluation; returns its id. */
export async function createEvaluation({ api }: Served, spec: object): Promise<string> {
  const body = { app_id: 'test', env_name: 'test', ...spec };
  return (await api.call<{ job_id: string }>('POST', evaluations, body)).job_id;
}

/** Creates a graph job; returns its id. */
export async function createGraphJob({ api }: Served, spec: object): Promise<string> {
  return (await api.call<{ job_id: string }>('POST', graphs, spec)).job_id;
}

/** Sends a command to a job; rejects if it is refused. */
export function command(
  { api }: Served,
  id: string,
  name: 'pause' | 'resume' | 'cancel' | 'reward' | 'start',
  body?: object,
): Promise<{ status: string }> {
  return api.call<{ status: string }>('POST', `${pathOf(id)}/${name}`, body);
}

export function readJob<Read extends Job>({ api }: Served, id: string): Promise<Read> {
  return api.call<Read>('GET', pathOf(id));
}

export function resultsOf({ api }: Served, sessionId: string): Promise<SessionResults> {
  return api.call<SessionResults>('GET', `${pathOf(sessionId)}/results`);
}

/** All events of a job so far, read in pages. */
export async function eventsOf({ api }: Served, id: string, limit = 1_000): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for (;;) {
    const path = `${pathOf(id)}/events?since_seq=${events.length}&limit=${limit}`;
    const page = await api.call<{ events: JobEvent[]; has_more: boolean }>('GET', path);
    events.push(...page.events);
    if (!page.has_more) return events;
  }
}

/** The cost of a job with max_cost_usd, once no call under way holds a reservation. */
export async function settledSpend(served: Served, id: string): Promise<number> {
  const { spent_usd } = await until('calls under way are counted', async () => {
    const { budget } = await readJob<Session | GraphJob>(served, id);
    return budget.reserved_usd === 0 && budget;
  });
  return spent_usd!;
}

/** Polling interval; more frequent reads would slow down the awaited job. */
const pollEndMs = 200;

/** Waits until a job is completed, failed or cancelled; returns it. */
export function ended<Ended extends Job>(served: Served, id: string, seconds = 60): Promise<Ended> {
  return until(
    `${id} has ended`,
    async () => {
      const job = await readJob<Ended>(served, id);
      return isTerminal(job.status) && job;
    },
    seconds,
    pollEndMs,
  );
}
