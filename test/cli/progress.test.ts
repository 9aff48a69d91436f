import { afterEach, expect, jest, test } from '@jest/globals';
import { Ratchet } from '../../src/client/index.js';
import { followSession } from '../../src/cli/commands/progress.js';

const { isTTY } = process.stderr;
afterEach(() => {
  process.stderr.isTTY = isTTY;
  jest.restoreAllMocks();
});

const state = {
  progress: {
    max_rollouts: 10,
    rollouts_completed: 3,
    generation: 0,
    phase: { name: 'baseline', done: 3, total: 4, mean_reward: 0.5 },
  },
  best_reward: 0.5,
  estimated_reward: 0.55,
  estimated_reward_interval: { low: 0.4, high: 0.7 },
  usage: { total_cost_usd: 0.0123 },
};
/** A session with these events, which ends. */
function sessionOf(job: object, events: readonly object[]) {
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const fetch = (url: string, { headers }: RequestInit) => {
    if (!url.endsWith('/events')) return Promise.resolve(Response.json(job));
    const isRead = Number(new Headers(headers).get('last-event-id')) >= events.length;
    return Promise.resolve(isRead ? new Response(null, { status: 204 }) : new Response(stream));
  };
  return new Ratchet({ url: 'http://x', fetch }).sessions.handle('ses_1');
}

/** Follows a session as on a terminal; returns what it wrote. */
async function onTerminal(session: ReturnType<typeof sessionOf>): Promise<string> {
  process.stderr.isTTY = true;
  let written = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((written += String(text)), true));
  await followSession(session).catch((error: Error) => (written += error.message));
  return written;
}

const showCursor = '\x1B[?25h';

test('the bar shows rollouts, reward with its interval, and cost, and ends', async () => {
  const written = await onTerminal(sessionOf(state, []));
  expect(written).toContain(
    '3/10 answers | baseline 3 of 4, mean so far 0.500 | estimate 0.550 (unseen rows: 0.400 to 0.700), best reward 0.500, $0.0123',
  );
  expect(written).toContain(showCursor);
});

test('the bar ends when the service goes away', async () => {
  const session = sessionOf(state, []);
  jest.spyOn(session, 'events').mockImplementation(() => {
    throw new Error('gone');
  });
  const written = await onTerminal(session);
  expect(written).toMatch(/gone$/);
  expect(written).toContain(showCursor);
});

/** What follows a session of 40 generations and 390 answers, without a terminal. */
async function linesOf(max: number | null, from?: number): Promise<string[]> {
  process.stderr.isTTY = false;
  const progress = { total_generations: 40, rollouts_completed: 3, generation: 0, phase: null };
  const lines: string[] = [];
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const generations = Array.from({ length: 40 }, (_, generation) => ({
    type: 'generation_complete',
    seq: generation + 1,
    data: { ...state, generation, rollouts_completed: 10 * generation, cost_usd: 0 },
  }));
  await followSession(sessionOf({ ...state, progress: { ...progress, max_rollouts: max } }, generations), from);
  return lines;
}

test.each([[400], [null]])('without a terminal a search with a budget of %p rollouts gets ten lines', async (max) => {
  const lines = await linesOf(max);
  expect(lines).toHaveLength(10);
  expect(lines[0]).toMatch(/: estimate 0\.550 .* best reward 0\.500/);
});

test('what came before an extension is not said again', async () => {
  expect((await linesOf(400, 200)).map((line) => /(\d+)\/400 answers/.exec(line)?.[1])).toEqual([
    '210',
    '240',
    '280',
    '320',
    '360',
  ]);
});
