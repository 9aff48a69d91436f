import type { CommandOutcome, NewEvent } from '../../activities/index.js';
import { transition, type StatusCommand } from '../../src/core/jobs/status.js';
import type { JobOutcome } from './close.js';
import type { StatusView } from '../messages.js';

/** A command that has come and is not decided yet. */
export interface PendingCommand {
  kind: StatusCommand;
  /** Null: an operator's, for whom nobody waits. */
  commandId: string | null;
}

/** Where a job stands; `pauses` counts how often it was paused, by which its events have their keys. */
export interface ControlState {
  status: StatusView['status'];
  pauses: number;
}

/** What becomes of commands: outcomes and events are to be written, and `ending` is where one of them ends the job. */
export interface CommandDecision {
  standing: ControlState;
  outcomes: CommandOutcome[];
  events: NewEvent[];
  ending: JobOutcome | null;
  /** The command that ends the job; it is answered when the job is closed, and those after it are refused then. */
  accepted: string | null;
}

/** Decides commands one after another by the transition table. */
export function decideCommands(from: ControlState, commands: readonly PendingCommand[]): CommandDecision {
  let { status, pauses } = from;
  const outcomes: CommandOutcome[] = [];
  const events: NewEvent[] = [];
  for (const { kind, commandId } of commands) {
    const result = transition(status, kind);
    if (result.ok && (kind === 'cancel' || kind === 'reward_stop')) {
      const ending: JobOutcome =
        kind === 'cancel'
          ? { status: 'cancelled', stoppedBy: 'cancelled' }
          : { status: 'completed', stoppedBy: 'reward_stop' };
      return { standing: { status, pauses }, outcomes, events, ending, accepted: commandId };
    }
    if (result.ok && !result.already && (kind === 'pause' || kind === 'resume')) {
      status = kind === 'pause' ? 'paused' : 'running';
      if (kind === 'pause') pauses += 1;
      const type = kind === 'pause' ? 'paused' : 'resumed';
      events.push({ key: `${type}:${pauses}`, type, message: type, data: {} });
    }
    if (commandId) outcomes.push({ commandId, outcome: result.ok ? 'accepted' : 'refused', statusAfter: status });
  }
  return { standing: { status, pauses }, outcomes, events, ending: null, accepted: null };
}
