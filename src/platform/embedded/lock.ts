import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from './errors.js';
import { makeFolder } from './files.js';
import { lives, processMark, type ProcessMark } from './process.js';

export interface Lock {
  release: () => void;
}

interface Holder extends ProcessMark {
  token: string;
}

/** Another Ratchet holds the lock of a folder. */
export class FolderInUseError extends StartupError {
  readonly heldBy: number;

  constructor(folder: string, heldBy: number) {
    super(
      `The data in ${folder} is in use by another Ratchet (process ${heldBy}): stop that one, or choose another folder with RATCHET_DATA_DIR.`,
    );
    this.heldBy = heldBy;
  }
}

/** Locks the folder until `release`. Throws a FolderInUseError if another process holds it. */
export function lockFolder(folder: string): Lock {
  const lock = tryLock(join(makeFolder(folder, 'RATCHET_DATA_DIR'), 'lock'));
  if ('release' in lock) return lock;
  throw new FolderInUseError(folder, lock.heldBy);
}

/**
 * Takes the lock file, or returns the pid of its living holder. A stale lock gets one successor
 * file, hard-linked (complete at once) by the first process; the end of the chain is the holder.
 */
export function tryLock(file: string): Lock | { heldBy: number } {
  const mark = processMark(process.pid);
  if (!mark) throw new Error('this process cannot be found in the process table');
  const mine = JSON.stringify({ ...mark, token: randomUUID() } satisfies Holder);
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (;;) {
      const chain = chainFrom(file);
      const holder = parse(chain.last ?? '');
      if (holder && lives(holder)) return { heldBy: holder.pid };
      if (!unlessCode('EEXIST', () => linkSync(draft, chain.next))) continue;
      // The chain was cleared meanwhile, so that it no longer leads to this link: start again.
      if (chainFrom(file).last !== mine) {
        rmSync(chain.next, { force: true });
        continue;
      }
      // Move to the front before clearing, so that the chain always leads to the holder.
      if (chain.next !== file) renameSync(chain.next, file);
      for (const passed of chain.successors) rmSync(passed, { force: true });
      return { release: () => release(file, mine) };
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The chain of successors: the last file's text, the files after the lock, the next name. */
function chainFrom(file: string): { last: string | undefined; successors: string[]; next: string } {
  const successors: string[] = [];
  let last: string | undefined;
  for (let next = file; ;) {
    const text = read(next);
    if (text === undefined) return { last, successors, next };
    if (next !== file) successors.push(next);
    last = text;
    next = `${file}.after.${createHash('sha256')
      .update(next + text)
      .digest('hex')
      .slice(0, 32)}`;
  }
}

// After a power cut the file may be empty or torn; no earlier process is alive then.
function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function release(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  let text: string | undefined;
  unlessCode('ENOENT', () => (text = readFileSync(file, 'utf8')));
  return text;
}

/** Runs `action`; false if it failed with this code. */
function unlessCode(code: string, action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
