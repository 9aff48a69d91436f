import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs pinned packages into `home` once; the product does not depend on them. Rejects with
 * npm's reason if there is no registry.
 */
export async function installOnce(home: string, pinned: Record<string, string>): Promise<void> {
  if (existsSync(home)) return;
  const making = `${home}.new`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await writeFile(`${making}/package.json`, JSON.stringify({ private: true, dependencies: pinned }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: making, timeout: 300_000 });
  // Moved in one step: complete or absent.
  await rename(making, home);
}
