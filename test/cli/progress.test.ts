import { afterEach, expect, jest, test } from '@jest/globals';
import type { Api } from '../../src/cli/service/api.js';
import { followSession } from '../../src/cli/commands/progress.js';

const { isTTY } = process.stderr;
afterEach(() => {
  process.stderr.isTTY = isTTY;
  jest.restoreAllMocks();
});

const state = {
  progress: { max_rollouts: 10, rollouts_completed: 3 },
  ...{ best_reward: 0.5, estimated_reward: 0.55, estimated_reward_interval: { low: 0.4, high: 0.7 } },
  usage: { total_cost_usd: 0.0123 },
};
const fakeApi = (follow: () => AsyncGenerator) => ({ call: async () => state, follow }) as unknown as Api;

/** Follows a session as on a terminal; returns what it wrote. */
async function onTerminal(api: Api): Promise<string> {
  process.stderr.isTTY = true;
  let written = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((written += String(text)), true));
  await followSession(api, 'ses_1').catch((error: Error) => (written += error.message));
  return written;
}

const showCursor = '\x1B[?25h';

test('the bar shows rollouts, reward with its interval, and cost, and ends', async () => {
  const written = await onTerminal(fakeApi(async function* () {}));
  expect(written).toContain('3/10 rollouts | best reward 0.500, estimate 0.550 (0.400 to 0.700), $0.0123');
  expect(written).toContain(showCursor);
});

test('the bar ends when the service goes away', async () => {
  const api = fakeApi(async function* () {
    yield* [];
    throw new Error('gone');
  });
  const written = await onTerminal(api);
  expect(written).toMatch(/gone$/);
  expect(written).toContain(showCursor);
});
