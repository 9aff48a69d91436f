import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { processMark } from '../../../src/platform/embedded/process.js';
import { announceService, runningServices, unused, useService } from '../../../src/platform/embedded/running.js';
import { until } from '../../support/until.js';
import { freshFolder } from './folders.js';

const log = pino({ level: 'silent' });
const service = { url: 'http://127.0.0.1:1', apiKey: 'key', dataDir: '/data', kind: 'service' as const };

/** The file of a process other than this one. */
function put(cacheDir: string, name: string, content: object): void {
  const folder = join(cacheDir, 'services');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), JSON.stringify(content));
}

const namesIn = (cacheDir: string) => readdirSync(join(cacheDir, 'services'));

test('a service is found until it is taken back, by its user alone', () => {
  const cacheDir = freshFolder();
  expect(runningServices(cacheDir)).toEqual([]);
  const withdraw = announceService(cacheDir, service, log);
  expect(runningServices(cacheDir)).toEqual([
    { ...service, process: processMark(process.pid), since: expect.any(Number) },
  ]);
  const [name] = namesIn(cacheDir);
  expect(statSync(join(cacheDir, 'services', name!)).mode & 0o777).toBe(0o600);
  expect(statSync(join(cacheDir, 'services')).mode & 0o777).toBe(0o700);
  withdraw();
  expect([runningServices(cacheDir), namesIn(cacheDir)]).toEqual([[], []]);
});

test('several services stand side by side, the last one first; dead and torn ones go', async () => {
  const cacheDir = freshFolder();
  const child = spawn('sleep', ['60']);
  const dead = processMark(child.pid!);
  child.kill('SIGKILL');
  await once(child, 'exit');
  announceService(cacheDir, service, log);
  put(cacheDir, '2.json', { ...service, dataDir: '/other', process: processMark(process.ppid), since: 1 });
  put(cacheDir, '3.json', { ...service, process: dead, since: 2 });
  put(cacheDir, '3.user-4.json', dead!);
  writeFileSync(join(cacheDir, 'services', '5.json'), '{"url": "ht');
  // Another process is writing it.
  writeFileSync(join(cacheDir, 'services', '6.json.6.new'), '{"url": "ht');
  expect(runningServices(cacheDir).map(({ dataDir }) => dataDir)).toEqual(['/data', '/other']);
  expect(namesIn(cacheDir).sort()).toEqual(['2.json', '6.json.6.new', `${process.pid}.json`].sort());
});

test('the service of a command waits for the other commands that use it', async () => {
  const cacheDir = freshFolder();
  announceService(cacheDir, { ...service, kind: 'command' }, log);
  const told: number[] = [];
  const never = new AbortController();
  await unused(cacheDir, never.signal, (pid) => told.push(pid));
  const release = useService(cacheDir, runningServices(cacheDir)[0]!);
  let isUnused = false;
  const waiting = unused(cacheDir, never.signal, (pid) => told.push(pid)).then(() => (isUnused = true));
  await until('it tells who uses it', () => told.length === 1);
  expect([told, isUnused]).toEqual([[process.pid], false]);
  release();
  await waiting;

  useService(cacheDir, runningServices(cacheDir)[0]!);
  const ending = new AbortController();
  const ended = unused(cacheDir, ending.signal, () => ending.abort());
  await ended;
});

test('a cache that cannot be written is told, and the service goes on', () => {
  const cacheDir = join(freshFolder(), 'file');
  writeFileSync(cacheDir, '');
  const told: string[] = [];
  const telling = pino({ level: 'warn' }, { write: (line) => void told.push(line) });
  announceService(cacheDir, service, telling)();
  expect([told.length, runningServices(cacheDir)]).toEqual([1, []]);
});
