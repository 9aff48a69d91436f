/** Folders with pinned packages of npm, below .ratchet. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from '@jest/globals';

const longestMs = 600_000;

/** The folder of packages, and `test` that skips without them; prints the reason if unavailable. */
export function nodeWith(
  name: string,
  packages: readonly string[],
): { home: string; test: typeof test | typeof test.skip } {
  const home = resolve(__dirname, '../../.ratchet/test-node', name.replaceAll('/', '-'));
  if (!existsSync(home)) {
    // A folder of its own, as another process may install the same.
    const draft = `${home}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    writeFileSync(join(draft, 'package.json'), '{"type":"module"}');
    const args = ['install', '--no-audit', '--no-fund', '--save-exact', ...packages];
    const { status, error, stderr } = spawnSync('npm', args, { cwd: draft, timeout: longestMs, encoding: 'utf8' });
    if (status !== 0) {
      rmSync(draft, { recursive: true, force: true });
      process.stderr.write(
        `The tests with ${name} are skipped: they need ${packages.join(', ')} from npm. ${error?.message ?? stderr.slice(-500)}\n`,
      );
      return { home: '', test: test.skip };
    }
    if (existsSync(home)) rmSync(draft, { recursive: true, force: true });
    else renameSync(draft, home);
  }
  return { home, test };
}
