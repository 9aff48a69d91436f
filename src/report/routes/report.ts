/** What a report says of a job. */
import type { z } from 'zod';
import type { outcome } from '../../contracts/search.js';
import type { Interval } from '../../core/math/mean-interval.js';
import type { RowGroup } from '../../core/rows/groups.js';
import type { diagnosisSchema } from '../../diagnosis/contract/diagnosis.js';
import type { usageView } from '../../jobs/routes/view.js';

export interface Report {
  title: string;
  jobId: string;
  /** Such as `session`. */
  noun: string;
  status: string;
  error: string | null;
  notes: string | null;
  createdAt: Date;
  completedAt: Date | null;
  version: string;
  /** Names and values, in their order. */
  settings: readonly (readonly [string, string])[];
  diagnosis: z.output<typeof diagnosisSchema>;
  /** null: an evaluation, or no comparison was made. */
  comparison: z.output<typeof outcome.comparison>;
  /** What was measured, by its name; null: nothing yet. */
  reward: { name: string; mean: number; interval: Interval | null; baseline: number | null } | null;
  /** The texts of the prompt or graph; `before` null: an evaluation, or the baseline won. */
  texts: { before: string | null; after: string } | null;
  rows: ReportRows;
  usage: ReturnType<typeof usageView>;
  rollouts: number;
  /** The path to create it anew, with its request; null: no request made it. */
  repetition: { path: string; request: object } | null;
}

export interface ReportRows {
  counts: readonly (readonly [RowGroup, number])[];
  /** Those that need a look, cut off at `mostRows`. */
  shown: readonly ReportRow[];
  total: number;
  hasBaseline: boolean;
}

export interface ReportRow {
  row: number;
  group: RowGroup;
  isHeldOut: boolean;
  input: string | null;
  expected: string | null;
  baseline: string | null;
  /** The answer, else why there is none. */
  answer: string | null;
  feedback: string | null;
}
