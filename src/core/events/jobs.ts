/** Events of the life cycle of a job: pauses and its end. */
import type { EventData } from '../../contracts/events/schema.js';
import { candidateId } from '../jobs/ids.js';
import { jobKinds, type JobKind } from '../jobs/kinds.js';
import type { Interval } from '../math/mean-interval.js';
import type { SearchView } from '../search/protocol.js';
import type { NewEvent } from './event.js';

/** `count` numbers the pauses of the job; `commandId` null: an operator paused it. */
export function paused(count: number, commandId: string | null): NewEvent<'paused'> {
  return { key: `paused:${count}`, type: 'paused', message: 'paused', data: { command_id: commandId } };
}

/** `count` is the number of the pause that ends; `commandId` null: an operator resumed it. */
export function resumed(count: number, commandId: string | null): NewEvent<'resumed'> {
  return { key: `resumed:${count}`, type: 'resumed', message: 'resumed', data: { command_id: commandId } };
}

/** `commandId`: the command that brought the hint. */
export function hintGiven(commandId: string): NewEvent<'hint_given'> {
  const message = 'the hint for the proposer changed';
  return { key: `hint:${commandId}`, type: 'hint_given', message, data: { command_id: commandId } };
}

/** `key`: unique among the ignored signals of the job. */
export function signalIgnored(key: string, signal: string, reason: string): NewEvent<'signal_ignored'> {
  return {
    key: `signal_ignored:${key}`,
    type: 'signal_ignored',
    message: `signal ${signal} ignored: ${reason}`,
    data: { signal, reason },
  };
}

export type JobFailure = EventData<'error'>;
export type EndedAs = { status: 'completed' | 'cancelled' } | { status: 'failed'; error: JobFailure };

type SearchResults = EventData<'job_complete'>;
type EvaluationResults = EventData<'eval.policy.job.completed'>;

/** The last events of a job. `note` extends the message of a job that did not fail. */
export function endEvents(
  kind: JobKind,
  end: EndedAs,
  { note, data = {} }: { note?: string; data?: SearchResults & EvaluationResults } = {},
): NewEvent[] {
  const { terminalEvents, hasErrorEvent } = jobKinds[kind];
  if (end.status !== 'failed') {
    const message = note === undefined ? end.status : `${end.status}: ${note}`;
    return [{ key: 'end', type: terminalEvents[end.status], message, data }];
  }
  const { code, message, retryable } = end.error;
  const failed: NewEvent = {
    key: 'end',
    type: terminalEvents.failed,
    message,
    data: { ...data, error: message, code },
  };
  return hasErrorEvent
    ? [{ key: 'error', type: 'error', message, data: { code, message, retryable } }, failed]
    : [failed];
}

/** The results of a search for its last event; null: it ended before its first decision. */
export function searchResults(jobId: string, stoppedBy: string, search: SearchView | null): SearchResults {
  const bestCandidate = search?.bestCandidate ?? null;
  return {
    best_reward: search?.bestReward ?? null,
    best_reward_interval: search?.bestInterval ?? null,
    best_candidate_id: bestCandidate === null ? null : candidateId(jobId, bestCandidate),
    stopped_by: stoppedBy,
  };
}

export function evaluationResults({
  total,
  succeeded,
  failed,
  meanReward,
  interval,
}: {
  total: number;
  succeeded: number;
  failed: number;
  meanReward: number | null;
  interval: Interval | null;
}): EvaluationResults {
  const counts = { num_seeds: total, num_successful: succeeded, num_failed: failed };
  return { mean_reward: meanReward, mean_reward_interval: interval, ...counts };
}
