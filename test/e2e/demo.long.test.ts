import { afterAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '../support/until.js';

// `npm run demo`, complete and interrupted: no process of it remains.

const root = join(import.meta.dirname, '../..');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function demo(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-demo-'));
  chmodSync(folder, 0o755);
  folders.push(folder);
  const child = spawn(process.execPath, ['scripts/run.mjs', 'demo', ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', RATCHET_DATA_DIR: folder, OPENAI_API_KEY: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += String(chunk)));
  child.stderr.on('data', (chunk) => (shown += String(chunk)));
  const errors = text(child.stderr);
  const ended = once(child, 'exit').then(async ([code]) => ({
    code: code as number,
    output: shown,
    errors: await errors,
  }));
  return { child, folder, ended, shown: () => shown };
}

/** Processes that name the folder in their command line: the embedded servers. */
function leftOver(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder) ? [pid] : [];
      } catch {
        return [];
      }
    });
}

test('ends with the diff, both rewards and the next steps', async () => {
  const { ended, folder } = demo();
  const { code, output, errors } = await ended;
  expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' });
  const [, before, after] = /Mean reward on unseen tasks: baseline ([\d.]+), winner ([\d.]+)/.exec(output)!;
  expect(Number(after) - Number(before)).toBeGreaterThan(0.3);
  expect(output).toMatch(/^--- baseline$/m);
  expect(output).toMatch(/^\+\S/m);
  expect(output).toContain('ratchet init && ratchet optimize');
  expect(leftOver(folder)).toEqual([]);
}, 180_000);

test('stops its processes on Ctrl-C', async () => {
  const { child, ended, folder, shown } = demo();
  await until('the session runs', () => shown().includes('generation 0:'));
  child.kill('SIGINT');
  const { code, errors } = await ended;
  expect(code).toBe(130);
  expect(errors).not.toMatch(/fetch failed/);
  const left = leftOver(folder);
  expect({ left, errors: left.length === 0 ? '' : errors }).toEqual({ left: [], errors: '' });
}, 120_000);

test('reports a provider without a key in one line before starting anything', async () => {
  const { ended, folder } = demo('--provider', 'openai', '--model', 'gpt-4o-mini');
  const { code, errors } = await ended;
  expect(code).toBe(2);
  // The first line is the build message if a build was necessary.
  expect(errors.replace(/^Building …\n/, '').trim()).toMatch(/^ratchet: .*OPENAI_API_KEY.*$/);
  expect(readdirSync(folder)).toEqual([]);
}, 60_000);
