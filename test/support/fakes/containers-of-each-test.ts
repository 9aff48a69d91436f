import { afterEach } from '@jest/globals';
import { startFakeContainer, type FakeContainer, type FakeContainerOptions } from './container.js';

/** Starts containers that are closed after the test. */
export function containersOfEachTest(): (options?: FakeContainerOptions) => Promise<FakeContainer> {
  const started: FakeContainer[] = [];
  afterEach(async () => {
    for (const container of started.splice(0)) await container.close();
  });
  return async (options) => {
    const container = await startFakeContainer(options);
    started.push(container);
    return container;
  };
}
