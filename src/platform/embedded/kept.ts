import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsDatabase, makeDataFolder } from './data-folder.js';
import { StartupError } from './errors.js';
import { createFile } from './files.js';

/** A secret of the data directory. */
export interface KeptSecret {
  /** Its file. */
  name: string;
  /** The setting that takes its place. */
  setting: string;
  /** Its form, for messages: "32 bytes in base64". */
  form: string;
  isWhole(text: string): boolean;
  make(): string;
}

/** Reads a secret from the data directory (mode 600); creates it before the first database. */
export function keepSecret(dataDir: string, secret: KeptSecret): { value: string; created: boolean } {
  makeDataFolder(dataDir);
  const file = join(dataDir, secret.name);
  const found = readSecret(dataDir, secret);
  if (found !== null) return { value: found, created: false };
  if (holdsDatabase(dataDir)) {
    throw new StartupError(
      `${file} is missing, but ${dataDir} holds a database that was made with it: restore the file, set ${secret.setting} to its value, or delete ${dataDir} to begin anew.`,
    );
  }
  const value = secret.make();
  try {
    if (createFile(file, `${value}\n`)) return { value, created: true };
  } catch (cause) {
    throw new StartupError(
      `${file} cannot be written (${(cause as Error).message}): make room there, make the folder writable, or set RATCHET_DATA_DIR.`,
      { cause },
    );
  }
  // Another start was faster.
  return keepSecret(dataDir, secret);
}

/** A kept secret; null: none. Throws a StartupError if the file does not hold all of it. */
export function readSecret(dataDir: string, { name, setting, form, isWhole }: KeptSecret): string | null {
  const file = join(dataDir, name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartupError(
      `${file} cannot be read (${(cause as Error).message}): make it readable, or set RATCHET_DATA_DIR.`,
      { cause },
    );
  }
  if (isWhole(text)) return text;
  const otherwise = holdsDatabase(dataDir) ? `delete ${dataDir} to begin anew` : 'delete it to get a new one';
  throw new StartupError(
    `${file} is ${text === '' ? 'empty' : 'damaged'}; it must hold ${form}: restore it, set ${setting} to its value, or ${otherwise}.`,
  );
}
