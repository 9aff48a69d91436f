/** Words of a search that the API names for programs. */
import type { CandidateDetail } from '../data/search.js';
import { words } from './format.js';

const stages: Record<string, string> = {
  minibatch: 'test on train rows',
  gate: 'test on train rows',
  evaluation: 'evaluation rows',
  heldout: 'held-out rows',
};

/** What an answer of a search was for. */
export const stageWords = (stage: string): string => stages[stage] ?? words(stage);

type Approach = NonNullable<NonNullable<CandidateDetail['reflection']>['approach']>;

/** How the model that writes prompts was asked. */
export const approachWords: Record<Approach, string> = {
  revise: 'changed after its failures',
  restart: 'written anew',
  compress: 'made shorter',
  contrast: 'changed after failures beside right answers',
  causes: 'changed after what its failures share',
};
