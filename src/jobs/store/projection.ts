/** What `jobs.projection` holds of the progress of a job. */
import type { CheckedPart, CheckupFindings } from '../../core/checkups/steps.js';
import type { Side } from '../../core/migrations/steps.js';
import type { Judged } from '../../core/migrations/verdict.js';
import type { Interval } from '../../core/math/mean-interval.js';
import type { SearchPhase, SearchVerdict, StoppedBy } from '../../core/search/protocol.js';

/** The recorded progress of an evaluation. */
export interface EvaluationProjection {
  /** The number of seeds. */
  total?: number;
}

/** The last recorded state of a search; all fields are missing before the first decision. */
export interface SessionProjection {
  generation?: number;
  totalGenerations?: number;
  bestCandidateId?: string | null;
  bestReward?: number | null;
  bestInterval?: Interval | null;
  rolloutsPlanned?: number;
  maxRollouts?: number | null;
  history?: { generation: number; bestReward: number }[];
  /** Expected reward of the most promising candidate, with the interval for unseen rows. */
  estimate?: { candidateId: string; reward: number; low: number; high: number } | null;
  noise?: { sd: number; comparisons: number } | null;
  /** The number of rollouts in an evaluation's mean. */
  evaluationRollouts?: number;
  verdict?: SearchVerdict | null;
  /** Why larger limits would change nothing; null: they would, or the search goes on. */
  nothingLeft?: StoppedBy | null;
  /** Generations on record when limits were last raised; absent: never. */
  extendedAt?: number;
  evaluationSeeds?: number;
  heldoutSeeds?: number;
  /** null: the search has ended. */
  phase?: SearchPhase | null;
  /** The container marks the components as spans. */
  leversMarked?: boolean;
}

/** What a migration has found. */
export interface MigrationProjection {
  judged?: Partial<Record<Side, Judged>>;
  /** The side that answers, once the migration has ended. */
  side?: Side;
  deploymentId?: string;
  /** Why there is no deployment, although one was asked for. */
  notDeployed?: string;
}

/** With what a checkup compares, fixed when it begins: evaluations; null: nothing. */
export type Baselines = Record<CheckedPart, string | null>;

/** pending: a person decides on the deployment; expired: the name serves something else by now. */
export type Approval = 'pending' | 'approved' | 'rejected' | 'expired';

/** What a checkup has found. */
export interface CheckupProjection {
  baselines?: Baselines;
  /** Among the compared checkups of the deployment, from 1; null: it compares nothing. */
  number?: number | null;
  judged?: CheckupFindings;
  approval?: Approval;
  deploymentId?: string;
  /** Why there is no deployment, although one was asked for. */
  notDeployed?: string;
}

/** What the record of any job may hold. */
export type AnyProjection = SessionProjection | MigrationProjection | CheckupProjection;
