/** Python for the program of a graph's download. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from '@jest/globals';

const openaiVersion = '3.54.0';
const longestMs = 300_000;

/** A Python with the openai package, and `describe` and `test` that skip without it. */
export interface WithPython {
  python: string;
  describe: typeof describe | typeof describe.skip;
  test: typeof test | typeof test.skip;
}

/** The Python of a virtual environment below .ratchet; prints the reason if unavailable. */
export function withPython(): WithPython {
  const home = resolve(__dirname, '../../.ratchet/test-venv', `openai-${openaiVersion}`);
  if (!existsSync(home)) {
    const args = [join(__dirname, 'openai-venv.py'), home, `openai==${openaiVersion}`];
    const { status, error, stderr } = spawnSync('python3', args, { timeout: longestMs, encoding: 'utf8' });
    if (status !== 0) {
      process.stderr.write(
        'The tests of run.py are skipped: they need python3, 3.9 or later, with venv (on Debian the package python3-venv), and ' +
          `once the openai package from PyPI. ${error?.message ?? stderr.trim()}\n`,
      );
      return { python: '', describe: describe.skip, test: test.skip };
    }
  }
  return { python: join(home, 'bin', 'python'), describe, test };
}
