import type { CommandOutcome } from '../../activities/index.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { hintGiven, paused, resumed } from '../../src/core/events/jobs.js';
import { transition, type StatusCommand } from '../../src/core/jobs/status.js';
import type { JobOutcome } from './close.js';
import type { StatusView } from '../messages.js';

/** What a person suggests to a search. */
export type SuggestionKind = 'candidate' | 'hint';

/** A received command that is not decided yet. */
export interface PendingCommand {
  kind: StatusCommand | SuggestionKind;
  /** Null: sent by an operator; nothing waits for its outcome. */
  commandId: string | null;
}

/** The job's status; `pauses` numbers the keys of its pause events. */
export interface ControlState {
  status: StatusView['status'];
  pauses: number;
}

/** The decision on commands: the next state, and the outcomes and events to record. */
export interface CommandDecision {
  next: ControlState;
  outcomes: CommandOutcome[];
  events: NewEvent[];
  /** The ids of accepted prompts, in their order. */
  prompts: string[];
  /** Set where a command ends the job; later commands are not decided. */
  jobOutcome: JobOutcome | null;
  /** The command that ends the job, answered when the job is closed. */
  accepted: string | null;
}

/** `takes`: whether the search can use a suggestion of the kind. */
export function decideCommands(
  from: ControlState,
  commands: readonly PendingCommand[],
  takes: (kind: SuggestionKind) => boolean = () => false,
): CommandDecision {
  let { status, pauses } = from;
  const outcomes: CommandOutcome[] = [];
  const events: NewEvent[] = [];
  const prompts: string[] = [];
  for (const { kind, commandId } of commands) {
    if (kind === 'candidate' || kind === 'hint') {
      if (commandId === null) continue;
      const outcome = takes(kind) ? 'accepted' : 'refused';
      if (outcome === 'accepted' && kind === 'candidate') prompts.push(commandId);
      if (outcome === 'accepted' && kind === 'hint') events.push(hintGiven(commandId));
      outcomes.push({ commandId, outcome, statusAfter: status });
      continue;
    }
    const result = transition(status, kind);
    if (result.ok && (kind === 'cancel' || kind === 'reward_stop')) {
      const jobOutcome: JobOutcome =
        kind === 'cancel'
          ? { status: 'cancelled', stoppedBy: 'cancelled' }
          : { status: 'completed', stoppedBy: 'reward_stop' };
      return { next: { status, pauses }, outcomes, events, prompts, jobOutcome, accepted: commandId };
    }
    if (result.ok && !result.already && (kind === 'pause' || kind === 'resume')) {
      status = kind === 'pause' ? 'paused' : 'running';
      if (kind === 'pause') pauses += 1;
      events.push(kind === 'pause' ? paused(pauses) : resumed(pauses));
    }
    if (commandId) outcomes.push({ commandId, outcome: result.ok ? 'accepted' : 'refused', statusAfter: status });
  }
  return { next: { status, pauses }, outcomes, events, prompts, jobOutcome: null, accepted: null };
}
