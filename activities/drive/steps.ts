/** Steps of a search, and the requests between them. */
import type { SearchInput, SearchProgress, SearchUpdate } from '../../src/core/algorithms/progress.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { RolloutAnswer, SearchRequest, SearchResponse } from '../../src/core/search/protocol.js';
import type { NewCandidate } from '../../src/candidates/store/candidates.js';
import type { RecordedGeneration } from '../jobs/generations.js';
import type { AdmittedProposals } from '../proposals/admit.js';
import type { Material } from '../proposals/material.js';
import type { StartedRollouts } from '../rollouts/run.js';

export type AnswerableRequest = Exclude<SearchRequest, { kind: 'done' | 'failed' }>;

/** A step of the search to record. */
export interface StepRecord {
  input: SearchInput;
  /** The candidates that it proposes. */
  candidates?: NewCandidate[];
  update: SearchUpdate;
}

/** The steps that follow from a response. */
export interface NextSteps {
  records: StepRecord[];
  progress: SearchProgress;
  /** The request after them. */
  request: AnswerableRequest;
}

/** Recorded steps; the request after them has begun. */
export interface BegunSteps extends NextSteps {
  begun: BegunRequest;
}

/** `response` null: interrupted, or a fault. */
export interface AnsweredRequest {
  response: SearchResponse | null;
  /** The candidates to store with the response. */
  candidates: NewCandidate[];
  fault: JobFault | null;
  /** Set if the response is recorded. */
  next?: BegunSteps | null;
}

/** The answers of all rollouts of a request; null: one is open. */
export interface Conclusion {
  answers: RolloutAnswer[] | null;
  next: BegunSteps | null;
}

/** A request that has begun; `isRunning`: the job is neither paused nor stopped. */
export interface BegunRequest {
  run: StartedRollouts<Conclusion> | null;
  material: Material | null;
  isRunning: boolean;
  /** The generations that its recorded steps completed. */
  generations: RecordedGeneration[];
  /** Null: not written yet. */
  proposed: AdmittedProposals | null;
  /** The first try to conclude may begin the next request in its transaction. */
  mayGoOn: boolean;
}
