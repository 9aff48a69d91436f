import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from './errors.js';

/** Reads a secret from the data directory (mode 600); creates it at the first start. */
export function keepSecret(dataDir: string, name: string, make: () => string): { value: string; created: boolean } {
  const file = join(dataDir, name);
  try {
    if (existsSync(file)) return { value: readFileSync(file, 'utf8').trim(), created: false };
    mkdirSync(dataDir, { recursive: true });
    const value = make();
    writeFileSync(file, `${value}\n`, { mode: 0o600, flag: 'wx' });
    return { value, created: true };
  } catch (cause) {
    throw new StartupError(
      `Cannot keep ${file} (${(cause as Error).message}): make the folder writable or set RATCHET_DATA_DIR.`,
      {
        cause,
      },
    );
  }
}
