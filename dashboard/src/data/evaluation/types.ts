import type { Answer } from '../../../../src/client/index.js';

export type Evaluation = Answer<'getEvaluation'>;
export type Result = Answer<'getEvaluationResults'>['results'][number];

/** An evaluation as a column of the matrix. */
export interface Column {
  job: Evaluation;
  results: Result[];
}
