import { accessSync, chmodSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { StartupError } from './errors.js';

/** Creates a writable folder with its parents; throws a StartupError that names `setting`. */
export function makeFolder(folder: string, setting: string): string {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return folder;
  } catch (error) {
    const why = (error as Error).message;
    throw new StartupError(`The folder ${folder} cannot be written (${why}): set ${setting} to a writable folder.`, {
      cause: error,
    });
  }
}

/** Creates a folder that every user may enter, regardless of the umask. */
export function makeOpenFolder(folder: string, setting: string): string {
  makeFolder(folder, setting);
  chmodSync(folder, 0o755);
  return folder;
}

/** The file's JSON; undefined if there is no file. Throws a StartupError if it is unreadable. */
export function readJsonFile<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartupError(`${file} cannot be read (${(error as Error).message}): repair or delete it.`, {
      cause: error,
    });
  }
}

/** Replaces the file atomically, with mode 600. */
export function writeJsonFile(file: string, value: unknown): void {
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
