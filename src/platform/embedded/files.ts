import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from './errors.js';

/** Creates a writable folder with its parents; throws a StartupError that names `setting`. */
export function makeFolder(folder: string, setting: string, mode = 0o777): string {
  try {
    mkdirSync(folder, { recursive: true, mode });
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

/** Replaces the file, with mode 600; a kill, a power cut or a full disk leaves one of the two. */
export function writeJsonFile(file: string, value: unknown): void {
  try {
    place(file, JSON.stringify(value, null, 2) + '\n', renameSync);
  } catch (error) {
    const why = (error as Error).message;
    throw new StartupError(`${file} cannot be written (${why}): make room there, or make the folder writable.`, {
      cause: error,
    });
  }
}

/** Creates the file, with mode 600, whole or not at all; false: it exists, and stays as it is. */
export function createFile(file: string, text: string): boolean {
  try {
    place(file, text, linkSync);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Writes a draft beside the file, makes it durable, and moves it there in one step. */
function place(file: string, text: string, move: (draft: string, file: string) => void): void {
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    move(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
