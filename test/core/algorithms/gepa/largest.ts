import { packAnswers, packRequests } from '../../../../src/core/jobs/rollout-packing.js';
import type {
  SearchResponse,
  SearchAlgorithm,
  SearchView,
  SearchRequest,
} from '../../../../src/core/search/protocol.js';
import type { Turn } from './driver.js';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const request = (work: SearchRequest) => (work.kind === 'rollouts' ? packRequests(work.requests) : work);
const answer = (answers: SearchResponse) => (answers.kind === 'rollouts' ? packAnswers(answers.answers) : answers);

/** The largest state, and the largest of each thing that crosses a history, in bytes. */
export function largestOf<State>(
  search: SearchAlgorithm<State>,
  turns: readonly Turn<State>[],
): Record<string, number> {
  const largest: Record<string, number> = {};
  const note = (what: string, value: unknown) => (largest[what] = Math.max(largest[what] ?? 0, bytes(value)));
  let seen: SearchView | undefined;
  for (const { before, work, answers, after, decisions } of turns) {
    const view = search.view(after);
    const known = new Map(seen?.candidates.map((one) => [one.candidate, JSON.stringify(one)]));
    const changed = view.candidates.filter((one) => known.get(one.candidate) !== JSON.stringify(one));
    note('asked', request(work));
    note('answered', answer(answers));
    note('recorded', { view: { ...view, candidates: changed }, decisions });
    note('view', view);
    note('state', before);
    seen = view;
  }
  return largest;
}
