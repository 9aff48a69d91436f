import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new temporary folder whose name begins so. */
export function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  // As root, Postgres runs as another user, who needs access to it.
  chmodSync(folder, 0o755);
  return folder;
}
