/**
 * Runs the shell blocks of pages in one shell, and compares what they print.
 *
 * - Every block marked `sh` runs, in order; `sh skip` does not run, and `sh end` runs after all.
 * - The `text` block after it is its output, stdout and stderr. Without one it prints nothing.
 * - In an output `…` matches any text, such as ids, times and omissions.
 */
import { expect } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ifItLives } from '../../src/embedded/process.js';
import { listen } from './loopback.js';

export const root = join(import.meta.dirname, '../..');

interface Fence {
  page: string;
  line: number;
  info: string;
  body: string;
}

interface Block {
  page: string;
  line: number;
  code: string;
  output: string;
}

/** The fenced blocks of a page. */
export function fencesOf(page: string): Fence[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info, 2: body }) => ({
    ...{ page, info: info!.trim(), body: body!, line: text.slice(0, index).split('\n').length },
  }));
}

/** The shell blocks of pages in the order in which they run, each with the output below it. */
export function shellBlocks(pages: readonly string[]): Block[] {
  const blocks = pages.flatMap((page) =>
    fencesOf(page).map(({ line, info, body }, at, fences) => {
      const next = fences[at + 1];
      return { info, block: { page, line, code: body, output: next?.info === 'text' ? next.body.trim() : '' } };
    }),
  );
  return ['sh', 'sh end'].flatMap((wanted) => blocks.flatMap(({ info, block }) => (info === wanted ? [block] : [])));
}

/** A free port. */
export async function freePort(): Promise<string> {
  const { url, close } = await listen(createServer());
  await close();
  return new URL(url).port;
}

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

/** The rows of the first table of a page whose first column has this name. */
export function tableOf(page: string, firstColumn: string): string[][] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const head = lines.findIndex((line) => line.startsWith('|') && cells(line)[0] === firstColumn);
  if (head === -1) throw new Error(`${page} has no table that begins with the column "${firstColumn}"`);
  const rows = lines.slice(head + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map(cells);
}
