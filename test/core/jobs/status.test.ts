import { describe, expect, test } from '@jest/globals';
import { isTerminal, statuses, transition, type Status, type StatusCommand } from '../../../src/core/jobs/status.js';

// The transition table: 'status' is accepted, 'status already' has no effect, null is refused.
const expected: Record<Status, Record<StatusCommand, string | null>> = {
  pending: {
    pause: null,
    resume: null,
    cancel: 'cancelled',
    reward: 'pending counted',
    reward_stop: 'completed counted',
  },
  running: {
    pause: 'paused',
    resume: 'running already',
    cancel: 'cancelled',
    reward: 'running counted',
    reward_stop: 'completed counted',
  },
  paused: {
    pause: 'paused already',
    resume: 'running',
    cancel: 'cancelled',
    reward: 'paused counted',
    reward_stop: 'completed counted',
  },
  completed: { pause: null, resume: null, cancel: null, reward: null, reward_stop: null },
  failed: { pause: null, resume: null, cancel: null, reward: null, reward_stop: null },
  cancelled: { pause: null, resume: null, cancel: 'cancelled already', reward: null, reward_stop: null },
};

const cells = Object.entries(expected).flatMap(([status, row]) =>
  Object.entries(row).map(([command, outcome]) => [status as Status, command as StatusCommand, outcome] as const),
);

describe('transition', () => {
  test('covers every status and command', () => {
    expect(Object.keys(expected).sort()).toEqual([...statuses].sort());
    expect(cells).toHaveLength(30);
  });

  test.each(cells)('%s, %s -> %s', (status, command, outcome) => {
    const result = transition(status, command);
    if (outcome === null) {
      expect(result).toEqual({ ok: false, status });
      return;
    }
    const [after, note] = outcome.split(' ');
    expect(result).toEqual({
      ok: true,
      status: after,
      already: note === 'already',
      ...(note === 'counted' ? { counted: true } : {}),
    });
  });

  test('never leaves a terminal status', () => {
    for (const [status, command] of cells.filter(([status]) => isTerminal(status))) {
      expect(transition(status, command).status).toBe(status);
    }
  });
});

test('isTerminal is true for completed, failed and cancelled', () => {
  expect(statuses.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
});
