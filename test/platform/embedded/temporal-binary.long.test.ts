import { describe, expect, test } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { runTypeScript } from '../../support/children.js';
import { freshFolder } from './folders.js';

interface Found {
  binary?: string;
  error?: string;
  name?: string;
  said: string[];
}

const cached = 'temporal-1.5.1';
const sum = 'h1:0RZMk14BWxz44Xg6ciDQvpfAMffoG3J7/K03ql80teY=';
const saying = (version: string) => `#!/bin/sh\necho "temporal version ${version}"\n`;
const temporal = saying('1.5.1 (Server 1.29.1, UI 2.42.1)');
const noProxy = 'http://127.0.0.1:1';

/** Looks for Temporal with only these programs on PATH and only `proxy` as network. */
async function find(cacheDir: string, programs: Record<string, string> = {}, proxy = noProxy): Promise<Found> {
  const bin = join(cacheDir, '..', 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries(programs)) put(join(bin, name), script);
  const env = { PATH: bin, HOME: bin, HTTPS_PROXY: proxy };
  const child = runTypeScript<Found>(join(import.meta.dirname, 'find-temporal.ts'), [cacheDir], { env });
  const found = await child.first;
  // A process left running would keep it from ending.
  await child.ended;
  return found;
}

function put(file: string, script: string): void {
  writeFileSync(file, script, { mode: 0o755 });
}

function freshCache(): string {
  const cache = join(freshFolder(), 'cache');
  mkdirSync(cache);
  return cache;
}

/** A `go` that answers like the real one, counts its builds, and "builds" a script. */
function fakeGo(cache: string, moduleSum = sum): Record<string, string> {
  const bin = join(cache, '..', 'bin');
  mkdirSync(bin, { recursive: true });
  for (const tool of ['/usr/bin/env', '/bin/chmod', '/bin/sleep', '/bin/mkdir', '/usr/bin/seq'])
    symlinkSync(tool, join(bin, basename(tool)));
  // Compiled packages are lines of standard error.
  const install = `seq 700 >&2; echo built >> ${cache}/../builds; sleep 1; echo '#!/bin/sh\necho "temporal version built (Server 1.29.1, UI 2.42.1)"' > $GOBIN/temporal; chmod 755 $GOBIN/temporal`;
  return {
    go: `#!/bin/sh\ncase $1 in list) echo "$3";; mod) mkdir $GOMODCACHE; echo '{"Sum":"${moduleSum}"}';; install) ${install};; esac\n`,
  };
}

describe('the sources of the Temporal binary', () => {
  test('the binary on PATH comes first', async () => {
    const cache = freshCache();
    put(join(cache, cached), temporal);
    expect(await find(cache, { temporal })).toEqual({ binary: join(cache, '..', 'bin', 'temporal'), said: [] });
  });

  test('then the cached binary, without output', async () => {
    const cache = freshCache();
    put(join(cache, cached), temporal);
    expect(await find(cache)).toEqual({ binary: join(cache, cached), said: [] });
  });

  test.each(['1.30.0', '1.29.1', '1.107.2'])('a binary on PATH may have the server %s', async (server) => {
    const cache = freshCache();
    put(join(cache, cached), temporal);
    const onPath = saying(`0.0.0-DEV (Server ${server}, UI 2.42.1)`);
    expect((await find(cache, { temporal: onPath })).binary).toBe(join(cache, '..', 'bin', 'temporal'));
  });

  test.each(['1.29.0', '1.3.9', '2.0.0'])('one with the server %s is refused with a warning', async (server) => {
    const cache = freshCache();
    put(join(cache, cached), temporal);
    const { binary, said } = await find(cache, { temporal: saying(`1.5.1 (Server ${server}, UI 2.42.1)`) });
    expect(binary).toBe(join(cache, cached));
    expect(said).toEqual([expect.stringContaining(`Server ${server}`)]);
  });

  test('another version in the cache is refused', async () => {
    const cache = freshCache();
    put(join(cache, cached), saying('1.6.0 (Server 1.30.0, UI 2.42.1)'));
    const { error } = await find(cache);
    expect(error).toMatch(/the cache: .*Server 1\.30\.0/);
  });

  test('a module with another checksum is not built', async () => {
    const cache = freshCache();
    const { error } = await find(cache, fakeGo(cache, 'h1:other'));
    expect(error).toMatch(/go install: .*h1:other/);
    expect(readdirSync(cache)).not.toContain(cached);
  });

  test('another program of the same name on PATH is skipped', async () => {
    const cache = freshCache();
    put(join(cache, cached), temporal);
    expect((await find(cache, { temporal: '#!/bin/sh\necho hello\n' })).binary).toBe(join(cache, cached));
  });

  test('then Go builds it, once for concurrent requests, and leaves no partial build', async () => {
    const cache = freshCache();
    const go = fakeGo(cache);
    const both = await Promise.all([find(cache, go), find(cache, go)]);
    expect(both.map(({ binary }) => binary)).toEqual([join(cache, cached), join(cache, cached)]);
    expect(readFileSync(join(cache, '..', 'builds'), 'utf8')).toBe('built\n');
    expect(readdirSync(cache)).toEqual([cached]);
    const said = both.flatMap((run) => run.said).join('\n');
    expect(said).toMatch(/no Temporal server by the SDK's download: .+/);
    expect(said).toMatch(/building the Temporal server/);
    expect(said.match(/\d+ %/g)).toEqual(['10 %', '20 %', '30 %', '40 %']);
  });

  test('a broken binary in the cache is replaced', async () => {
    const cache = freshCache();
    put(join(cache, cached), '#!/bin/sh\nexit 3\n');
    expect((await find(cache, fakeGo(cache))).binary).toBe(join(cache, cached));
    expect(readFileSync(join(cache, cached), 'utf8')).toContain('version built');
  });

  test('without network and Go one line names every reason and the remedy', async () => {
    const { error, name, said } = await find(freshCache());
    expect(name).toBe('StartupError');
    expect(error).toMatch(
      /^There is no Temporal server .*"temporal" on PATH: .*the cache: .*download: .*go install: .*TEMPORAL_ADDRESS.*$/,
    );
    expect(said.filter((line) => line.startsWith('no Temporal server by '))).toHaveLength(4);
  });

  test('a network that never answers times out', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { error } = await find(freshCache(), {}, proxy);
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(sockets.length).toBeGreaterThan(0);
    expect(error).toMatch(/download: no answer after \d+ s/);
  });
});
