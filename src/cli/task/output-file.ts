/** Files that commands write. */
import { existsSync } from 'node:fs';
import { access, constants, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { ConfigError } from '../../service/config.js';

/** Throws a ConfigError for a file that could not be written. */
export async function requireWritable(path: string, option: string): Promise<void> {
  const reason = await (async () => {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (found?.isDirectory()) return 'it is a folder';
    await access(found ? path : dirname(path), constants.W_OK);
    return null;
  })().catch(reasonOf);
  if (reason !== null) throw new ConfigError(unwritable(path, option, reason));
}

/** Writes a file; returns why it could not be written, or null. */
async function tryWrite(path: string, text: string, option: string): Promise<string | null> {
  return writeFile(path, text).then(
    () => null,
    (error: unknown) => unwritable(path, option, reasonOf(error)),
  );
}

/** Writes a file; one that is there with another text first gets a free name, which is returned. */
export async function tryReplace(
  path: string,
  text: string,
  option: string,
): Promise<{ problem: string } | { earlier: string | null }> {
  let earlier: string | null = null;
  try {
    // Not a pipe or a terminal, such as /dev/stdout.
    const isFile = (await stat(path).catch(() => null))?.isFile() ?? false;
    if (isFile && (await readFile(path, 'utf8')) !== text) {
      earlier = freeName(path);
      await rename(path, earlier);
    }
  } catch (error) {
    return { problem: unwritable(path, option, reasonOf(error)) };
  }
  const problem = await tryWrite(path, text, option);
  return problem === null ? { earlier } : { problem };
}

/** `prompt.1.txt` beside `prompt.txt`, or the next number. */
function freeName(path: string): string {
  const { dir, name, ext } = parse(path);
  for (let number = 1; ; number++) {
    const free = join(dir, `${name}.${number}${ext}`);
    if (!existsSync(free)) return free;
  }
}

/** Writes a file; throws a ConfigError if it cannot be written. */
export async function writeText(path: string, text: string, option: string): Promise<void> {
  const reason = await tryWrite(path, text, option);
  if (reason !== null) throw new ConfigError(reason);
}

const reasons: Record<string, string> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** The reason of an error of the file system; throws any other error. */
export function reasonOf(error: unknown): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === undefined) throw error;
  return reasons[code ?? ''] ?? message;
}

function unwritable(path: string, option: string, reason: string): string {
  return `${option} ${path} cannot be written: ${reason}`;
}
