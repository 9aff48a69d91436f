import { agreementCriteria } from '../core/verify/rubric.js';
import type { JudgedVerifier } from './scorer.js';

/** Judges the output of a graph by the gold outputs of its task and of a few others. */
export const goldExamples = {
  type: 'gold_examples',
  readsRubric: false,
  examples: 3,
  criteria: () => agreementCriteria,
} as const satisfies JudgedVerifier;
