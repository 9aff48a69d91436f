import type { ContainerLine, ModelLine } from '../ledger.js';

/** An event as a reader was shown it. */
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
  /** Whether it was ever sent. */
  began: boolean;
  attempt: number;
  resent: number;
  reward: number | null;
  code: string | null;
  message: string | null;
  /** Epoch milliseconds; null while it has no outcome. */
  completedAt: number | null;
  /** Of a graph's: what it gave. */
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

/** What a deployment is beside a job. */
export interface DeploymentEvidence {
  /** As HTTP tells it. */
  status: string;
  live: boolean;
  /** Epoch milliseconds; null: it has not taken its name. */
  liveAt: number | null;
  snapshotId: string | null;
  /** The prompt that it answers by; null: a graph does. */
  prompt: string | null;
  /** Null: it has none, or that has not judged. */
  gate: { passed: boolean; candidate: Judged; incumbent: Judged | null } | null;
  /** What its gate has evaluated; `runs` is the same for the same prompt or graph. */
  evaluations: { id: string; runs: string }[];
  /** The rollouts that came to its gate's container. */
  sent: string[];
  /** What it counts of its requests. */
  counted: { requests: number; errors: number; aborted: number };
}

/** What a gate says that an evaluation came to. */
interface Judged {
  jobId: string;
  reward: number | null;
}

/** A client's request; `status` 0: broken connection, `text` null: no whole answer. Epoch ms. */
export interface AskedByName {
  n: number;
  at: number;
  endedAt: number;
  status: number;
  text: string | null;
  /** By the answer's headers. */
  deploymentId: string | null;
  snapshotId: string | null;
}

/** Everything that is known of one job at the end of a round. */
export interface JobEvidence {
  /** Its name in the round. */
  name: string;
  id: string;
  kind: 'evaluation' | 'session' | 'graph' | 'deployment';
  maxConcurrent: number;
  seeds: number[];
  /** The statuses that it may end with. */
  mayEnd: string[];
  /** What an operator did to its workflow. */
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
  /** Events that each stream reader saw over all connections. `ended`: the final answer was 204. */
  streams: { reader: string; events: SeenEvent[]; cuts: number; ended: boolean }[];
  /** `GET …/results` of an evaluation. */
  results: { seed: number; status: string; reward: number | null; error: string | null; traceId: string }[] | null;
  /** The files of the archive of traces. */
  traces: { id: string; status: string; reward: number | null; resent: number; calls: string[] }[];
  /** `rollouts_resent` as HTTP tells it. */
  resent: number;
  /** Temporal's word. */
  workflow: string;
  /** The container's ledger. */
  container: ContainerLine[];
  /** Whether redirects were followed. */
  trapped: boolean;
  /** The model's ledger, as far as it is of this job. */
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

/** A round's evidence, which the rules judge. Times are epoch milliseconds. */
export interface Evidence {
  kind: string;
  seed: number;
  kills: Kill[];
  /** When the last fault was over. */
  lastFaultAt: number;
  jobs: JobEvidence[];
  model: ModelLine[];
  /** What a client asked of the name of the deployments, in order. */
  asks: AskedByName[];
  /** When all jobs were known to be over. */
  overAt: number;
  /** Largest resident memory during the round, in MiB, by process; only where it is judged. */
  memory: Record<string, number>;
  /** Processes of the service that ended without being killed. */
  died: string[];
}
