/**
 * What a validated create request becomes: the value stored in `jobs.spec` and read by activities and the proxy.
 * Internal, so camelCase; it never holds a secret. Seconds and counts as named.
 */
import type { GraphJson } from '../../contracts/graphs/graph.js';
import type { GepaSearch, SearchSettings } from '../algorithms/index.js';
import type { Demo } from '../prompts/demos.js';
import type { VerifierSpec } from '../../contracts/graphs/verifier.js';

/** One chat message of a prompt. */
export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
  /** Of the component that it is; where there are several. */
  name?: string;
}

/** Which model answers, and with which further fields of the request (`params`: temperature and the like). */
export interface PolicySpec {
  provider: string;
  model: string;
  params: Record<string, unknown>;
}

export interface ContainerSpec {
  url: string;
  envName: string | null;
  envConfig: Record<string, unknown>;
  /** Whether the job has a secret named `container_api_key`. */
  hasApiKey: boolean;
}

/** What every job that runs rollouts has. */
export interface RunSpec {
  /** null: a session of live traffic that named none, and every graph job. */
  container: ContainerSpec | null;
  policy: PolicySpec;
  maxConcurrent: number;
  rolloutTimeoutS: number;
  maxFailureRate: number;
}

/** Null: no limit. */
export interface BudgetSpec {
  maxMinutes: number | null;
  maxCostUsd: number | null;
}

export interface SessionSpec extends RunSpec {
  kind: 'session';
  search: SearchSettings;
  /** null: the container's own (`/task_info`), else what its baseline calls carry. */
  initialPrompt: Message[] | null;
  proposer: PolicySpec;
  budget: BudgetSpec;
  /** Who runs the rollouts; absent: the container. `caller`: live traffic through the proxy. */
  rollouts?: 'caller';
}

export interface EvaluationSpec extends RunSpec {
  kind: 'evaluation';
  container: ContainerSpec;
  appId: string;
  seeds: number[];
  timeoutS: number;
  /** The messages the proxy substitutes, already resolved; null: the container as it is. */
  candidate: {
    messages: Message[];
    /** Of a session's candidate that has some. */
    demos?: Demo[];
    sessionId: string | null;
    candidateId: string | null;
    /** These are spans that the container marks: what is not marked stays. */
    marked?: boolean;
    /** Of a deployment's gate: its model answers whatever a call says, as it will when it is live. */
    frozen?: boolean;
    /** The frozen graph that answers instead; there are no messages then. */
    graphSnapshotId?: string;
  } | null;
}

/** Where a deployment is from. */
export type DeploymentSource =
  | { kind: 'session' | 'graph'; jobId: string; candidateId: string }
  | { kind: 'messages'; messages: Message[]; policy: PolicySpec };

/** What a deployment must show before it goes live: one of the two rewards. */
export interface GateSpec {
  seeds: number[];
  minReward: number | null;
  minImprovement: number | null;
  maxConcurrent: number;
  rolloutTimeoutS: number;
  maxFailureRate: number;
}

export interface DeploymentSpec {
  kind: 'deployment';
  name: string;
  source: DeploymentSource;
  /** Its gate's. */
  container: ContainerSpec | null;
  gate: GateSpec | null;
}

/** A graph job; its tasks are rows of their own, and so is each of its graphs. */
export interface GraphSpec extends RunSpec {
  kind: 'graph';
  search: GepaSearch;
  container: null;
  /** The models that steps may ask; `policy` is the first of them. */
  policies: PolicySpec[];
  /** What candidates are compared by where they do equally well: dollars where the price of every policy is known, else tokens. */
  costUnit: 'usd' | 'tokens';
  proposer: PolicySpec;
  budget: BudgetSpec;
  verifier: VerifierSpec;
  numTasks: number;
  /** What is known of the task in words; null: nothing is. */
  description: string | null;
  /** Its JSON form (`GraphJson`) as text: the specs' jsonb does not keep the order of a step's inputs. */
  initialGraph: string;
}

/** The jobs that run rollouts. */
export type JobSpec = SessionSpec | EvaluationSpec | GraphSpec;

/** The graph that a job begins with. */
export function initialGraphOf({ initialGraph }: Pick<GraphSpec, 'initialGraph'>): GraphJson {
  return JSON.parse(initialGraph) as GraphJson;
}

/** The jobs that search. */
export type SearchSpec = SessionSpec | GraphSpec;
