import type { Answer } from '../../../../src/client/index.js';

export type Evaluation = Answer<'getEvaluation'>;
export type Result = Answer<'getEvaluationResults'>['results'][number];

/** A result with its texts: `include=outputs`. */
export type ResultTexts = Pick<Result, 'trace_id'> & {
  output?: string | null;
  output_truncated?: boolean;
  feedback?: string | null;
  input?: string | null;
  expected?: string | null;
};

/** An evaluation as a column of the matrix. */
export interface Column {
  job: Evaluation;
  results: Result[];
}

export const isActive = ({ status }: Pick<Evaluation, 'status'>): boolean =>
  status === 'pending' || status === 'running' || status === 'paused';
