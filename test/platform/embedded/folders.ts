import { afterAll } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A folder that every user can enter; removed after the tests of this file. */
export function freshFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-embedded-'));
  chmodSync(folder, mode);
  made.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
