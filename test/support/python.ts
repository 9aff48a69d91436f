/** Virtual environments of Python with a pinned package, below .ratchet. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from '@jest/globals';

const longestMs = 900_000;

/** A Python with a package, and `describe` and `test` that skip without it. */
export interface WithPython {
  python: string;
  describe: typeof describe | typeof describe.skip;
  test: typeof test | typeof test.skip;
}

/** The Python of run.py, the program of a graph's download. */
export const withPython = () => pythonWith('openai', '3.54.0', '3.9');

/** The Python of a virtual environment with a package; prints the reason if unavailable. */
export const pythonWith = (name: string, version: string, oldestPython: string) =>
  pythonWithAll(`${name}-${version}`, [`${name}==${version}`], oldestPython);

/** The same with several packages; another list needs another name. */
export function pythonWithAll(name: string, packages: readonly string[], oldestPython: string): WithPython {
  const home = resolve(__dirname, '../../.ratchet/test-venv', name);
  if (!existsSync(home)) {
    const args = [join(__dirname, 'venv.py'), home, ...packages];
    const { status, error, stderr } = spawnSync('python3', args, { timeout: longestMs, encoding: 'utf8' });
    if (status !== 0) {
      process.stderr.write(
        `The tests with ${name} are skipped: they need python3, ${oldestPython} or later, with venv (on Debian the ` +
          `package python3-venv), and once ${packages.join(', ')} from PyPI. ${error?.message ?? stderr.trim()}\n`,
      );
      return { python: '', describe: describe.skip, test: test.skip };
    }
  }
  return { python: join(home, 'bin', 'python'), describe, test };
}
