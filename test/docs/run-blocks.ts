/** Runs shell blocks of pages in one shell, and compares what they print. */
import { expect } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ifItLives } from '../../src/platform/embedded/process.js';
import type { Block } from './blocks.js';

/** Matches the literal text, in which `…` matches any text. */
function pattern(output: string): RegExp {
  const literal = output.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[\\s\\S]*?')}$`);
}

interface Surroundings {
  cwd: string;
  env: Record<string, string>;
  /** Ports of the pages by those of this run. */
  ports: Record<string, string>;
  /** Scripts around the blocks, whose output is not compared. */
  before?: string;
  after?: string;
}

const shells: ChildProcess[] = [];

/** Ends what blocks started: the whole groups, because a container outlives its shell. */
export function endShells(): void {
  for (const { pid } of shells) ifItLives(() => process.kill(-pid!, 'SIGKILL'));
}

/** Runs the blocks in one shell until one fails; each must print its output. */
export async function runBlocks(
  blocks: readonly Block[],
  { cwd, env, ports, before = '', after = '' }: Surroundings,
): Promise<void> {
  const replace = (text: string) => Object.entries(ports).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const script = blocks.map(({ code }) => `${replace(code)}\nprintf '\\036'\n`).join('');
  const shell = spawn('bash', ['-c', `set -eo pipefail\n${before}exec 2>&1\n${script}${after}`], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  shells.push(shell);
  let printed = '';
  shell.stdout.on('data', (chunk) => (printed += String(chunk)));
  await once(shell, 'exit');
  const outputs = printed
    .replaceAll('\r', '')
    .split('\x1e')
    .map((part) => part.trim());
  for (const [at, { page, line, output }] of blocks.entries()) {
    const where = `${page}:${line}`;
    const shown = outputs[at] ?? 'nothing: a block before it failed';
    // A matching output is shown with its `…`, any other in full.
    const matches = pattern(replace(output)).test(shown);
    expect({ where, printed: matches ? output : shown }).toEqual({ where, printed: output });
  }
}
