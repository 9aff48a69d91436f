import { expect, test } from '@jest/globals';
import { outcomeOf, type EndRecord, type JobEnd } from '../../../src/core/jobs/outcome.js';
import type { JobSpec } from '../../../src/core/jobs/spec.js';

const specOf = (kind: JobSpec['kind']) => ({ kind, maxFailureRate: 0.5, seeds: [0, 1], timeoutS: 4 }) as JobSpec;
const record = (kind: JobSpec['kind'], more: Partial<EndRecord> = {}): EndRecord => ({
  spec: specOf(kind),
  counts: { succeeded: 2, failed: 0, connectFailuresInARow: 0 },
  hasBest: true,
  ...more,
});
const failing = { counts: { succeeded: 0, failed: 2, connectFailuresInARow: 0 } };
const fault = (code: string): JobEnd => ({ kind: 'failed', fault: { code, message: 'm', retryable: true } });
const done: JobEnd = { kind: 'completed', stoppedBy: 'solved' };

test.each<[string, JobEnd, EndRecord, string, string, string | null]>([
  ['a search that is done', done, record('session'), 'completed', 'solved', null],
  ['one whose rollouts failed', done, record('graph', failing), 'failed', 'failed', 'too_many_failures'],
  ['a cancelled one', { kind: 'cancelled' }, record('session', failing), 'cancelled', 'cancelled', null],
  [
    'one that its caller stops',
    { kind: 'completed', stoppedBy: 'reward_stop' },
    record('session', failing),
    ...(['completed', 'reward_stop', null] as const),
  ],
  ['minutes that are over', { kind: 'expired' }, record('session'), 'completed', 'max_minutes', null],
  [
    'minutes that are over before a baseline',
    { kind: 'expired' },
    record('session', { hasBest: false }),
    ...(['failed', 'max_minutes', 'max_minutes'] as const),
  ],
  ['an evaluation in time-out', { kind: 'expired' }, record('evaluation'), 'failed', 'timeout', 'timeout'],
  ['spent money', fault('max_cost_usd'), record('session'), 'completed', 'max_cost_usd', null],
  ['a spent quota', fault('spend_quota_exceeded'), record('graph'), 'completed', 'spend_quota_exceeded', null],
  [
    'a spent quota of an evaluation',
    fault('spend_quota_exceeded'),
    record('evaluation'),
    ...(['failed', 'failed', 'spend_quota_exceeded'] as const),
  ],
  [
    'spent money of an evaluation',
    fault('max_cost_usd'),
    record('evaluation', { counts: { succeeded: 1, failed: 0, connectFailuresInARow: 0 } }),
    ...(['failed', 'cost_budget_exhausted', 'cost_budget_exhausted'] as const),
  ],
  [
    'a refused call after the last result',
    fault('max_cost_usd'),
    record('evaluation'),
    ...(['completed', 'completed', null] as const),
  ],
  ['another fault', fault('container_gone'), record('session'), 'failed', 'failed', 'container_gone'],
])('%s', (_what, end, known, status, stoppedBy, code) => {
  const outcome = outcomeOf(end, known);
  expect([outcome.status, outcome.stoppedBy, outcome.error?.code ?? null]).toEqual([status, stoppedBy, code]);
});
