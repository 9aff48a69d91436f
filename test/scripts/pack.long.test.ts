import { afterAll, expect, test } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { brokenLinks } from '../support/links.js';
import { startCommand } from '../support/servers/command.js';

// The package as a user installs it: packed, installed in an empty folder, run by npx.

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'ratchet-pack-'));
// Postgres, which never runs as root, must enter it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(cwd: string, env: Record<string, string>, command: [string, ...string[]]) {
  const { ended, out, err } = startCommand(command, cwd, env);
  const code = await ended;
  return { code, out: out(), err: err() };
}

test('npx ratchet runs from the packed tarball', async () => {
  const pack = await run(root, {}, ['npm', 'pack', '--json', '--pack-destination', folder]);
  expect({ code: pack.code, err: pack.err }).toMatchObject({ code: 0 });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  expect(statSync(join(folder, tarball)).size).toBeLessThan(3_500_000);
  const [{ files }] = JSON.parse(pack.out.slice(pack.out.indexOf('[\n'))) as [{ files: { path: string }[] }];
  const folders = new Set(files.map(({ path }) => path.replace(/^(dist\/[^/]+|[^/]+).*/, '$1')));
  expect([...folders].sort()).toEqual([
    'AGENTS.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'bin',
    'dist/activities',
    'dist/dashboard',
    'dist/examples',
    'dist/src',
    'dist/workflow-bundle.js',
    'dist/workflows',
    'docs',
    'llms.txt',
    'package.json',
  ]);

  const home = join(folder, 'project');
  mkdirSync(home);
  const env = {
    npm_config_cache: join(folder, 'npm-cache'),
    PORT: String(await firstFree()),
    RATCHET_TEMPORAL_PORT: String(await firstFree()),
    RATCHET_URL: '',
    RATCHET_API_KEY: '',
    RATCHET_DATA_DIR: '',
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
  };
  const installed = await run(home, env, ['npm', 'install', '--no-audit', '--no-fund', join(folder, tarball)]);
  expect({ code: installed.code, err: installed.err }).toMatchObject({ code: 0 });
  // The overrides of this package do not apply here: what npm chooses must run on this Node, too.
  expect(installed.err).not.toContain('EBADENGINE');

  const installedAt = join(home, 'node_modules/ratchet-prompts');
  expect(brokenLinks(installedAt, 'README.md')).toEqual([]);
  expect(brokenLinks(installedAt, 'llms.txt')).toEqual([]);

  const npx = (...args: string[]) => run(home, env, ['npx', '--no-install', 'ratchet', ...args]);
  expect(await npx('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Usage: ratchet') });
  expect(await npx('init')).toMatchObject({ code: 0 });
  const { code, out, err } = await npx('optimize', '--budget', '60');
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(out).toMatch(/^completed \(\w+\): \d+ answers/m);
  expect(out).toMatch(/held-out rows|No better prompt was found/);
  expect(readFileSync(join(home, 'best-prompt.txt'), 'utf8')).toContain('Labels:');
}, 580_000);
