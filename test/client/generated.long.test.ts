import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

test('src/client/api.ts is what the generator writes', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'ratchet-generated-'));
  try {
    for (const part of ['scripts', 'src', 'workflows', 'activities', 'package.json', 'package-lock.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    rmSync(join(copy, 'src/client/api.ts'));
    await promisify(execFile)(process.execPath, ['scripts/client-api.mjs'], { cwd: copy, timeout: 240_000 });
    const read = (folder: string) => readFileSync(join(folder, 'src/client/api.ts'), 'utf8');
    expect(read(copy)).toBe(read(root));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}, 300_000);
