import type { CommandOutcome, ControlState } from '../../activities/index.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { hintGiven, paused, resumed, signalIgnored } from '../../src/core/events/jobs.js';
import { transition, type StatusCommand } from '../../src/core/jobs/status.js';
import type { JobEnd } from '../../src/core/jobs/outcome.js';
import type { SuggestionKind } from '../../src/core/jobs/progress.js';

/** A received command that is not decided yet. */
export interface PendingCommand {
  kind: StatusCommand | SuggestionKind;
  /** Null: sent by an operator; nothing waits for its outcome. */
  commandId: string | null;
}

/** A received signal without effect. `key`: unique in the job. */
export interface IgnoredSignal {
  kind: 'ignored';
  key: string;
  signal: string;
  reason: string;
}

export type Received = PendingCommand | IgnoredSignal;

/** The decision on commands: the next state, and the outcomes and events to record. */
export interface CommandDecision {
  next: ControlState;
  outcomes: CommandOutcome[];
  events: NewEvent[];
  /** Whether a prompt was accepted. */
  hasPrompt: boolean;
  /** Set where a command ends the job; later commands are not decided. */
  end: JobEnd | null;
  /** The command that ends the job, answered when the job is closed. */
  accepted: string | null;
}

/** `takes`: the suggestions that the search can use. */
export function decideCommands(
  from: ControlState,
  received: readonly Received[],
  takes: readonly SuggestionKind[] = [],
): CommandDecision {
  let { status, pauses } = from;
  const outcomes: CommandOutcome[] = [];
  const events: NewEvent[] = [];
  let hasPrompt = false;
  for (const one of received) {
    if (one.kind === 'ignored') {
      events.push(signalIgnored(one.key, one.signal, one.reason));
      continue;
    }
    const { kind, commandId } = one;
    if (kind === 'candidate' || kind === 'hint') {
      if (commandId === null) continue;
      const outcome = takes.includes(kind) ? 'accepted' : 'refused';
      if (outcome === 'accepted' && kind === 'candidate') hasPrompt = true;
      if (outcome === 'accepted' && kind === 'hint') events.push(hintGiven(commandId));
      outcomes.push({ commandId, outcome, statusAfter: status });
      continue;
    }
    const result = transition(status, kind);
    if (result.ok && (kind === 'cancel' || kind === 'reward_stop')) {
      const end: JobEnd = kind === 'cancel' ? { kind: 'cancelled' } : { kind: 'completed', stoppedBy: 'reward_stop' };
      return { next: { status, pauses }, outcomes, events, hasPrompt, end, accepted: commandId };
    }
    if (result.ok && !result.already && (kind === 'pause' || kind === 'resume')) {
      status = kind === 'pause' ? 'paused' : 'running';
      if (kind === 'pause') pauses += 1;
      events.push(kind === 'pause' ? paused(pauses, commandId) : resumed(pauses, commandId));
    }
    if (commandId) outcomes.push({ commandId, outcome: result.ok ? 'accepted' : 'refused', statusAfter: status });
  }
  return { next: { status, pauses }, outcomes, events, hasPrompt, end: null, accepted: null };
}
