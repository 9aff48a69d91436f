import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from './errors.js';
import { makeFolder } from './files.js';
import { lives, markOf, type ProcessMark } from './process.js';

export interface Lock {
  release: () => void;
}

interface Holder extends ProcessMark {
  token: string;
}

/** Makes the folder and keeps it for this process, until `release`. Throws a StartupError if another living one has it. */
export function lockFolder(folder: string): Lock {
  const lock = tryLock(join(makeFolder(folder, 'RATCHET_DATA_DIR'), 'lock'));
  if ('release' in lock) return lock;
  throw new StartupError(
    `The data in ${folder} is in use by another Ratchet (process ${lock.heldBy}): stop that one, or choose another folder with RATCHET_DATA_DIR.`,
  );
}

/**
 * Takes the lock file, or answers the id of the living process that holds it. A lock whose holder no longer lives (kill -9)
 * is taken over. The file appears complete, by a hard link, so that a reader never sees half of it.
 */
export function tryLock(file: string): Lock | { heldBy: number } {
  const mark = markOf(process.pid);
  if (!mark) throw new Error('this process cannot be found in the process table');
  const mine = JSON.stringify({ ...mark, token: randomUUID() } satisfies Holder);
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (;;) {
      if (unlessCode('EEXIST', () => linkSync(draft, file))) return { release: () => release(file, mine) };
      const found = read(file);
      if (found === undefined) continue;
      const holder = parse(found);
      if (holder && lives(holder)) return { heldBy: holder.pid };
      removeStale(file, found);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

// After a power cut the file may be empty or torn; then nobody from before it lives.
function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// Two may find the same stale lock: whoever moved the other's fresh one aside by mistake puts it back.
function removeStale(file: string, stale: string): void {
  const aside = `${file}.stale.${randomUUID()}`;
  if (!unlessCode('ENOENT', () => renameSync(file, aside))) return;
  if (read(aside) !== stale) unlessCode('EEXIST', () => linkSync(aside, file));
  rmSync(aside, { force: true });
}

function release(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  let text: string | undefined;
  unlessCode('ENOENT', () => (text = readFileSync(file, 'utf8')));
  return text;
}

/** Runs `action`; false where it failed with exactly this code. */
function unlessCode(code: string, action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
