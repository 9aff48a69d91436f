import {
  ActivityFailure,
  CancellationScope,
  condition,
  log,
  setDefaultSignalHandler,
  uuid4,
} from '@temporalio/workflow';
import { signalIgnored } from '../../src/core/events/jobs.js';
import { recordIgnored } from '../activities.js';
import { outside } from '../interceptors.js';
import type { JobInput } from '../messages.js';
import type { IgnoredSignal } from './commands.js';

/** At most this many are recorded at once. */
const maxBatch = 100;

/** A signal without effect, for the log of its job. */
export function ignored(name: string, reason: string): IgnoredSignal {
  const signal = name.slice(0, 100);
  log.warn('signal ignored', { signal, reason });
  return { kind: 'ignored', key: uuid4(), signal, reason };
}

/** The signals since the last call whose names the SDK reserves. */
export function takeReserved(): IgnoredSignal[] {
  return outside.reservedSignals.splice(0).map((name) => ignored(name, 'Temporal reserves this name'));
}

/** Ignores all signals without a handler, in the log of a job that takes no commands. */
export function ignoreSignals(job: JobInput): void {
  const pending: IgnoredSignal[] = [];
  setDefaultSignalHandler((name) => void pending.push(ignored(name, 'this job takes no signal of this name')));
  const record = async () => {
    for (;;) {
      await condition(() => pending.length > 0 || outside.reservedSignals.length > 0);
      pending.push(...takeReserved());
      try {
        const events = pending.splice(0, maxBatch).map(({ key, signal, reason }) => signalIgnored(key, signal, reason));
        await recordIgnored({ ...job, events });
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        log.warn('ignored signals not recorded', { error });
      }
    }
  };
  // Ends with the workflow.
  void CancellationScope.nonCancellable(record);
}
