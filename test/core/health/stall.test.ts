import { expect, test } from '@jest/globals';
import { stallCause, type StallFacts } from '../../../src/core/health/stall.js';

const well: StallFacts = {
  stuck: null,
  hasWorker: true,
  trouble: null,
  loweredBecause: null,
  isPrepared: true,
  isDriven: true,
  inFlight: 2,
  answerer: 'openai/gpt-4o',
};

// From the first that is known, each a cause of those below.
test.each<[Partial<StallFacts>, RegExp]>([
  [{ stuck: 'no such table', hasWorker: false }, /no such table/],
  [{ hasWorker: false, trouble: 'openai is failing' }, /no worker/],
  [{ trouble: 'openai/gpt-4o is throttled (429)', loweredBecause: 'x' }, /throttled/],
  [{ loweredBecause: 'container answered 503' }, /503/],
  [{ isPrepared: false, isDriven: false }, /checks.*openai\/gpt-4o/],
  [{ isDriven: false }, /waits for a worker/],
  [{}, /openai\/gpt-4o is silent: 2 answers/],
  [{ inFlight: 0 }, /proposer/],
])('%p', (facts, cause) => expect(stallCause({ ...well, ...facts })).toMatch(cause));
