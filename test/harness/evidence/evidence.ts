import type { ContainerLine, ModelLine } from './ledger.js';

/** An event as a reader received it. */
export interface SeenEvent {
  seq: number;
  type: string;
  message: string;
  data: Record<string, unknown>;
}

export interface RolloutRow {
  id: string;
  seed: number;
  status: string;
  /** Whether it was ever sent to the container. */
  began: boolean;
  attempt: number;
  resent: number;
  reward: number | null;
  code: string | null;
  message: string | null;
  /** Epoch milliseconds; null: no outcome yet. */
  completedAt: number | null;
  /** The output of a graph. */
  output: unknown;
}

export interface CallRow {
  id: string;
  purpose: string;
  rolloutId: string | null;
  /** As ModelLine.key. */
  key: string;
  httpStatus: number;
  text: string | null;
  createdAt: number;
}

/** A deployment's fields beyond those of a job. */
export interface DeploymentEvidence {
  /** As HTTP shows it. */
  status: string;
  live: boolean;
  /** Epoch milliseconds; null: it never took its name. */
  liveAt: number | null;
  snapshotId: string | null;
  /** The prompt that it answers with; null: it answers with a graph. */
  prompt: string | null;
  /** Null: no gate, or no decision of the gate. */
  gate: { passed: boolean; candidate: Judged; incumbent: Judged | null } | null;
  evaluations: GateEvaluation[];
  /** The rollouts that its gate's container received. */
  sent: string[];
  /** Its request counters. */
  counted: { requests: number; errors: number; aborted: number };
}

/** An evaluation of a gate; `runs` is equal for an equal prompt or graph. */
export interface GateEvaluation {
  id: string;
  runs: string;
  /** Of a second run: its side and the first runs, on whose differing seeds it runs. */
  repeats: { side: 'candidate' | 'incumbent'; candidate: string; incumbent: string } | null;
}

/** Result of an evaluation according to its gate. */
interface Judged {
  jobId: string;
  reward: number | null;
}

/** A client's request; `status` 0: broken connection, `text` null: incomplete answer. Epoch ms. */
export interface AskedByName {
  n: number;
  at: number;
  endedAt: number;
  status: number;
  text: string | null;
  /** From the answer's headers. */
  deploymentId: string | null;
  snapshotId: string | null;
}

/** The evidence about one job at the end of a round. */
export interface JobEvidence {
  /** Its name in the round. */
  name: string;
  id: string;
  kind: 'evaluation' | 'session' | 'graph' | 'deployment';
  maxConcurrent: number;
  seeds: number[];
  /** The statuses in which it may end. */
  mayEnd: string[];
  /** The ids in all answers to its create, which may be repeated with its Idempotency-Key. */
  answered: string[];
  /** Whether a container runs its rollouts; else the service itself. */
  hasContainer: boolean;
  /** An operator's action on its workflow. */
  outside: 'terminate' | 'cancel' | 'signal' | null;
  status: string;
  errorCode: string | null;
  completedAt: number | null;
  eventSeq: number;
  rollouts: RolloutRow[];
  /** A session's sensor frames: the first hundred traces and the number of rollouts of each. */
  frames: { traces: string[]; count: number }[];
  events: (SeenEvent & { key: string })[];
  calls: CallRow[];
  /** `GET …/events` as JSON, page by page. */
  pages: SeenEvent[];
  /**
   * Events that each stream reader received over all connections. `ended`: the final answer was
   * 204.
   */
  streams: { reader: string; events: SeenEvent[]; cuts: number; ended: boolean }[];
  /** `GET …/results` of an evaluation. */
  results: { seed: number; status: string; reward: number | null; error: string | null; traceId: string }[] | null;
  /** The files of the archive of traces. */
  traces: { id: string; status: string; reward: number | null; resent: number; calls: string[] }[];
  /** `rollouts_resent` as HTTP shows it. */
  resent: number;
  /** Workflow status in Temporal. */
  workflow: string;
  /** The container's ledger. */
  container: ContainerLine[];
  /** Whether redirects were followed. */
  trapped: boolean;
  /** The model's ledger entries of this job. */
  bought: ModelLine[];
  /** Of a deployment. */
  deployment: DeploymentEvidence | null;
}

/** Kill times: planned, gone, ready again. `worker`: a runner died; `serving`: an API died. */
export interface Kill {
  at: number;
  goneAt: number;
  until: number;
  what: string;
  worker: boolean;
  serving: boolean;
}

/** Faults of a round with all kinds of job: `count` of them, and the jobs that were open. */
export interface Strike {
  fault: string;
  at: number;
  until: number;
  count: number;
  open: number;
}

/** A round's evidence, which the rules judge. Times are epoch milliseconds. */
export interface Evidence {
  kind: string;
  seed: number;
  kills: Kill[];
  /** The faults of a round that counts them. */
  strikes: Strike[];
  /** The ids of all jobs that were created since the round began. */
  found: string[];
  /** End of the last fault. */
  lastFaultAt: number;
  jobs: JobEvidence[];
  model: ModelLine[];
  /** The client's requests to the name of the deployments, in order. */
  asks: AskedByName[];
  /** When all jobs were known to have ended. */
  overAt: number;
  /** Largest resident memory during the round, in MiB, by process; only where a rule reads it. */
  memory: Record<string, number>;
  /** Processes of the service that ended without a kill. */
  died: string[];
}
