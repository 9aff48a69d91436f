/** The filter of the list of events. */
import { expect, test } from '@jest/globals';
import { EventTypes, FilteredEvents } from '../../../dashboard/src/ui/events/filter.js';
import type { Event } from '../../../src/client/index.js';

const events = [
  { type: 'session_started', message: 'gepa session started' },
  { type: 'rollout_completed', message: 'seed 3: reward 1' },
  { type: 'candidate_accepted', message: 'Candidate 3 accepted' },
] as Event[];

function shownBy(type: string, text = ''): string[] {
  const filtered = new FilteredEvents({ type, text });
  for (const event of events) filtered.add(event);
  return filtered.shown.map((event) => event.type);
}

test('a type, all but rollouts, and text in any case', () => {
  expect(shownBy('')).toHaveLength(3);
  expect(shownBy('candidate_accepted')).toEqual(['candidate_accepted']);
  expect(shownBy('-rollouts')).toEqual(['session_started', 'candidate_accepted']);
  expect(shownBy('', 'CANDIDATE')).toEqual(['candidate_accepted']);
  expect(shownBy('-rollouts', 'seed')).toEqual([]);
});

test('each type is counted', () => {
  const types = new EventTypes();
  for (const event of [...events, events[1]!]) types.add(event);
  expect(types.counts.get('rollout_completed')).toBe(2);
  expect(types.counts.size).toBe(3);
});
