/**
 * The one transition table of every kind of job: what a command does in each status. Pausing a paused job and resuming
 * a running one is accepted and changes nothing; terminal statuses are final, and only cancelling what is cancelled
 * already is accepted there.
 */

export type Status = 'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

/** `reward_stop` is a reward whose `stop` is true. */
export type StatusCommand = 'pause' | 'resume' | 'cancel' | 'reward' | 'reward_stop';

/** `already`: accepted, and nothing changed. `counted`: whether a reward that came with it counts. */
export type Transition =
  { ok: true; status: Status; already: boolean; counted?: boolean } | { ok: false; status: Status };

const refused = 'refused';
type Cell = Status | typeof refused;

/** The status after each command; where it is the one before, the command was accepted all the same. */
const table: Record<Status, Record<StatusCommand, Cell>> = {
  pending: { pause: refused, resume: refused, cancel: 'cancelled', reward: 'pending', reward_stop: 'completed' },
  running: { pause: 'paused', resume: 'running', cancel: 'cancelled', reward: 'running', reward_stop: 'completed' },
  paused: { pause: 'paused', resume: 'running', cancel: 'cancelled', reward: 'paused', reward_stop: 'completed' },
  completed: { pause: refused, resume: refused, cancel: refused, reward: refused, reward_stop: refused },
  failed: { pause: refused, resume: refused, cancel: refused, reward: refused, reward_stop: refused },
  cancelled: { pause: refused, resume: refused, cancel: 'cancelled', reward: refused, reward_stop: refused },
};

export const statuses = Object.keys(table) as Status[];

/** What `command` does to a job in `status`: the status after it, or the unchanged status with which to refuse it. */
export function transition(status: Status, command: StatusCommand): Transition {
  const after = table[status][command];
  if (after === refused) return { ok: false, status };
  if (command === 'reward' || command === 'reward_stop')
    return { ok: true, status: after, already: false, counted: true };
  return { ok: true, status: after, already: after === status };
}

/** Whether a job in this status will never change again. */
export function isTerminal(status: Status): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
