import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** The user's home; null: there is none, as for a container's user without an entry in passwd. */
export function homeFolder(): string | null {
  try {
    return homedir();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return null;
    throw error;
  }
}

/** The cache below the user's home; null: this user has none there and cannot make one. */
export function homeCache(): string | null {
  const home = homeFolder();
  if (home === null) return null;
  const folder = join(home, '.cache', 'ratchet');
  return canUse(folder) ? folder : null;
}

/** Whether the folder can be read, or else made. */
function canUse(folder: string, need = constants.R_OK): boolean {
  try {
    accessSync(folder, need | constants.X_OK);
    return true;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing && folder !== dirname(folder) && canUse(dirname(folder), constants.W_OK);
  }
}
