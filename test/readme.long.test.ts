import { afterAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ifItLives } from '../src/embedded/process.js';
import { pagesBefore, referencePages, shellBlocks, tutorial, variablesOf } from './docs/blocks.js';
import { listen } from './support/loopback.js';
import { startTree, type Tree } from './support/servers/tree.js';

// Runs the shell blocks of the README, the tutorial and the reference against the built service,
// page by page, and compares what they print (`docs/blocks.ts` has the rules). The shell of a page
// has the variables and functions of the tutorial and of the pages that it is listed after, and no
// others. Ports 8787 and 8900 become free ones.

const root = join(import.meta.dirname, '..');
const pages = ['README.md', tutorial, ...referencePages()];
const folder = mkdtempSync(join(tmpdir(), 'ratchet-readme-'));
const environment = { RATCHET_DATA_DIR: join(folder, '.ratchet'), OPENAI_API_KEY: '' };
let service: Tree | undefined;
const shells: ChildProcess[] = [];
afterAll(async () => {
  // The whole group, because a container started by a block outlives the shell.
  for (const { pid } of shells) ifItLives(() => process.kill(-pid!, 'SIGKILL'));
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A free port. */
async function freePort(): Promise<string> {
  const { url, close } = await listen(createServer());
  await close();
  return new URL(url).port;
}

/** Matches the literal text, in which `…` matches any text. */
function pattern(output: string): RegExp {
  const literal = output.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[\\s\\S]*?')}$`);
}

/** Runs the blocks of a page in one shell until one fails; returns their outputs. */
async function run(page: string, replace: (text: string) => string): Promise<string[]> {
  const before = pagesBefore(page).map((name) => `source '${stateOf(name)}'\n`);
  const blocks = shellBlocks(page).map(({ code }) => `${replace(code)}\nprintf '\\036'\n`);
  const keep = `declare -p ${variablesOf(page).join(' ') || 'BASH_VERSION'} > '${stateOf(page)}'
declare -f >> '${stateOf(page)}'`;
  const script = ['set -eo pipefail\n', ...before, 'exec 2>&1\n', ...blocks, keep].join('');
  const shell = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  shells.push(shell);
  let printed = '';
  shell.stdout.on('data', (chunk) => (printed += String(chunk)));
  await once(shell, 'exit');
  return printed
    .replaceAll('\r', '')
    .split('\x1e')
    .map((part) => part.trim());
}

/** Where the variables and functions of a page are kept for later pages. */
const stateOf = (page: string) => join(folder, '.ratchet', `${page.replaceAll('/', '-')}.state`);

test('the shell blocks of each page run with the output on the page', async () => {
  // A fresh clone: everything but the data folder.
  for (const name of readdirSync(root).filter((name) => !['.git', '.ratchet'].includes(name)))
    symlinkSync(join(root, name), join(folder, name));
  chmodSync(folder, 0o755);
  service = await startTree({ ...environment, PORT: '0', RATCHET_TEMPORAL_PORT: '0' }, { command: 'dev' });
  const [port, containerPort] = [new URL(service.url).port, await freePort()];
  const replace = (text: string) => text.replaceAll('8787', port).replaceAll('8900', containerPort);

  for (const name of pages) {
    const printed = await run(name, replace);
    for (const [at, { page, line, output }] of shellBlocks(name).entries()) {
      const where = `${page}:${line}`;
      const shown = printed[at] ?? 'nothing: a block before it failed';
      // A matching output is shown with its `…`, any other in full.
      const matches = pattern(replace(output)).test(shown);
      expect({ where, printed: matches ? output : shown }).toEqual({ where, printed: output });
    }
  }
}, 600_000);
