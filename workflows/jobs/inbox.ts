import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import { outside } from '../interceptors.js';
import {
  cancelSignal,
  candidateSignal,
  hintSignal,
  pauseSignal,
  resumeSignal,
  rewardSignal,
  type SignalPayload,
} from '../messages.js';
import { UnreadablePayload } from '../payload-converter.js';
import type { PendingCommand, Received } from './commands.js';
import { ownField } from './fields.js';
import { ignored, takeReserved } from './ignored-signals.js';

/** At most this many signals are decided at once, so that one record stays small. */
const maxBatch = 100;

/** What signals bring, in the order sent. Operators send any name and any payload. */
export class CommandInbox {
  /** Set by each reward signal. */
  hasRewards = false;
  private readonly pending: Received[];

  constructor(pending: readonly Received[]) {
    this.pending = [...pending];
    const handlers = new Map(
      [
        {
          signal: pauseSignal,
          receive: this.control('pause'),
          does: 'Start no new rollout; rollouts in flight finish.',
        },
        { signal: resumeSignal, receive: this.control('resume'), does: 'Continue after a pause.' },
        { signal: cancelSignal, receive: this.control('cancel'), does: 'End now and keep the best candidate so far.' },
        {
          signal: candidateSignal,
          receive: this.suggestion('candidate'),
          does: 'Sent by HTTP: a prompt for the search is stored.',
        },
        {
          signal: hintSignal,
          receive: this.suggestion('hint'),
          does: 'Sent by HTTP: a hint for the proposer is stored.',
        },
        {
          signal: rewardSignal,
          receive: (payload: SignalPayload) => this.reward(payload),
          does: 'A reward was reported; with {"stop": true} the job completes with its best candidate so far.',
        },
      ].map((handler) => [handler.signal.name, handler]),
    );
    // Signals before the first workflow task arrive here in the order sent. The handlers below
    // would take all pauses first, then all resumes.
    setDefaultSignalHandler((name, payload) => {
      const handler = handlers.get(name);
      if (handler) handler.receive(payload);
      else this.ignore(name, 'no signal of this name');
    });
    for (const { signal, receive, does } of handlers.values()) setHandler(signal, receive, { description: does });
  }

  get isEmpty(): boolean {
    return this.pending.length === 0 && outside.reservedSignals.length === 0;
  }

  take(): Received[] {
    this.takeReserved();
    return this.pending.splice(0, maxBatch);
  }

  /** The undecided signals, for a new run. */
  undecided(): Received[] {
    this.takeReserved();
    return [...this.pending];
  }

  /** A command that needs no payload, so it takes any. */
  private control(kind: PendingCommand['kind']) {
    return (payload: SignalPayload) => {
      this.pending.push({ kind, commandId: commandIdOf(payload) });
    };
  }

  /** A command that names what HTTP stored. */
  private suggestion(kind: PendingCommand['kind']) {
    return (payload: SignalPayload) => {
      const commandId = commandIdOf(payload);
      if (commandId === null) this.ignore(kind, `no commandId in ${describe(payload)}`);
      else this.pending.push({ kind, commandId });
    };
  }

  private reward(payload: SignalPayload): void {
    // The reward itself is in Postgres; only a stop needs a decision.
    this.hasRewards = true;
    const stop = ownField(payload, 'stop');
    if (stop === true) this.pending.push({ kind: 'reward_stop', commandId: commandIdOf(payload) });
    else if (payload instanceof UnreadablePayload) this.ignore('reward', describe(payload));
    else if (stop !== undefined && stop !== false) this.ignore('reward', 'stop is neither true nor false');
  }

  /** Ignores the signals whose names the SDK reserves. */
  private takeReserved(): void {
    this.pending.push(...takeReserved());
  }

  private ignore(name: string, reason: string): void {
    this.pending.push(ignored(name, reason));
  }
}

function describe(payload: SignalPayload): string {
  return payload instanceof UnreadablePayload ? `a payload of encoding ${payload.encoding}` : 'its payload';
}

/** The id of a command that HTTP sent; null: an operator sent it. */
function commandIdOf(payload: SignalPayload): string | null {
  const id = ownField(payload, 'commandId');
  return typeof id === 'string' && /^cmd_\w{1,64}$/.test(id) ? id : null;
}
