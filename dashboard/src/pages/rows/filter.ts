/** The filter of rows in the address. */
import type { ReviewFilter, RowGroup, RowsFilter } from '../../data/rows/types.js';

/** In the order in which they are shown. */
export const groupNames = {
  failing: 'Still wrong',
  broken: 'Broken by the winner',
  flaky: 'Right on some tries',
  failed: 'Failed to run',
  fixed: 'Fixed by the winner',
  right: 'Right',
  untried: 'Not run by the winner',
} as const satisfies Record<RowGroup, string>;

/** Without a baseline beside the candidate. */
export const groupNamesAlone: Partial<Record<RowGroup, string>> = {
  failing: 'Wrong',
  flaky: groupNames.flaky,
  failed: groupNames.failed,
  right: groupNames.right,
};

/** What people say of answers. */
export const reviewNames = {
  none: 'Not reviewed',
  any: 'Reviewed',
  right: 'Reviewed as right',
  wrong: 'Reviewed as wrong',
  bad_expected: 'Expected value is wrong',
} as const satisfies Record<ReviewFilter, string>;

const texts = ['expected', 'answered', 'feedback', 'q'] as const;

export function filterOf(query: URLSearchParams): RowsFilter {
  const group = query.get('group');
  const seen = query.get('seen');
  const review = query.get('review');
  return {
    ...(group !== null && Object.hasOwn(groupNames, group) && { group: group as RowGroup }),
    ...((seen === 'true' || seen === 'false') && { seen: seen === 'true' }),
    ...(review !== null && Object.hasOwn(reviewNames, review) && { review: review as ReviewFilter }),
    ...(query.get('other_answers') === 'true' && { other_answers: true }),
    ...Object.fromEntries(texts.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : []))),
  };
}

export const noFilter = {
  group: null,
  seen: null,
  expected: null,
  answered: null,
  other_answers: null,
  feedback: null,
  review: null,
  q: null,
};

/** The filters that stand above the rows, each with a change that removes it. */
export function chipsOf(filter: RowsFilter): { text: string; without: Record<string, null> }[] {
  const { expected, answered, other_answers: others, feedback } = filter;
  return [
    ...(expected === undefined ? [] : [{ text: `expected ${expected}`, without: { expected: null } }]),
    ...(answered === undefined ? [] : [{ text: `answered ${answered}`, without: { answered: null } }]),
    ...(others === undefined ? [] : [{ text: 'another answer', without: { other_answers: null } }]),
    ...(feedback === undefined ? [] : [{ text: feedback, without: { feedback: null } }]),
  ];
}
