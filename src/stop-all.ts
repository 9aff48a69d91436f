import type { Logger } from 'pino';

/** Runs all shutdown steps in order. Throws the first failure; logs the others. */
export async function stopAll(
  steps: readonly (() => Promise<void> | void)[],
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (err) {
      if (failures.push(err) > 1) log.error({ err }, 'another part of the service did not stop as it should');
    }
  }
  if (failures.length > 0) throw failures[0];
}
