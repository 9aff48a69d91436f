import { expect, test } from '@jest/globals';
import { Decisions } from '../../../dashboard/src/pages/job/decisions.js';
import { ProposalTally } from '../../../dashboard/src/pages/search/proposals.js';
import type { Event } from '../../../src/client/index.js';

let seq = 0;
const event = (type: string, data: object): Event =>
  ({ type, seq: (seq += 1), ts: '2026-01-01T00:00:00.000Z', job_id: 'ses_1', message: '', data }) as unknown as Event;
const tested = (candidate: number, seed: number, reward: number | null) =>
  event('rollout_completed', { stage: 'gate', seed, candidate_id: `cand_1_${candidate}`, reward });
const decided = (type: 'candidate_accepted' | 'candidate_rejected', own: number, before: number, more: object = {}) =>
  event(type, { candidate_id: 'cand_1_3', child_sum: own, parent_sum: before, ...more });

function last(events: Event[], unit = 'row'): string {
  const decisions = new Decisions(unit);
  for (const each of events) decisions.add(each);
  return decisions.latest[0]!.text;
}

test('a decision names what was right, what was right before, and what was wrong', () => {
  const rows = [tested(3, 5, 1), tested(3, 168, 0), tested(3, 7, 1)];
  const kept = decided('candidate_accepted', 2, 0);
  expect(last([...rows, kept])).toBe('#3 Kept: 2 of 3 rows right, 0 before; row 168 was wrong');
  expect(last([...rows, tested(3, 168, 1), decided('candidate_accepted', 3, 0)])).toBe(
    '#3 Kept: 3 of 3 rows right, 0 before',
  );
  const dropped = decided('candidate_rejected', 0, 1, { reason: 'not_better' });
  expect(last([tested(3, 1, 0), tested(3, 2, null), dropped], 'task')).toBe(
    '#3 Dropped (not better): 0 of 2 tasks right, 1 before; tasks 1 and 2 were wrong',
  );
  const many = [1, 2, 3, 4].map((seed) => tested(3, seed, 0));
  expect(last([...many, dropped])).toMatch(/; 4 rows were wrong$/);
});

test('rewards between right and wrong are sums, rounded', () => {
  const kept = decided('candidate_accepted', 1.23456, 0.5, { reason: 'cheaper' });
  expect(last([tested(3, 1, 0.73456), tested(3, 2, 0.5), kept])).toBe(
    '#3 Kept for being cheaper: 1.235 on 2 rows, 0.5 before',
  );
  const other = tested(4, 1, 1);
  expect(last([other, decided('candidate_accepted', 2, 1)])).toBe('#3 Kept: 2, 1 before');
});

test('a combination that gains nothing says why it was kept', () => {
  const proposed = event('candidate_proposed', { candidate_id: 'cand_1_3', parent_ids: ['cand_1_1', 'cand_1_2'] });
  const rows = [tested(3, 5, 1), tested(3, 7, 1)];
  expect(last([proposed, ...rows, decided('candidate_accepted', 2, 2)])).toMatch(/^#3 Kept, as it combines/);
  expect(last([proposed, ...rows, decided('candidate_accepted', 2, 1)])).toMatch(/^#3 Kept: 2 of 2/);
});

test('the last five are told, the newest first', () => {
  const decisions = new Decisions('row');
  for (let n = 0; n < 7; n += 1)
    decisions.add(event('candidate_evaluated', { candidate_id: `cand_1_${n}`, reward: 0.73684, seeds_evaluated: 19 }));
  decisions.add(event('proposal_failed', { candidate_id: 'cand_1_9', reason: 'duplicate text' }));
  expect(decisions.latest.map(({ text }) => text)).toEqual([
    'No new prompt: duplicate text',
    ...[6, 5, 4, 3].map((n) => `#${n} Evaluated: mean 0.737 on 19 rows`),
  ]);
  expect(decisions.latest[0]!.candidateId).toBeNull();
});

test('the counts of an open search are those of its decisions so far', () => {
  const tally = new ProposalTally();
  const told: string[] = [];
  const decisions = new Decisions('row');
  const of = (type: string, n: number, data: object = {}) =>
    event(type, { candidate_id: `cand_1_${n}`, parent_ids: [], ...data });
  const sums = { child_sum: 1, parent_sum: 0 };
  for (const each of [
    of('candidate_proposed', 1),
    of('candidate_proposed', 2),
    of('candidate_proposed', 3),
    of('candidate_proposed', 4),
    of('proposal_failed', 5, { reason: 'the answer has no text' }),
    of('candidate_rejected', 1, { ...sums, reason: 'not_better' }),
    of('candidate_accepted', 2, sums),
    of('candidate_accepted', 3, sums),
    of('candidate_rejected', 3, { ...sums, reason: 'overtaken' }),
  ]) {
    tally.add(each);
    decisions.add(each);
    const { accepted, rejected, written } = tally.counts;
    told.push(`${written} ${accepted} ${rejected}`);
  }
  expect(told).toEqual(['1 0 0', '2 0 0', '3 0 0', '4 0 0', '4 0 0', '4 0 1', '4 1 1', '4 2 1', '4 1 2']);
  expect(tally.counts.refused).toMatchObject([{ count: 1, example: 'the answer has no text' }]);
});
