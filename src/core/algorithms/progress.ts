/** A search in progress, as its caller drives it. */
import type { Decision, SearchRequest, SearchResponse, SearchView } from '../search/protocol.js';
import { extendSearch, searchOf, switchToUnpaired, type SearchSettings, type AnySearchState } from './index.js';

/**
 * Input of a search: the response to its request, a person's prompt by its id, or the news that the
 * calls of live traffic name no instance.
 */
export type SearchInput = SearchResponse | { kind: 'given'; id: string } | { kind: 'unpaired' };

/** The result of an input, as it is recorded. */
export interface SearchUpdate {
  /** Counts the updates of the search. */
  step: number;
  /** Its `candidates` are those that changed. */
  view: SearchView;
  decisions: Decision[];
}

/** The state of a search, and the number of its last step. */
export class SearchProgress {
  /** A state does not change, so its view is computed once. */
  private seen: { of: AnySearchState; view: SearchView } | null = null;
  state: AnySearchState;
  steps: number;

  constructor(state: AnySearchState, steps: number) {
    this.state = state;
    this.steps = steps;
  }

  get view(): SearchView {
    const { state } = this;
    if (this.seen?.of !== state) this.seen = { of: state, view: searchOf(state).view(state) };
    return this.seen.view;
  }

  next(): SearchRequest {
    return searchOf(this.state).next(this.state);
  }

  apply(input: SearchInput): SearchUpdate {
    const before = this.view;
    if (input.kind === 'given' || input.kind === 'unpaired') {
      this.state = input.kind === 'given' ? this.given(input.id) : switchToUnpaired(this.state);
      return this.update(before, []);
    }
    const { state, decisions } = searchOf(this.state).apply(this.state, input);
    this.state = state;
    return this.update(before, decisions);
  }

  /** The progress after an input, which leaves this one as it is. */
  after(input: SearchInput): { progress: SearchProgress; update: SearchUpdate } {
    const progress = new SearchProgress(this.state, this.steps);
    progress.seen = this.seen;
    return { progress, update: progress.apply(input) };
  }

  /** Applies inputs that are on record. */
  replay(inputs: readonly SearchInput[]): void {
    for (const input of inputs) this.apply(input);
  }

  /** Counts a step that changed the view from `before`. */
  update(before: SearchView, decisions: Decision[]): SearchUpdate {
    this.steps += 1;
    const { view } = this;
    return { step: this.steps, view: { ...view, candidates: changedCandidates(before, view) }, decisions };
  }

  /** Goes on with larger limits; null: it would end at once. */
  extend(settings: SearchSettings): SearchUpdate | null {
    const before = this.view;
    const step = extendSearch(this.state, settings);
    if ('endsBy' in step) return null;
    this.state = step.state;
    return this.update(before, step.decisions);
  }

  /** Whether the search can use a person's prompt. */
  get takesPrompt(): boolean {
    return searchOf(this.state).give(this.state, '') !== null;
  }

  private given(id: string): AnySearchState {
    return searchOf(this.state).give(this.state, id) ?? this.state;
  }
}

/** Candidates that are new or differ. */
function changedCandidates(before: SearchView, after: SearchView): SearchView['candidates'] {
  const known = new Map(before.candidates.map((candidate) => [candidate.candidate, JSON.stringify(candidate)]));
  return after.candidates.filter((candidate) => known.get(candidate.candidate) !== JSON.stringify(candidate));
}

/** Whether a rollout of the baseline succeeded; a failed one may not have shown its prompt. */
export function isMeasuredBaseline(request: SearchRequest, response: SearchResponse): boolean {
  if (request.kind !== 'rollouts' || response.kind !== 'rollouts') return false;
  const isBaseline = request.requests.some(({ stage }) => stage === 'baseline');
  return isBaseline && response.answers.some(({ reward }) => reward !== null);
}
