import type { ContainerLine, ModelLine } from './ledger.js';

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

/** Everything that is known of one job at the end of a round. */
export interface JobEvidence {
  /** Its name in the round. */
  name: string;
  id: string;
  kind: 'evaluation' | 'session';
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
  /** A session's sensor frames: the traces that each names, the first hundred, and of how many rollouts it says it is. */
  frames: { traces: string[]; count: number }[];
  events: (SeenEvent & { key: string })[];
  calls: CallRow[];
  /** `GET …/events` as JSON, page by page. */
  pages: SeenEvent[];
  /** What each reader of the stream has seen, over all its connections. `ended`: it was told 204 in the end. */
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
}

/** A round's evidence, which the rules judge. Times are epoch milliseconds. */
export interface Evidence {
  kind: string;
  seed: number;
  /** When processes were killed; `worker`: runners of rollouts were among them. */
  kills: { at: number; what: string; worker: boolean }[];
  /** When the last fault was over. */
  lastFaultAt: number;
  jobs: JobEvidence[];
  model: ModelLine[];
  /** Largest resident memory during the round, in MiB, by process; only where it is judged. */
  memory: Record<string, number>;
  /** Processes of the service that ended without being killed. */
  died: string[];
}
