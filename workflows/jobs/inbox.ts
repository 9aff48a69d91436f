import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import {
  cancelSignal,
  candidateSignal,
  hintSignal,
  pauseSignal,
  resumeSignal,
  rewardSignal,
  type Command,
  type RewardSignal,
} from '../messages.js';
import type { PendingCommand } from './commands.js';

/** At most this many commands are decided at once, so that one record stays small. */
const maxBatch = 100;

/** The commands that signals bring, in the order sent. */
export class CommandInbox {
  /** Set by each reward signal. */
  hasRewards = false;
  private readonly pending: PendingCommand[];

  constructor(pending: readonly PendingCommand[]) {
    this.pending = [...pending];
    const receive = (kind: PendingCommand['kind']) => (command?: { commandId?: string } | null) => {
      this.pending.push({ kind, commandId: command?.commandId ?? null });
    };
    const pause = receive('pause');
    const resume = receive('resume');
    const cancel = receive('cancel');
    const reward = (signal?: RewardSignal | null) => {
      // The reward itself is in Postgres; only a stop needs a decision.
      this.hasRewards = true;
      if (signal?.stop) receive('reward_stop')(signal);
    };
    // Signals before the first workflow task arrive here in the order sent. The handlers below
    // would take all pauses first, then all resumes.
    const [candidate, hint] = [receive('candidate'), receive('hint')];
    const early = {
      [pauseSignal.name]: pause,
      [resumeSignal.name]: resume,
      [cancelSignal.name]: cancel,
      [candidateSignal.name]: candidate,
      [hintSignal.name]: hint,
    };
    setDefaultSignalHandler((name, signal) =>
      name === rewardSignal.name ? reward(signal as RewardSignal) : early[name]?.(signal as Command),
    );
    setHandler(pauseSignal, pause, { description: 'Start no new rollout; rollouts in flight finish.' });
    setHandler(resumeSignal, resume, { description: 'Continue after a pause.' });
    setHandler(cancelSignal, cancel, { description: 'End now and keep the best candidate so far.' });
    setHandler(candidateSignal, candidate, { description: 'Sent by HTTP: a prompt for the search is stored.' });
    setHandler(hintSignal, hint, { description: 'Sent by HTTP: a hint for the proposer is stored.' });
    setHandler(rewardSignal, reward, {
      description: 'A reward was reported; with {"stop": true} the job completes with its best candidate so far.',
    });
  }

  get isEmpty(): boolean {
    return this.pending.length === 0;
  }

  take(): PendingCommand[] {
    return this.pending.splice(0, maxBatch);
  }

  /** The undecided commands, for a new run. */
  undecided(): PendingCommand[] {
    return this.pending;
  }
}
