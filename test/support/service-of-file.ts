import { afterAll, beforeAll } from '@jest/globals';
import { startTestService, type TestService } from './service.js';

/**
 * A service for all tests of a file, with an optional world: containers, models and the service's
 * settings for them.
 */
export function serviceOfFile<W extends { env: Record<string, string>; close(): Promise<void> } | undefined>(
  startWorld?: () => Promise<W>,
): { world: W; service: TestService } {
  const on = {} as { world: W; service: TestService };
  beforeAll(async () => {
    if (startWorld) on.world = await startWorld();
    on.service = await startTestService(on.world?.env);
  }, 60_000);
  afterAll(async () => {
    await on.service.stop();
    await on.world?.close();
  }, 60_000);
  return on;
}
