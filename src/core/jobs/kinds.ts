/** The kinds of job and everything that differs between them by name alone. */
import type { TerminalEvent } from '../../contracts/events/schema.js';

interface JobKindEntry {
  /** The beginning of its job ids. */
  prefix: `${string}_`;
  /** The path of its collection in the API. */
  path: `/api/${string}`;
  /** The first part of its pages in the dashboard. */
  page: string;
  /** The name of the exported workflow function. */
  workflow: string;
  /** Its name in messages. */
  noun: string;
  /** The name of its workflow in the Temporal UI, by the algorithm of the job. */
  title(algorithm: string): string;
  /** The field that carries its id beside `job_id`; null: none. */
  idField: 'session_id' | 'graph_gen_job_id' | null;
  /** Whether it searches for candidates. */
  isSearch: boolean;
  /** Whether pause, resume, cancel and reward apply to it. */
  takesCommands: boolean;
  /** Whether its model calls come through the proxy, from a container or from live traffic. */
  usesProxy: boolean;
  terminalEvents: Record<'completed' | 'failed' | 'cancelled', TerminalEvent['type']>;
  /** Whether an `error` event precedes the failed one. */
  hasErrorEvent: boolean;
}

const jobEvents = { completed: 'job_complete', failed: 'job_failed', cancelled: 'job_cancelled' } as const;

export const jobKinds = {
  session: {
    prefix: 'ses_',
    path: '/api/v1/online/sessions',
    page: 'sessions',
    workflow: 'sessionWorkflow',
    noun: 'session',
    title: (algorithm) => `${algorithm} session`,
    idField: 'session_id',
    isSearch: true,
    takesCommands: true,
    usesProxy: true,
    terminalEvents: jobEvents,
    hasErrorEvent: true,
  },
  evaluation: {
    prefix: 'evl_',
    path: '/api/v1/offline/jobs',
    page: 'evaluations',
    workflow: 'evaluationWorkflow',
    noun: 'evaluation',
    title: () => 'offline evaluation',
    idField: null,
    isSearch: false,
    takesCommands: true,
    usesProxy: true,
    terminalEvents: {
      completed: 'eval.policy.job.completed',
      failed: 'eval.policy.job.failed',
      cancelled: 'eval.policy.job.cancelled',
    },
    hasErrorEvent: false,
  },
  graph: {
    prefix: 'grf_',
    path: '/api/graphgen/jobs',
    page: 'graphs',
    workflow: 'graphWorkflow',
    noun: 'graph job',
    title: () => 'graph evolve job',
    idField: 'graph_gen_job_id',
    isSearch: true,
    takesCommands: true,
    usesProxy: false,
    terminalEvents: jobEvents,
    hasErrorEvent: true,
  },
  deployment: {
    prefix: 'dep_',
    path: '/api/harbor/deployments',
    page: 'deployments',
    workflow: 'deploymentWorkflow',
    noun: 'deployment',
    title: () => 'deployment',
    idField: null,
    isSearch: false,
    takesCommands: false,
    usesProxy: false,
    terminalEvents: jobEvents,
    hasErrorEvent: true,
  },
  migration: {
    prefix: 'mig_',
    path: '/api/harbor/migrations',
    page: 'migrations',
    workflow: 'migrationWorkflow',
    noun: 'migration',
    title: () => 'migration',
    idField: null,
    isSearch: false,
    takesCommands: false,
    usesProxy: false,
    terminalEvents: jobEvents,
    hasErrorEvent: true,
  },
  checkup: {
    prefix: 'chk_',
    path: '/api/harbor/checkups',
    page: 'checkups',
    workflow: 'checkupWorkflow',
    noun: 'checkup',
    title: () => 'checkup',
    idField: null,
    isSearch: false,
    takesCommands: false,
    usesProxy: false,
    terminalEvents: jobEvents,
    hasErrorEvent: true,
  },
} as const satisfies Record<string, JobKindEntry>;

export type JobKind = keyof typeof jobKinds;

export const kindNames = Object.keys(jobKinds) as JobKind[];

/** Null: not a job id. */
export function kindOf(jobId: string): JobKind | null {
  if (!/^[a-z]{3}_[0-9a-f]{32}$/.test(jobId)) return null;
  return kindNames.find((kind) => jobId.startsWith(jobKinds[kind].prefix)) ?? null;
}

/**
 * The id of a job that another one starts: stable over retries, and sorted next to its parent.
 * `number`: up to 0xffff, unique among the parent's jobs of the kind.
 */
export function childJobId(kind: JobKind, parentId: string, number: number): string {
  return `${jobKinds[kind].prefix}${parentId.slice(4, 32)}${number.toString(16).padStart(4, '0')}`;
}

/**
 * The workflow of a job's run, or of its webhook; an extension begins another run. `suffix`: that
 * of the job's row.
 */
export function workflowId(kind: JobKind | 'webhook', jobId: string, run = 1, suffix = ''): string {
  return run === 1 ? `${kind}-${jobId}${suffix}` : `${kind}-${jobId}-${run}${suffix}`;
}
