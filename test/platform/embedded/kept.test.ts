import { describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCluster } from '../../../src/platform/embedded/postgres-cluster.js';
import { serverAccount } from '../../../src/platform/embedded/account.js';
import { makeDataFolder } from '../../../src/platform/embedded/data-folder.js';
import { writeJsonFile } from '../../../src/platform/embedded/files.js';
import { keepSecret } from '../../../src/platform/embedded/kept.js';
import { keysOf } from '../../../src/service/keys.js';
import { readConfig } from '../../../src/service/config.js';
import { freshFolder } from './folders.js';
import { secret } from './secret.js';

// Invariant: a kept secret is whole or absent, and none is made beside a database of another.

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A data directory with the traces of an embedded Postgres. */
function withDatabase(): string {
  const dataDir = freshFolder();
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres', 'server.json'), '{}');
  return dataDir;
}

/** Keeps the secret in a process that may write no byte to any file, as on a full disk. */
async function keepOnFullDisk(dataDir: string): Promise<{ error?: string; name?: string }> {
  const loader = join(import.meta.dirname, '../../../scripts/ts-loader.mjs');
  const node = [process.execPath, '--import', loader, join(import.meta.dirname, 'keep-secret.ts'), dataDir];
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'ulimit -f 0; exec "$@"', 'sh', ...node]);
  return JSON.parse(stdout) as { error?: string; name?: string };
}

describe('a kept secret', () => {
  test('is made once, with mode 600 in a folder of its user alone', () => {
    const dataDir = join(freshFolder(), 'above', 'data');
    expect(keepSecret(dataDir, secret)).toEqual({ value: '12345678', created: true });
    const again = keepSecret(dataDir, { ...secret, make: () => 'abcdefgh' });
    expect(again).toEqual({ value: '12345678', created: false });
    expect(readdirSync(dataDir)).toEqual(['.gitignore', 'secret-key']);
    expect(modeOf(join(dataDir, 'secret-key'))).toBe(0o600);
    const account = serverAccount();
    for (const folder of [dataDir, join(dataDir, '..')]) {
      expect(modeOf(folder)).toBe(account ? 0o710 : 0o700);
      if (account) expect(statSync(folder).gid).toBe(account.gid);
    }
  });

  test('that another start makes meanwhile is used', () => {
    const dataDir = freshFolder();
    const make = () => {
      keepSecret(dataDir, secret);
      return 'abcdefgh';
    };
    expect(keepSecret(dataDir, { ...secret, make })).toEqual({ value: '12345678', created: false });
    expect(readdirSync(dataDir)).toEqual(['.gitignore', 'secret-key']);
  });

  test('is on the disk before it has its name, and its name before it is used', () => {
    const dataDir = freshFolder();
    makeDataFolder(dataDir);
    const steps: string[] = [];
    const { writeFileSync: write, linkSync: link } = fs;
    const spies = [
      jest.spyOn(fs, 'writeFileSync').mockImplementation((file, text, options) => {
        steps.push(`write${(options as { flush?: boolean }).flush ? ' and flush' : ''}`);
        write(file, text, options);
      }),
      jest.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
        steps.push('link');
        link(from, to);
      }),
      jest.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
        if (fs.fstatSync(file).isDirectory()) steps.push('flush the folder');
      }),
    ];
    keepSecret(dataDir, secret);
    for (const spy of spies) spy.mockRestore();
    expect(steps).toEqual(['write and flush', 'link', 'flush the folder']);
  });

  test('leaves no file on a full disk, so that the next start makes it', async () => {
    const dataDir = freshFolder();
    makeDataFolder(dataDir);
    const { error, name } = await keepOnFullDisk(dataDir);
    expect({ name, files: readdirSync(dataDir) }).toEqual({ name: 'StartupError', files: ['.gitignore'] });
    expect(error).toContain(join(dataDir, 'secret-key'));
    expect(keepSecret(dataDir, secret).created).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['a line break', '\n'],
    ['truncated', '1234'],
  ])('that is %s is named and stays, with or without a database', (_, text) => {
    for (const [dataDir, remedy] of [
      [freshFolder(), /delete it to get a new one/],
      [withDatabase(), /delete .* to begin anew/],
    ] as const) {
      const file = join(dataDir, 'secret-key');
      writeFileSync(file, text);
      const keep = () => keepSecret(dataDir, secret);
      for (const said of [file, 'RATCHET_SECRET', remedy, /^[^\n]+$/]) expect(keep).toThrow(said);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  test('that is lost is not made again beside a database', () => {
    const dataDir = withDatabase();
    expect(() => keepSecret(dataDir, secret)).toThrow(`${join(dataDir, 'secret-key')} is missing`);
    expect(readdirSync(dataDir)).toEqual(['.gitignore', 'postgres']);
  });
});

test.each(['secret-key', 'api-key'])('the %s of a data directory is checked', (name) => {
  const dataDir = freshFolder();
  const config = readConfig({ RATCHET_DATA_DIR: dataDir });
  const keys = () => keysOf(config, { serve: true, work: true });
  const { secretKey, apiKey } = keys();
  expect([secretKey.length, apiKey!.created]).toEqual([32, true]);
  const file = join(dataDir, name);
  const whole = readFileSync(file);
  for (const length of [0, 12, whole.length - 8]) {
    writeFileSync(file, whole.subarray(0, length));
    expect(keys).toThrow(file);
  }
  writeFileSync(file, whole);
  expect([keys().secretKey, keys().apiKey!.value]).toEqual([secretKey, apiKey!.value]);
});

describe('an existing data directory', () => {
  const closed = serverAccount() ? 0o710 : 0o700;

  test.each([0o777, 0o755, 0o750])('of mode %o is closed to other users', (mode) => {
    const dataDir = freshFolder();
    keepSecret(dataDir, secret);
    chmodSync(dataDir, mode);
    makeDataFolder(dataDir);
    expect(modeOf(dataDir)).toBe(closed);
    const account = serverAccount();
    if (account) expect(statSync(dataDir).gid).toBe(account.gid);
  });

  test('that is closed stays as it is', () => {
    const dataDir = freshFolder(0o700);
    writeFileSync(join(dataDir, 'thesis.txt'), '');
    makeDataFolder(dataDir);
    expect(modeOf(dataDir)).toBe(0o700);
  });

  test('that holds something else keeps its mode, and ends the start with one line', () => {
    const dataDir = freshFolder(0o755);
    writeFileSync(join(dataDir, 'thesis.txt'), '');
    for (const start of [() => makeDataFolder(dataDir), () => keepSecret(dataDir, secret)])
      for (const said of [dataDir, 'thesis.txt', 'RATCHET_DATA_DIR', /^[^\n]+$/]) expect(start).toThrow(said);
    expect([modeOf(dataDir), readdirSync(dataDir)]).toEqual([0o755, ['thesis.txt']]);
  });
});

test('a JSON file that cannot be written is named, and leaves no draft', () => {
  const folder = freshFolder();
  const file = join(folder, 'server.json');
  writeJsonFile(file, { port: 1 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ port: 1 });
  rmSync(file);
  // The move fails.
  mkdirSync(file);
  expect(() => writeJsonFile(file, { port: 2 })).toThrow(file);
  expect(readdirSync(folder)).toEqual(['server.json']);
});

test('the password of a new cluster is in no file', async () => {
  const folder = freshFolder();
  const data = join(folder, 'data');
  const initdb = join(folder, 'initdb');
  // Keeps the password that it is given, and the files beside its own folder.
  const script = `while [ $# -gt 0 ]; do case $1 in --pgdata) data=$2;; --pwfile) password=$2;; esac; shift; done
mkdir "$data" && ls "$(dirname "$data")" > "$data/beside" && cat "$password" > "$data/given"`;
  writeFileSync(initdb, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await createCluster(initdb, { data, password: 'unseen' }, serverAccount());
  expect(readFileSync(join(data, 'given'), 'utf8')).toBe('unseen');
  expect(readFileSync(join(data, 'beside'), 'utf8')).toBe('data\n');
});

describe('the data folder', () => {
  test('is left out by git', async () => {
    const project = freshFolder();
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: project });
    await git('init', '--quiet');
    keepSecret(join(project, '.ratchet'), secret);
    writeFileSync(join(project, 'rows.csv'), '');
    await git('add', '--all');
    expect((await git('diff', '--cached', '--name-only')).stdout).toBe('rows.csv\n');
  });

  test('hides nothing of a folder that holds something else', () => {
    const project = freshFolder();
    chmodSync(project, 0o700);
    writeFileSync(join(project, 'rows.csv'), '');
    makeDataFolder(project);
    expect(readdirSync(project)).toEqual(['rows.csv']);
  });
});
