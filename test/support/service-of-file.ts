import { afterAll, beforeAll } from '@jest/globals';
import type { Roles } from '../../src/service/config.js';
import { startTestService, type TestService } from './service.js';

/** Containers and models of the tests of a file, and the service's settings for them. */
export interface WorldOfFile {
  env: Record<string, string>;
  close(): Promise<void>;
}

/** A service for all tests of a file, with an optional world. */
export function serviceOfFile<W extends WorldOfFile | undefined>(
  startWorld?: () => Promise<W>,
  roles?: Roles,
): { world: W; service: TestService } {
  const on = {} as { world: W; service: TestService };
  const started: Partial<typeof on> = on;
  beforeAll(async () => {
    if (startWorld) on.world = await startWorld();
    on.service = await startTestService(on.world?.env, roles);
  }, 90_000);
  afterAll(async () => {
    await started.service?.stop();
    await started.world?.close();
  }, 60_000);
  return on;
}
