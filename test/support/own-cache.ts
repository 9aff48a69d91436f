import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * A cache for XDG_CACHE_HOME with the Temporal program and without the services of this user, which
 * commands would find.
 */
export function ownCache(folder: string): string {
  const cache = join(folder, 'cache');
  const kept = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ratchet');
  mkdirSync(join(cache, 'ratchet'), { recursive: true });
  for (const name of readdirSync(kept).filter((each) => /^temporal-[\d.]+$/.test(each)))
    if (!existsSync(join(cache, 'ratchet', name))) symlinkSync(join(kept, name), join(cache, 'ratchet', name));
  return cache;
}
