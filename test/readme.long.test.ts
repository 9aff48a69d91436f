import { afterAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ifItLives } from '../src/embedded/process.js';
import { listen } from './support/loopback.js';
import { startTree, type Tree } from './support/servers/tree.js';

// Runs the shell blocks of the README, the tutorial and the reference against the built service,
// and compares what they print.
//
// - Every block marked `sh` runs, in order, in one shell; `sh skip` does not run.
// - The `text` block after it is its output, stdout and stderr. Without one it prints nothing.
// - In an output `…` matches any text, such as ids, times and omissions.
// - Ports 8787 and 8900 become free ones.

const root = join(import.meta.dirname, '..');
const reference = [
  ...[
    'sessions',
    'candidates',
    'inference',
    'live-traffic',
    'prompts',
    'evaluations',
    'compare',
    'deployments',
    'datasets',
    'graphs',
  ],
  ...['jobs', 'events', 'containers', 'providers', 'access', 'errors-and-limits'],
];
const pages = ['README.md', 'docs/tutorial.md', ...reference.map((name) => `docs/reference/${name}.md`)];
const folder = mkdtempSync(join(tmpdir(), 'ratchet-readme-'));
const environment = { RATCHET_DATA_DIR: join(folder, '.ratchet'), OPENAI_API_KEY: '' };
let service: Tree | undefined;
let shell: ChildProcess | undefined;
afterAll(async () => {
  // The whole group, because a container started by a block outlives the shell.
  if (shell) ifItLives(() => process.kill(-shell!.pid!, 'SIGKILL'));
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A free port. */
async function freePort(): Promise<string> {
  const { url, close } = await listen(createServer());
  await close();
  return new URL(url).port;
}

interface Block {
  page: string;
  line: number;
  code: string;
  output: string;
}

/** The shell blocks of a page, each with the output printed below it. */
function shellBlocks(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fences = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info, 2: body }) => ({
    ...{ info: info!.trim(), body: body!, line: text.slice(0, index).split('\n').length },
  }));
  return fences.flatMap(({ info, body, line }, at) => {
    const next = fences[at + 1];
    const output = next?.info === 'text' ? next.body.trim() : '';
    return info === 'sh' ? [{ page, line, code: body, output }] : [];
  });
}

/** Matches the literal text, in which `…` matches any text. */
function pattern(output: string): RegExp {
  const literal = output.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[\\s\\S]*?')}$`);
}

/** Runs the blocks in one shell until one fails; returns their outputs. */
async function run(blocks: Block[], replace: (text: string) => string): Promise<string[]> {
  const script = blocks.map(({ code }) => `${replace(code)}\nprintf '\\036'\n`).join('');
  shell = spawn('bash', ['-c', `set -eo pipefail\nexec 2>&1\n${script}`], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let printed = '';
  shell.stdout!.on('data', (chunk) => (printed += String(chunk)));
  await once(shell, 'exit');
  return printed
    .replaceAll('\r', '')
    .split('\x1e')
    .map((part) => part.trim());
}

test('the shell blocks run in order with the output on the page', async () => {
  // A fresh clone: everything but the data folder.
  for (const name of readdirSync(root).filter((name) => !['.git', '.ratchet'].includes(name)))
    symlinkSync(join(root, name), join(folder, name));
  chmodSync(folder, 0o755);
  service = await startTree({ ...environment, PORT: '0', RATCHET_TEMPORAL_PORT: '0' }, { command: 'dev' });
  const [port, containerPort] = [new URL(service.url).port, await freePort()];
  const replace = (text: string) => text.replaceAll('8787', port).replaceAll('8900', containerPort);

  const blocks = pages.flatMap(shellBlocks);
  const printed = await run(blocks, replace);
  for (const [at, { page, line, output }] of blocks.entries()) {
    const where = `${page}:${line}`;
    const shown = printed[at] ?? 'nothing: a block before it failed';
    // A matching output is shown with its `…`, any other in full.
    const matches = pattern(replace(output)).test(shown);
    expect({ where, printed: matches ? output : shown }).toEqual({ where, printed: output });
  }
}, 600_000);
