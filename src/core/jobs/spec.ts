/** The specification of a job, stored in `jobs.spec`; never contains a secret. */
import type { GraphJson } from '../../kinds/graph/contract/graph.js';
import type { CheckedPart, ImproveWhen } from '../checkups/steps.js';
import type { Optimize } from '../migrations/steps.js';
import type { SearchSettings } from '../algorithms/index.js';
import type { CanaryPlan } from '../deployments/canary/plan.js';
import type { AnswerCache } from './answer-cache.js';
import type { PolicySpec } from './policy.js';
import type { Demo } from '../prompts/demos.js';
import type { Message } from '../prompts/message.js';
import type { ScorerSpec } from '../../scorers/index.js';
import type { VerifierSpec } from '../../scorers/verifier.js';

export interface ContainerSpec {
  url: string;
  envName: string | null;
  envConfig: Record<string, unknown>;
  /** Whether the job has a secret `container_api_key`. */
  hasApiKey: boolean;
}

/** Rows and a scorer in place of a container; a row's number is its seed. */
export interface RowsSpec {
  datasetId: string;
  numRows: number;
  /** The column of each placeholder in the prompt. */
  placeholders: Record<string, string>;
  /** The names of all columns. */
  columns: string[];
  /** The column with the right answers; null: the data set has none. */
  expected: string | null;
  scorer: ScorerSpec;
  /** The expected values are labels, and a judge of the scorer is compared with them. */
  labels?: true;
}

/** The data set whose rows are the tasks of a graph job; a row's number is its task's index. */
export type TaskRows = Pick<RowsSpec, 'datasetId' | 'numRows' | 'expected'>;

/** Fields of all jobs that run rollouts. */
export interface RunSpec {
  /** null: a graph job, live traffic, or a job on a data set. */
  container: ContainerSpec | null;
  policy: PolicySpec;
  maxConcurrent: number;
  rolloutTimeoutS: number;
  maxFailureRate: number;
  /** Whether a small call checks each model before the first rollout. */
  preflight: boolean;
  /** Absent: every call goes to its model. */
  answerCache?: AnswerCache;
}

/** Null: no limit. */
export interface BudgetSpec {
  maxMinutes: number | null;
  maxCostUsd: number | null;
}

export interface SessionSpec extends RunSpec {
  kind: 'session';
  search: SearchSettings;
  /** null: the container's own prompt (`/task_info`), else that of its baseline calls. */
  initialPrompt: Message[] | null;
  proposer: PolicySpec;
  budget: BudgetSpec;
  /** The most estimated tokens of a prompt with its demonstrations; absent: no limit. */
  maxPromptTokens?: number;
  /** Absent: the container runs rollouts. `caller`: live traffic through the proxy. */
  rollouts?: 'caller';
  /** The rows of a job on a data set. */
  rows?: RowsSpec;
}

export interface EvaluationSpec extends RunSpec {
  kind: 'evaluation';
  /** The rows of a job on a data set. */
  rows?: RowsSpec;
  appId: string;
  seeds: number[];
  timeoutS: number;
  /** Of money alone; absent: no limit but `timeoutS`. */
  budget?: BudgetSpec;
  /** The resolved messages that the proxy substitutes; null: the container's own. */
  candidate: {
    messages: Message[];
    /** Demonstrations of a session's candidate. */
    demos?: Demo[];
    sessionId: string | null;
    candidateId: string | null;
    /** The messages are spans marked by the container; unmarked text stays. */
    marked?: boolean;
    /** For a deployment's gate: its model answers every call, as it will when live. */
    frozen?: boolean;
    /** The published graph that answers instead of messages. */
    graphSnapshotId?: string;
  } | null;
  /** Of a gate: the snapshot that it runs; null: the container's own prompt. */
  gateSnapshotId?: string | null;
}

/** Parts in place of those of a source. */
export interface ReplacedParts {
  messages?: Message[];
  policy?: PolicySpec;
}

/** The source of a deployment. */
export type DeploymentSource =
  | ({ kind: 'session' | 'graph'; jobId: string; candidateId: string } & ReplacedParts)
  | ({ kind: 'deployment'; deploymentId: string; snapshotId: string } & ReplacedParts)
  | { kind: 'messages'; messages: Message[]; policy: PolicySpec };

/** The gate of a deployment; one of the two reward conditions is set. */
export interface GateSpec {
  seeds: number[];
  minReward: number | null;
  minImprovement: number | null;
  maxConcurrent: number;
  rolloutTimeoutS: number;
  maxFailureRate: number;
  preflight: boolean;
  /** With rows: the messages of a caller, with placeholders. */
  inputs?: Message[];
  answerCache?: 'deterministic';
}

export interface DeploymentSpec {
  kind: 'deployment';
  name: string;
  source: DeploymentSource;
  /** The container of its gate; null: no gate, or one on rows. */
  container: ContainerSpec | null;
  /** The rows of its gate. */
  rows?: RowsSpec;
  gate: GateSpec | null;
  /** Absent: its name serves it at once. */
  canary?: CanaryPlan;
}

/** Evaluations on the rows that decide, without a condition. */
export type RowsGate = Omit<GateSpec, 'minReward' | 'minImprovement' | 'answerCache'> & { inputs: Message[] };

/** A move of what a name serves to another model. */
export interface MigrationSpec {
  kind: 'migration';
  name: string;
  /** What the name served when the migration was created. */
  deploymentId: string;
  snapshotId: string;
  /** The new model. */
  policy: PolicySpec;
  container: null;
  rows: RowsSpec;
  /** The evaluations, on the rows that decide. */
  gate: RowsGate;
  /** The loss of mean reward that still counts as none. */
  maxLoss: number;
  /** Of all its jobs together; null: no limit. */
  maxCostUsd: number | null;
  optimize: Optimize;
  /** On the other rows; null: the prompt is not optimized. */
  session: SessionSpec | null;
  /** The deployment of a prompt that is no worse; null: none. */
  deploy: { reason: string | null; canary: CanaryPlan | null } | null;
}

/** Which requests are traffic, and their right answers: traffic of another form is not compared. */
export interface TrafficFilter {
  outcome: string | null;
  feedback: string | null;
  minReward: number | null;
  maxReward: number | null;
  expected: 'corrected' | 'corrected_or_answer';
}

/** The rows of an evaluation of the live deployment. */
export interface CheckedRows {
  rows: RowsSpec;
  gate: RowsGate;
}

/** A repeated evaluation of the live deployment of a name, and a search for a better prompt. */
export interface CheckupSpec {
  kind: 'checkup';
  name: string;
  /** What the name served when the checkup was created. */
  deploymentId: string;
  snapshotId: string;
  /** Its model. */
  policy: PolicySpec;
  container: null;
  parts: Record<CheckedPart, CheckedRows | null>;
  /** null: traffic is not checked. */
  filter: TrafficFilter | null;
  /** A difference of mean reward that counts as none. */
  maxChange: number;
  /** Of all its jobs together; null: no limit. */
  maxCostUsd: number | null;
  improve: {
    when: ImproveWhen;
    /** On the other half of the traffic. */
    session: SessionSpec;
    /** null: none. */
    deploy: { reason: string | null; canary: CanaryPlan; requireApproval: boolean } | null;
  } | null;
}

/** A graph job; its tasks and graphs are stored in tables. */
export interface GraphSpec extends RunSpec {
  kind: 'graph';
  search: SearchSettings;
  container: null;
  /** The models that steps may use; `policy` is the first. */
  policies: PolicySpec[];
  /** Breaks ties of reward: dollars if all policies have a price, else tokens. */
  costUnit: 'usd' | 'tokens';
  proposer: PolicySpec;
  budget: BudgetSpec;
  verifier: VerifierSpec;
  numTasks: number;
  /** Absent: the request had the tasks. */
  rows?: TaskRows;
  description: string | null;
  /** Fields of the request that have no meaning, by name. */
  unused?: Record<string, unknown>;
  /** The JSON form (`GraphJson`) as text: jsonb would not keep the order of a step's inputs. */
  initialGraph: string;
}

/** Jobs that run rollouts. */
export type JobSpec = SessionSpec | EvaluationSpec | GraphSpec;

/** What `jobs.spec` holds. */
export type StoredSpec = JobSpec | DeploymentSpec | MigrationSpec | CheckupSpec;

export function initialGraphOf({ initialGraph }: Pick<GraphSpec, 'initialGraph'>): GraphJson {
  return JSON.parse(initialGraph) as GraphJson;
}

/** The budget of a job. */
export function budgetOf({ budget }: JobSpec): BudgetSpec {
  return budget ?? { maxMinutes: null, maxCostUsd: null };
}

/** Jobs that search. */
export type SearchSpec = SessionSpec | GraphSpec;
