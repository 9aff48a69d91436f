/** Programs in Go with a pinned version, below .ratchet. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from '@jest/globals';

const longestMs = 600_000;

/** A program, and `test` that skips without it; prints the reason if unavailable. */
export function goProgram(module: string, version: string): { program: string; test: typeof test | typeof test.skip } {
  const name = module.split('/').at(-1)!;
  const home = resolve(__dirname, '../../.ratchet/test-go', `${name}-${version}`);
  const program = join(home, name);
  if (!existsSync(program)) {
    const { status, error, stderr } = spawnSync('go', ['install', `${module}@v${version}`], {
      env: { ...process.env, GOBIN: home },
      timeout: longestMs,
      encoding: 'utf8',
    });
    if (status !== 0) {
      process.stderr.write(
        `The tests with ${name} are skipped: they need Go 1.26 or later, and once the module ${module}. ` +
          `${error?.message ?? stderr.trim()}\n`,
      );
      return { program: '', test: test.skip };
    }
  }
  return { program, test };
}
