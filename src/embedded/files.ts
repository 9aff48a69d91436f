import { accessSync, chmodSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { StartupError } from './errors.js';

/** Makes `folder` and its parents and sees that it can be written; throws a StartupError that names `setting`. */
export function makeFolder(folder: string, setting: string): string {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return folder;
  } catch (error) {
    const why = (error as Error).message;
    throw new StartupError(`The folder ${folder} cannot be written (${why}): choose another one with ${setting}.`, {
      cause: error,
    });
  }
}

/** The same, and every user may enter it, whatever our umask says. */
export function makeOpenFolder(folder: string, setting: string): string {
  makeFolder(folder, setting);
  chmodSync(folder, 0o755);
  return folder;
}

/** The JSON in the file, or undefined where there is none; throws a StartupError if it cannot be read. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartupError(`${file} cannot be read (${(error as Error).message}): repair or delete it.`, {
      cause: error,
    });
  }
}

/** Replaces the file in one step, readable by its owner alone. */
export function writeJson(file: string, value: unknown): void {
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
