import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const minutes = 60_000;

/** A pinned Python package: its defaults are measured. */
export interface PythonPackage {
  name: string;
  version: string;
  /** Optional packages that it uses if installed. */
  beside?: readonly PythonPackage[];
}

/**
 * The interpreter of a Python with the package and its dependencies, made once under `folder`.
 * Rejects with one line if Python, pip or the registry is missing.
 */
export async function pythonWith(
  { name, version, beside = [] }: PythonPackage,
  folder: string,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  const home = join(folder, `${name}-${version}`);
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return python;
  const making = `${home}.new`;
  await rm(making, { recursive: true, force: true });
  await step('python3 -m venv', 'python3', ['-m', 'venv', making], env);
  const packages = [{ name, version }, ...beside].map((item) => `${item.name}==${item.version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  await step('pip install', join(making, 'bin', 'python'), pip, env);
  // Moved in one step: complete or absent. The interpreter finds packages relative to itself.
  await rename(making, home);
  return python;
}

async function step(what: string, file: string, args: string[], env?: NodeJS.ProcessEnv): Promise<void> {
  try {
    await run(file, args, { timeout: 5 * minutes, ...(env && { env }) });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    const lastLine = stderr?.trim().split('\n').at(-1);
    throw new Error(`${what}: ${lastLine || code || String(error)}`, { cause: error });
  }
}
