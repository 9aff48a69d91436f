/** The package in python/: builds it, installs it, and runs its own tests against a service. */
import { afterAll, beforeAll, expect, test as always } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pytestOptions } from '../support/environment.js';
import { brokenLinks } from '../support/links.js';
import { pythonWithAll } from '../support/python.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { startModelWorld } from '../support/worlds/model.js';
import { answerAsked } from './model.js';

const root = resolve(__dirname, '../..');
const source = join(root, 'python');
const runMs = 20 * 60_000;

const packages = [
  'httpx==0.28.1',
  'pandas==3.1.1',
  'gepa==0.1.4',
  'dspy==3.4.1',
  'fastapi==0.165.0',
  'pytest==9.2.0',
  'nbclient==0.11.0',
  'ipykernel==7.4.0',
  'build==1.6.1',
  'hatchling==1.33.0',
  'mypy==2.4.1',
  'ruff==0.17.6',
];
const { python, describe, test } = pythonWithAll('ratchet-prompts-1', packages, '3.11');
// As small as an environment of users: httpx alone.
const small = pythonWithAll('httpx-0.28.1', ['httpx==0.28.1'], '3.9');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-python-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs Python; throws with all its output if it fails. */
async function run(file: string, args: string[], env: Record<string, string> = {}, cwd = folder): Promise<string> {
  const child = spawn(file, args, { cwd, env: { ...environment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}:\n${out}\n${errors}`);
  return out;
}

/** Without the settings of this machine. */
function environment(): Record<string, string> {
  const { PATH = '', HOME = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, HOME, LANG, PYTHONDONTWRITEBYTECODE: '1' };
}

/** Installs without a network. */
const install = (what: string, to: string) =>
  run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-index',
    '--no-deps',
    '--no-build-isolation',
    '--target',
    to,
    what,
  ]);

always('has the version of the service, and a README without links out of the package', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await readFile(join(source, 'src/ratchet_prompts/_version.py'), 'utf8')).toBe(`__version__ = "${version}"\n`);
  expect(brokenLinks(source, 'README.md')).toEqual([]);
});

describe('the distribution', () => {
  test('has a wheel and an sdist, typed and with the licence, that need httpx alone', async () => {
    await run(python, ['-m', 'build', '--no-isolation', '--outdir', join(folder, 'dist'), source]);
    const files = (await readdir(join(folder, 'dist'))).sort();
    expect(files).toEqual([expect.stringMatching(/-py3-none-any\.whl$/), expect.stringMatching(/\.tar\.gz$/)]);
    const installed = join(folder, 'wheel');
    await install(join(folder, 'dist', files[0]!), installed);
    const [packageFolder, info] = (await readdir(installed)).sort();
    expect([packageFolder, info]).toEqual([
      'ratchet_prompts',
      expect.stringMatching(/^ratchet_prompts-.*\.dist-info$/),
    ]);
    expect(await readdir(join(installed, packageFolder!))).toContain('py.typed');
    expect(await readdir(join(installed, info!, 'licenses'))).toEqual(['LICENSE']);
    expect(await readFile(join(installed, info!, 'METADATA'), 'utf8')).toMatch(/^# ratchet-prompts$/m);
    const program = 'import ratchet_prompts as ratchet; ratchet.optimize; ratchet.adapters.gepa, ratchet.adapters.dspy';
    await run(small.python, ['-c', program], { PYTHONPATH: installed });
  }, 300_000);

  test('has types and a style without faults', async () => {
    await run(python, ['-m', 'ruff', 'check', '--no-cache', '.'], {}, source);
    await run(python, ['-m', 'ruff', 'format', '--no-cache', '--check', '.'], {}, source);
    await run(python, ['-m', 'mypy', '--cache-dir', join(folder, 'mypy')], {}, source);
  }, 300_000);
});

describe('against a service', () => {
  const on = serviceOfFile(() => startModelWorld(answerAsked));

  test(
    'its own tests pass',
    async () => {
      const installed = join(folder, 'installed');
      // From the folder, so that the package knows the clone that it came from.
      await install(source, installed);
      const output = await run(
        python,
        ['-m', 'pytest', '-p', 'no:cacheprovider', ...pytestOptions],
        {
          PYTHONPATH: installed,
          RATCHET_URL: on.service.url,
          RATCHET_API_KEY: on.service.apiKey,
          RATCHET_TEST_PROVIDER: 'fake',
          RATCHET_TEST_CLONE: root,
        },
        source,
      );
      process.stderr.write(output.split('\n').slice(-12).join('\n'));
      expect(output).not.toMatch(/\d+ skipped/);
    },
    runMs,
  );
});
