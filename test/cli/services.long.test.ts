import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { readJsonFile } from '../../src/platform/embedded/files.js';
import { ownCache } from '../support/own-cache.js';
import { until } from '../support/until.js';
import { ready } from '../support/servers/tree.js';

// Services and commands of one user in several folders, each command a process of its own.

const cli = join(process.cwd(), 'dist', 'src', 'cli', 'ratchet.js');
const home = mkdtempSync(join(tmpdir(), 'ratchet-services-'));
const children: ChildProcess[] = [];
let taken: Server[];

beforeAll(async () => {
  // As root, Postgres runs as another user, who needs access to this folder.
  chmodSync(home, 0o755);
  ownCache(home);
  // The usual ports are taken, by these or by others.
  taken = await Promise.all(
    [8787, 7233].map(async (port) => {
      const server = createServer();
      server.on('error', () => undefined);
      server.listen(port, '127.0.0.1');
      await Promise.race([once(server, 'listening'), once(server, 'error')]);
      return server;
    }),
  );
});
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.kill('SIGINT')) await once(child, 'exit');
});
afterAll(() => {
  for (const server of taken) server.close();
  rmSync(home, { recursive: true, force: true });
});

function folderOf(name: string): string {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** This process's environment without settings. */
function environment() {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(RATCHET_|PORT$|TEST_|DATABASE_URL|TEMPORAL_)/.test(name)),
  );
  return { ...env, NODE_OPTIONS: '', XDG_CACHE_HOME: join(home, 'cache') };
}

/** Starts `ratchet` in a folder, without settings. */
function start(folder: string, ...args: string[]) {
  return startAs({}, folder, ...args);
}

function startAs(user: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv }, folder: string, ...args: string[]) {
  const { env, ...ids } = user;
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...ids,
  });
  children.push(child);
  return child;
}

async function run(folder: string, ...args: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const child = start(folder, ...args);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, errors };
}

/** An ordinary user, whom root can start processes as and who can read the clone. */
const other = 65534;
const canRead = () => spawnSync('test', ['-r', cli], { uid: other, gid: other }).status === 0;
const ifOther = process.getuid?.() === 0 && canRead() ? test : test.skip;

/** script(1) of util-linux gives a command a terminal. */
const ifTerminal = /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '') ? test : test.skip;

const services = () =>
  readdirSync(join(home, 'cache', 'ratchet', 'services')).filter((name) => /^\d+\.json$/.test(name));
const jobIn = (said: string) => /ses_[0-9a-f]+/.exec(said)?.[0];

/** Starts a long search. Resolves when its baseline has run; `said` is the output so far. */
async function search(folder: string) {
  const child = start(folder, 'optimize', '--budget', '500');
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  await until('the baseline has run', () => said.includes('/500 answers'), 90);
  return { child, id: jobIn(said)!, said: () => said };
}

describe('commands', () => {
  test('find the service of another folder, which takes free ports, and the one of their own first', async () => {
    const [first, second] = [folderOf('first'), folderOf('zweites für p')];
    const one = start(first, 'dev', '--no-open');
    const { url } = await ready(one);
    expect(['8787', '7233']).not.toContain(new URL(url).port);
    expect(await run(second, 'list', '--json')).toMatchObject({
      code: 0,
      out: '[]\n',
      errors: expect.stringContaining(url),
    });

    const two = start(second, 'dev', '--no-open');
    const other = await ready(two);
    expect(services()).toHaveLength(2);
    expect((await run(second, 'list')).errors).toContain(other.url);
    expect((await run(first, 'list')).errors).toContain(url);
  }, 180_000);

  ifOther(
    'start for another user, who has a temporal on PATH and no cache',
    async () => {
      const folder = folderOf('other user');
      const bin = folderOf('programs');
      const [temporal] = readdirSync(join(home, 'cache', 'ratchet')).filter((name) => name.startsWith('temporal-'));
      copyFileSync(realpathSync(join(home, 'cache', 'ratchet', temporal!)), join(bin, 'temporal'));
      chownSync(folder, other, other);
      const env = { HOME: folder, XDG_CACHE_HOME: '', PATH: `${bin}:${process.env['PATH']}` };
      const child = startAs({ uid: other, gid: other, env }, folder, 'dev', '--no-open');
      const { url } = await ready(child);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(statSync(join(folder, '.ratchet', 'postgres', 'data')).uid).toBe(other);
      expect(readdirSync(join(folder, '.cache', 'ratchet', 'services'))).toHaveLength(1);
    },
    180_000,
  );

  test('of one folder share the service that the first one starts', async () => {
    const folder = folderOf('shared');
    await run(folder, 'init');
    const both = await Promise.all(['a.txt', 'b.txt'].map((file) => run(folder, 'optimize', '--out', file)));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['a.txt', 'b.txt']));
    expect(services()).toEqual([]);
  }, 180_000);

  test('refuse data of another build in one line', async () => {
    const folder = folderOf('older');
    await run(folder, 'list');
    // Its own server, to change what it has on record.
    const dev = start(folder, 'dev', '--no-open');
    await ready(dev);
    const { settings } = readJsonFile<{ settings: { port: number; password: string } }>(
      join(folder, '.ratchet', 'postgres', 'server.json'),
    )!;
    const client = new pg.Client(`postgres://postgres:${settings.password}@127.0.0.1:${settings.port}/postgres`);
    await client.connect();
    await client.query(`update schema_migrations set sha256 = 'other'`);
    await client.end();
    dev.kill('SIGINT');
    await once(dev, 'exit');
    for (const args of [['dev', '--no-open'], ['doctor'], ['list']]) {
      const { code, errors } = await run(folder, ...args);
      const [line, ...more] = errors.split('\n').filter((each) => each.startsWith('ratchet: '));
      expect({ args, code, more }).toEqual({ args, code: 1, more: [] });
      expect(line).toContain(join(folder, '.ratchet'));
    }
  }, 180_000);
});

describe('Ctrl-C', () => {
  test.each(['beside a service', 'of the command that runs it'])(
    'cancels the job %s and keeps the best, and a second one leaves it',
    async (where) => {
      const folder = folderOf(`interrupted ${where}`);
      await run(folder, 'init');
      const dev = where === 'beside a service' ? start(folder, 'dev', '--no-open') : null;
      if (dev) await ready(dev);
      const { child, id } = await search(folder);
      child.kill('SIGINT');
      const [code] = await once(child, 'exit');
      expect(code).toBe(130);
      expect(readdirSync(folder)).toContain('best-prompt.txt');
      expect(JSON.parse((await run(folder, 'list', '--json')).out)).toMatchObject([
        { job_id: id, status: 'cancelled' },
      ]);

      const second = await search(folder);
      second.child.kill('SIGTERM');
      const [left] = await once(second.child, 'exit');
      expect([left, second.said()]).toEqual([143, expect.stringContaining(`ratchet cancel ${second.id}`)]);
    },
    240_000,
  );

  ifTerminal.each([1, 2])(
    'gives the terminal back after %i of them: the cursor is shown and lines wrap',
    async (times) => {
      const folder = folderOf(`terminal ${times}`);
      await run(folder, 'init');
      const args = ['-qefc', `'${process.execPath}' '${cli}' optimize --budget 500 --yes`, '/dev/null'];
      const child = spawn('script', args, { cwd: folder, env: environment(), stdio: ['pipe', 'pipe', 'inherit'] });
      children.push(child);
      let said = '';
      child.stdout.on('data', (chunk) => (said += String(chunk)));
      await until('the baseline has run', () => said.includes('/500 answers'), 90);
      const [hide, show, unwrap, wrap] = ['\u001b[?25l', '\u001b[?25h', '\u001b[?7l', '\u001b[?7h'] as const;
      expect(said).toContain(hide);
      child.stdin.write('\u0003');
      if (times === 2) {
        await until('the first one is told', () => said.includes('Ctrl-C again'));
        child.stdin.write('\u0003');
      }
      const [code] = await once(child, 'exit');
      expect(code).toBe(130);
      expect(said.lastIndexOf(show)).toBeGreaterThan(said.lastIndexOf(hide));
      expect(said.lastIndexOf(wrap)).toBeGreaterThan(said.lastIndexOf(unwrap));
    },
    240_000,
  );
});
