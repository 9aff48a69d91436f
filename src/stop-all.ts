import type { Logger } from 'pino';

/**
 * Runs steps that stop something one after another, each also when one before it failed: what follows would stay behind. Throws the
 * first failure once all have run; further ones are logged.
 */
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
