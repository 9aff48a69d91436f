import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';

const signal = defineSignal('wake');

export async function changed(): Promise<void> {
  setHandler(signal, () => undefined);
  await condition(() => false);
}

export async function broken(): Promise<void> {
  throw new TypeError('a fault in workflow code');
}

export async function failed(): Promise<void> {
  throw ApplicationFailure.nonRetryable('a job that failed', 'too_many_failures');
}
