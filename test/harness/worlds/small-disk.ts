import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Room for Postgres, Temporal and their logs, in MiB. */
const sizeMib = 1_024;
const [large, small] = [Buffer.alloc(1024 * 1024), Buffer.alloc(4_096)];

/** A file system of its own, which can be full. */
export interface SmallDisk {
  /** Takes all free space; the result gives it back. */
  fill(): () => void;
  unmount(): void;
}

/** Mounts a tmpfs on a new folder, as root. */
export function mountSmallDisk(folder: string): SmallDisk {
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m,mode=755`, 'ratchet-chaos', folder]);
  const ballast = join(folder, 'ballast');
  return {
    fill() {
      const file = openSync(ballast, 'w');
      for (const part of [large, small]) while (hasRoomFor(file, part));
      closeSync(file);
      return () => rmSync(ballast);
    },
    // Lazily: a process may take a moment to end.
    unmount: () => execFileSync('umount', ['-l', folder]),
  };
}

function hasRoomFor(file: number, part: Buffer): boolean {
  try {
    return writeSync(file, part) === part.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
