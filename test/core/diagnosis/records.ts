/** Records of runs, of which tests change what they are about. */
import type { AnswersRecord, SampledRow, SearchRecord } from '../../../src/core/diagnosis/diagnosis.js';

export const sampled = (fields: Partial<SampledRow> = {}): SampledRow => ({
  row: 0,
  rolloutId: 'rol_0',
  input: 'Please block my card',
  expected: ['card_control'],
  answered: 'A card',
  finishReason: 'stop',
  empty: null,
  error: null,
  unscored: false,
  ...fields,
});

const answers = (fields: Partial<AnswersRecord> = {}): AnswersRecord => ({
  unit: 'row',
  isEnded: true,
  isSearch: false,
  scored: 50,
  failed: 0,
  rewards: { low: 0, high: 1 },
  empty: {},
  isLocal: false,
  formAdvice: 'Ask for the answer alone.',
  rows: [],
  labels: [],
  prompt: 'Which team handles this message?',
  ...fields,
});

type Compared = NonNullable<SearchRecord['comparison']>;

export const compared = (fields: Partial<Compared> = {}): Compared => ({
  verdict: 'better',
  basis: 'heldout',
  rows: 12,
  baseline: 0.4,
  winner: 0.8,
  winnerInterval: { low: 0.6, high: 0.95 },
  difference: 0.4,
  interval: { low: 0.1, high: 0.7 },
  rowsNeeded: null,
  ...fields,
});

/** A search that found a better prompt. */
export const search = (fields: Partial<SearchRecord> = {}): SearchRecord => ({
  ...answers(),
  isSearch: true,
  thing: 'prompt',
  baseline: 0.4,
  best: 0.8,
  isBaselineBest: false,
  comparison: compared(),
  noise: null,
  proposals: { written: 5, accepted: 2, rejected: 3, refused: [] },
  stoppedBy: 'generations',
  nothingLeft: null,
  history: [0.4, 0.8, 0.8, 0.8],
  bestGeneration: null,
  extendedAt: null,
  evaluationRows: 30,
  heldoutRows: 12,
  rollouts: 200,
  limits: { max_rollouts: 400, max_cost_usd: null, max_minutes: null },
  costUsd: 0.06,
  isExtendable: true,
  ...fields,
});
