import { afterAll, beforeAll, test } from '@jest/globals';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shellBlocks } from './docs/blocks.js';
import { root } from './docs/pages.js';
import { firstFree } from '../src/platform/embedded/ports.js';
import { endShells, runBlocks } from './docs/run-blocks.js';
import { pythonWithAll } from './support/python.js';
import { startTree, type Tree } from './support/servers/tree.js';

// The shell blocks of pages that stand alone, each page in a folder of its own, beside one service.

const folder = mkdtempSync(join(tmpdir(), 'ratchet-pages-'));
const data = join(folder, 'data');
const small = pythonWithAll('httpx-0.28.1', ['httpx==0.28.1'], '3.9');
const pageMs = 300_000;

let service: Tree;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  const env = { RATCHET_DATA_DIR: data, OPENAI_API_KEY: '', PORT: '0', RATCHET_TEMPORAL_PORT: '0' };
  service = await startTree(env, { command: 'dev' });
}, 120_000);
afterAll(async () => {
  endShells();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A folder with `ratchet` on the PATH and the kept key of the service. */
function projectFolder(name: string): { cwd: string; env: Record<string, string> } {
  const [cwd, programs] = [join(folder, name), join(folder, `${name}-bin`)];
  for (const path of [cwd, programs, join(cwd, '.ratchet')]) mkdirSync(path);
  copyFileSync(join(data, 'api-key'), join(cwd, '.ratchet/api-key'));
  const program = join(root, 'dist/src/cli/ratchet.js');
  writeFileSync(join(programs, 'ratchet'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    PORT: new URL(service.url).port,
    RATCHET_DATA_DIR: data,
    RATCHET_URL: '',
    RATCHET_API_KEY: '',
    OPENAI_API_KEY: '',
  };
  return { cwd, env };
}

const blocksOf = (page: string) => [...shellBlocks(page), ...shellBlocks(page, 'sh end')];
const portsOf = async () => ({ 8787: new URL(service.url).port, 8900: String(await firstFree()) });

test.each(['docs/own-rows.md', 'docs/tutorial-command-line.md', 'docs/coming-from.md'])(
  '%s runs in an empty folder with the output on the page',
  async (page) => {
    const { cwd, env } = projectFolder(page.replaceAll(/\W/g, '-'));
    await runBlocks(blocksOf(page), { cwd, env, ports: await portsOf() });
  },
  pageMs,
);

small.test(
  'docs/tutorial-python.md runs in an empty folder with the output on the page',
  async () => {
    const { cwd, env } = projectFolder('python');
    const PATH = `${dirname(small.python)}:${env['PATH']}`;
    const python = { PATH, PYTHONPATH: join(root, 'python/src'), PYTHONDONTWRITEBYTECODE: '1' };
    await runBlocks(blocksOf('docs/tutorial-python.md'), {
      cwd,
      env: { ...env, ...python },
      ports: await portsOf(),
    });
  },
  pageMs,
);

test(
  'docs/tutorial.md runs twice in a clone, its end included',
  async () => {
    const { cwd, env } = projectFolder('clone');
    for (const name of readdirSync(root).filter((name) => !['.git', '.ratchet'].includes(name)))
      symlinkSync(join(root, name), join(cwd, name));
    const ports = await portsOf();
    for (let run = 0; run < 2; run++) await runBlocks(blocksOf('docs/tutorial.md'), { cwd, env, ports });
  },
  pageMs,
);
