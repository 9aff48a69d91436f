/** The files of a task: any of the user's, or those of one folder. */
import { createReadStream, type ReadStream } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { ConfigError } from '../../service/config.js';

/** Reads files; `field` names the option or the file that a path comes from, in errors. */
export interface Files {
  /** Refuses a path before anything of it is read. */
  check(path: string, field: string): Promise<void>;
  text(path: string, field: string): Promise<string>;
  /** Null: there is no such file. */
  textIfThere(path: string, field: string): Promise<string | null>;
  open(path: string, field: string): Promise<ReadStream>;
}

/** Reads the paths that `check` accepts. */
function reading(check: Files['check']): Files {
  const faultAt = (field: string, error: Error) => new ConfigError(`${field}: ${error.message}`);
  const textIfThere = async (path: string, field: string): Promise<string | null> => {
    await check(path, field);
    return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw faultAt(field, error);
    });
  };
  return {
    check,
    textIfThere,
    text: async (path, field) => {
      const text = await textIfThere(path, field);
      if (text === null) throw new ConfigError(`${field}: there is no file ${path}`);
      return text;
    },
    open: async (path, field) => {
      await check(path, field);
      const stream = createReadStream(path);
      await new Promise<void>((resolve, reject) => {
        stream.once('open', () => resolve());
        stream.once('error', (error: Error) => reject(faultAt(field, error)));
      });
      return stream;
    },
  };
}

/** What the user names on the command line. */
export const anyFiles = reading(() => Promise.resolve());

/**
 * Files of the working folder may be another's, as in the check of a pull request: no link of them
 * leads out of it. A path outside is the user's own.
 */
export const filesOfChange: Files = reading(async (path, field) => {
  const home = resolve('.');
  if (!isInside(home, resolve(path)) || isInside(await realpath(home), await realPath(resolve(path)))) return;
  throw new ConfigError(`${field} ${path}: is a link to a file outside of the working folder; copy it there`);
});

/**
 * The files of a folder without hidden ones, for paths that the user did not write. Links and `..`
 * lead to no other file; the `closed` folders inside are not read.
 */
export function filesIn(folder: string, closed: () => readonly string[]): Files {
  return reading(async (path, field) => {
    const home = await realpath(folder);
    if (home === parse(home).root)
      throw new ConfigError(
        `${field} ${path}: the working folder is ${home}, of which no file is read; start "ratchet mcp --folder FOLDER" with that of your rows and prompts`,
      );
    // First by its name: whether a file outside exists is nothing to tell.
    const given = resolve(home, path);
    for (const found of [given, await realPath(given)]) {
      if (!isInside(home, found))
        throw new ConfigError(
          `${field} ${path}: is outside of the working folder ${home}; copy it there, or start "ratchet mcp --folder FOLDER" with its folder`,
        );
      const parts = relative(home, found).split(sep);
      const shut = await Promise.all(closed().map((one) => realPath(resolve(one))));
      if (parts.some((part) => part.startsWith('.')) || shut.some((one) => isInside(one, found)))
        throw new ConfigError(`${field} ${path}: is a hidden file or one of the service's data; name another one`);
    }
  });
}

/**
 * The files that ratchet.json or a promptfoo file may name: not hidden, in its folder or the
 * working folder, also by links. The file may be another's, as in the check of a pull request.
 */
export function filesBeside(path: string, files: Files): Files {
  return reading(async (named, field) => {
    await files.check(named, field);
    const given = [dirname(path), '.'].map((one) => resolve(one));
    const own = dirname(await realPath(resolve(path)));
    const homes = [given, [...(await Promise.all(given.map(realPath))), own]];
    for (const [at, found] of [resolve(named), await realPath(resolve(named))].entries()) {
      const home = homes[at]!.find((one) => isInside(one, found));
      if (home === undefined)
        throw new ConfigError(
          `${field} names ${named}, which is outside of its folder and of the working folder; copy it there, or run the command in a folder that holds both`,
        );
      if (
        relative(home, found)
          .split(sep)
          .some((part) => part.startsWith('.'))
      )
        throw new ConfigError(`${field} names ${named}, which is hidden; copy it to another place`);
    }
  });
}

/** Where a path leads, as far as it exists. */
async function realPath(path: string): Promise<string> {
  return realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    const isAbsent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(error.code ?? '');
    if (isAbsent) return join(await realPath(dirname(path)), basename(path));
    throw error;
  });
}

/** Whether a path is the folder or below it. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
