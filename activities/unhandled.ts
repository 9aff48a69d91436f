/** Rejections that nobody awaits fail the activity that caused them, not the worker. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A fault of the service, which a retry would meet again. */
export class UnhandledRejection extends Error {}

const running = new AsyncLocalStorage<(error: unknown) => void>();

/** Runs an activity; rejects at the first unhandled rejection of its work, too. */
export function ownRejections<T>(run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => running.run(reject, () => void run().then(resolve, reject)));
}

/** For `unhandledRejection`, which Node emits where the promise was made. False: no activity's. */
export function failActivity(error: unknown): boolean {
  const fail = running.getStore();
  fail?.(new UnhandledRejection(error instanceof Error ? error.message : String(error), { cause: error }));
  return fail !== undefined;
}
