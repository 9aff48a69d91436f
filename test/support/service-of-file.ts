import { afterAll, beforeAll } from '@jest/globals';
import { startTestService, type TestService } from './service.js';

/** The containers and models that a service is tested with. */
interface World {
  /** Settings under which the service knows them. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** Starts a world and the service on it before the first test of a file, and stops both after the last. */
export function serviceOfFile<W extends World>(startWorld: () => Promise<W>): { world: W; service: TestService } {
  const on = {} as { world: W; service: TestService };
  beforeAll(async () => {
    on.world = await startWorld();
    on.service = await startTestService(on.world.env);
  }, 60_000);
  afterAll(async () => {
    await on.service.stop();
    await on.world.close();
  }, 60_000);
  return on;
}
