/**
 * The transition table of all kinds of jobs. Pausing a paused job and resuming a running one have
 * no effect. Terminal statuses are final; they accept only cancelling a cancelled job.
 */

export type Status = 'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

/** `reward_stop`: a reward with `stop: true`. */
export type StatusCommand = 'pause' | 'resume' | 'cancel' | 'reward' | 'reward_stop';

/** `already`: accepted without effect. `counted`: whether a reward sent with the command counts. */
export type Transition =
  { ok: true; status: Status; already: boolean; counted?: boolean } | { ok: false; status: Status };

const refused = 'refused';
type Cell = Status | typeof refused;

/** The status after each command; an unchanged status means accepted. */
const table: Record<Status, Record<StatusCommand, Cell>> = {
  pending: { pause: refused, resume: refused, cancel: 'cancelled', reward: 'pending', reward_stop: 'completed' },
  running: { pause: 'paused', resume: 'running', cancel: 'cancelled', reward: 'running', reward_stop: 'completed' },
  paused: { pause: 'paused', resume: 'running', cancel: 'cancelled', reward: 'paused', reward_stop: 'completed' },
  completed: { pause: refused, resume: refused, cancel: refused, reward: refused, reward_stop: refused },
  failed: { pause: refused, resume: refused, cancel: refused, reward: refused, reward_stop: refused },
  cancelled: { pause: refused, resume: refused, cancel: 'cancelled', reward: refused, reward_stop: refused },
};

export const statuses = Object.keys(table) as Status[];

/** The status after `command`, or the unchanged status if it is refused. */
export function transition(status: Status, command: StatusCommand): Transition {
  const after = table[status][command];
  if (after === refused) return { ok: false, status };
  if (command === 'reward' || command === 'reward_stop')
    return { ok: true, status: after, already: false, counted: true };
  return { ok: true, status: after, already: after === status };
}

export function isTerminal(status: Status): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
