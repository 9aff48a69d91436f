import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { startCommand, type RunningCommand } from '../support/servers/command.js';
import { killTree } from '../support/servers/tree.js';
import { until } from '../support/until.js';
import { wordsOfExperts } from '../support/words-of-experts.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

// The built command line with its embedded service, in an empty folder.

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
const budget = 300;
let folder: string;
let env: Record<string, string>;
let running: RunningCommand | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-optimize-'));
  // Postgres, which never runs as root, must enter it.
  chmodSync(folder, 0o755);
  env = {
    PORT: String(await firstFree()),
    RATCHET_TEMPORAL_PORT: String(await firstFree()),
    RATCHET_DATA_DIR: join(folder, 'data'),
    RATCHET_URL: '',
    RATCHET_API_KEY: '',
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
  };
});
afterEach(async () => {
  if (running) await killTree(running.process);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function start(...args: string[]): RunningCommand {
  return (running = startCommand([process.execPath, program, ...args], folder, env));
}

/** Runs a command to its end. */
async function ratchet(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { ended, out, err } = start(...args);
  const code = await ended;
  return { code, out: out(), err: err() };
}

/** Starts `optimize` on the sample; returns its session after the second line of progress. */
async function optimizeToTheMiddle(): Promise<string> {
  expect(await ratchet('init')).toMatchObject({ code: 0 });
  const { err } = start('optimize');
  await until('two tenths are done', () => err().split(', generation ').length > 2, 120);
  return /^Session (ses_\w+): http\S+\/#\/sessions\/\1$/m.exec(err())![1]!;
}

async function watchToVerdict(id: string): Promise<void> {
  const listed = await ratchet('list');
  expect(listed.out).toMatch(new RegExp(`^${id} +(running|completed)`, 'm'));
  const watched = await ratchet('watch', id);
  expect(watched).toMatchObject({ code: 0, out: expect.stringMatching(/on \d+ held-out rows: \d\.\d+ -> \d\.\d+/) });
  const rollouts = /^completed \(\w+\): (\d+) answers/m.exec(watched.out)![1];
  expect(Number(rollouts)).toBeLessThanOrEqual(budget);
  expect(await ratchet('results', id)).toMatchObject({ code: 0, out: expect.stringContaining('"completed"') });
}

test('kill -9 in the middle: list finds the session, and watch completes it', async () => {
  const id = await optimizeToTheMiddle();
  await killTree(running!.process);
  expect(running!.out()).toBe('');
  await watchToVerdict(id);
}, 400_000);

test('SIGTERM ends with 143 and how to go on, and the session goes on at the next start', async () => {
  const id = await optimizeToTheMiddle();
  const { process: child, ended, err } = running!;
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
  expect(err()).toContain(`ratchet watch ${id}`);
  expect(err()).not.toMatch(/^\s+at /m);
  await watchToVerdict(id);
}, 400_000);

test('finds a better prompt for the sample, and says so on held-out rows', async () => {
  expect(await ratchet('init', 'sample')).toMatchObject({ code: 0 });
  folder = join(folder, 'sample');
  const { code, out, err } = await ratchet('optimize', '--heldout', '20');
  folder = join(folder, '..');
  expect(err).toMatch(new RegExp(`^Ratchet at http://127\\.0\\.0\\.1:${env['PORT']};`, 'm'));
  expect(`${out}${err}`).not.toMatch(wordsOfExperts);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^completed \(\w+\): \d+ answers/m) });
  const [, before, after] = /^Better on 20 held-out rows: (\S+) -> (\S+) /m.exec(out)!;
  expect(Number(after)).toBeGreaterThanOrEqual(Number(before) + 0.5);
  expect(readFileSync(join(folder, 'sample/best-prompt.txt'), 'utf8')).toContain('Labels:');
}, 200_000);

test('uses a server that speaks OpenAI’s API, by OPENAI_BASE_URL and OPENAI_API_KEY', async () => {
  const world = await startRowsWorld();
  try {
    Object.assign(env, { OPENAI_BASE_URL: world.model.url, OPENAI_API_KEY: 'sk-mine' });
    writeFileSync(
      join(folder, 'rows.jsonl'),
      world
        .rows(40)
        .map((row) => JSON.stringify(row))
        .join('\n'),
    );
    writeFileSync(join(folder, 'prompt.txt'), rowsBaseline);
    const files = ['--data', 'rows.jsonl', '--input', 'question', '--expected', 'answer', '--prompt', 'prompt.txt'];
    const models = ['--model', 'openai/policy', '--proposer', 'openai/proposer'];
    const { code, out, err } = await ratchet('optimize', ...files, ...models, '--budget', String(budget));
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toMatch(/^Better on 13 held-out rows: 0\.000 -> 1\.000 /m);
    const best = readFileSync(join(folder, 'best-prompt.txt'), 'utf8');
    for (let rule = 0; rule < 4; rule += 1) expect(best).toContain(`rule-${rule}.`);
    const keys = new Set(world.model.requests.map(({ headers }) => headers.authorization));
    expect([...keys]).toEqual(['Bearer sk-mine']);
  } finally {
    await world.close();
  }
}, 200_000);

test('a failed job leaves the terminal to the command, and its log is in a file', async () => {
  const world = await startRowsWorld();
  try {
    world.model.reply(() => ({ status: 401, raw: '{"error":{"message":"no such key"}}' }));
    Object.assign(env, { OPENAI_BASE_URL: world.model.url, OPENAI_API_KEY: 'sk-mine' });
    expect(await ratchet('init')).toMatchObject({ code: 0 });
    const { code, err } = await ratchet('optimize', '--model', 'openai/policy', '--out', 'best.txt');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^ratchet: .*OPENAI_API_KEY/m) });
    expect(err).not.toMatch(/^\{|^\s+at /m);
    expect(readFileSync(join(folder, 'data/command.log'), 'utf8')).not.toBe('');
    expect(err).toContain(join(folder, 'data/command.log'));
  } finally {
    await world.close();
  }
}, 200_000);
