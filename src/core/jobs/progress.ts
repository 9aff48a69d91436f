/** How far a job is, for its workflow: a few hundred bytes, one slice of work old at most. */
import type { SearchProgress } from '../algorithms/progress.js';
import type { Conclusion } from '../math/statistics.js';
import type { SearchRequest, SearchView } from '../search/protocol.js';
import type { OutcomeCounts } from './failures.js';
import { counted } from '../math/words.js';
import { candidateId } from './ids.js';
import type { Unit } from './unit.js';

/** What a person suggests to a search. */
export type SuggestionKind = 'candidate' | 'hint';

/** Rewards are means. */
export interface JobFigures {
  generation: number;
  totalGenerations: number;
  /** A candidate id; null: none yet. */
  bestCandidate: string | null;
  bestReward: number | null;
  rolloutsCompleted: number;
  maxRollouts: number | null;
}

export interface JobProgress {
  figures: JobFigures;
  /** In words, for the Temporal UI. */
  details: string;
  /** The work that comes next, in words. */
  next: string;
  /** The suggestions that the search can use. */
  takes: SuggestionKind[];
}

/** What Temporal's lists show of a job, as the API says it. */
export interface ShownJob {
  name: string | null;
  tags: string[];
  /** Finished ones; of a deployment, those of its gate. */
  rollouts: number;
  /** That of a search; the mean reward of an evaluation, or of a gate's candidate. */
  bestReward: number | null;
}

/** The result of a job's workflow, and its memo once it has ended. Unknown values are null. */
export interface JobSummary {
  name: string | null;
  /** Of a search that compared its winner with the baseline. */
  verdict: Conclusion | null;
  /** See `ShownJob`. */
  bestReward: number | null;
  rollouts: number;
  costUsd: number | null;
}

/** Of a job before its first. */
export const noFigures: JobFigures = {
  generation: 0,
  totalGenerations: 0,
  bestCandidate: null,
  bestReward: null,
  rolloutsCompleted: 0,
  maxRollouts: null,
};

/** `takesSuggestions`: whether it takes any; `takesPrompts`: whether it tests prompts of people. */
export function progressOfSearch(
  jobId: string,
  search: SearchProgress,
  { takesSuggestions, takesPrompts }: { takesSuggestions: boolean; takesPrompts: boolean },
): JobProgress {
  const { view } = search;
  const takes: SuggestionKind[] = takesPrompts && search.takesPrompt ? ['hint', 'candidate'] : ['hint'];
  return {
    figures: {
      generation: view.generation,
      totalGenerations: view.totalGenerations,
      bestCandidate: view.bestCandidate === null ? null : candidateId(jobId, view.bestCandidate),
      bestReward: view.bestReward,
      rolloutsCompleted: view.rolloutsCompleted,
      maxRollouts: view.maxRollouts,
    },
    details: describe(view),
    next: describeRequest(search.next()),
    takes: takesSuggestions ? takes : [],
  };
}

export function progressOfEvaluation({ succeeded, failed }: OutcomeCounts, total: number, unit: Unit): JobProgress {
  const rolloutsCompleted = succeeded + failed;
  return {
    figures: { ...noFigures, rolloutsCompleted, maxRollouts: total },
    details: `${rolloutsCompleted} of ${counted(total, unit)}`,
    next: counted(total, unit),
    takes: [],
  };
}

function describe(view: SearchView): string {
  const best =
    view.bestReward === null ? 'none yet' : `${view.bestReward.toFixed(3)} (candidate ${view.bestCandidate})`;
  return `generation ${view.generation} of ${view.totalGenerations}, best reward ${best}, ${view.rolloutsCompleted} answers`;
}

function describeRequest(request: SearchRequest): string {
  switch (request.kind) {
    case 'done':
    case 'failed':
      return 'the end';
    case 'demos':
      return `generation ${request.request.generation}: demonstrations from ${request.request.ordinals.length} answers`;
    case 'round':
      return `${describeRequest({ kind: 'rollouts', requests: request.rollouts })}, ${request.proposals.length} proposals`;
    case 'proposals':
      return `generation ${request.requests[0]?.generation ?? 0}: ${request.requests.length} proposals`;
    case 'rollouts': {
      const { generation = 0, stage } = request.requests[0] ?? {};
      return `generation ${generation}: ${request.requests.length} answers${stage ? ` (${stage})` : ''}`;
    }
  }
}
