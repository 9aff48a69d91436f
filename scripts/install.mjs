// Installs node_modules from package-lock.json. Plain Node: runs before any package is installed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const oldestNode = [20, 19];

/** An error that the user sees as one line. */
export class Fault extends Error {}

/**
 * Checks the Node version, installs packages, runs the steps. A Fault is one line and exit code 1.
 */
export async function start(...steps) {
  try {
    const [major, minor] = process.versions.node.split('.').map(Number);
    if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
      throw new Fault(`Ratchet needs Node ${oldestNode.join('.')} or later; this is ${process.versions.node}.`);
    }
    for (const step of [install, ...steps]) await step();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

/** Runs `npm ci` unless node_modules matches package-lock.json. */
async function install() {
  if (installed()) return;
  await withLock('install', () => {
    if (installed()) return;
    console.error('Installing packages, once for each version (npm ci) …');
    const npm = process.env.npm_execpath;
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    const [file, all] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args];
    const { status, error } = spawnSync(file, all, { cwd: root, stdio: ['ignore', process.stderr, 'inherit'] });
    if (status !== 0)
      throw new Fault(`The packages could not be installed: npm ci ended with ${error?.message ?? status}.`);
  });
}

// npm writes node_modules/.package-lock.json last.
function installed() {
  const wanted = packagesOf('package-lock.json');
  const there = packagesOf(join('node_modules', '.package-lock.json'));
  if (!there) return false;
  const same = (a, b) => a?.version === b?.version && a?.integrity === b?.integrity;
  return (
    Object.entries(wanted).every(([name, entry]) => same(there[name], entry) || (!there[name] && entry.optional)) &&
    Object.keys(there).every((name) => wanted[name])
  );
}

function packagesOf(file) {
  try {
    const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8'));
    // The unnamed entry is the project itself.
    delete packages[''];
    return packages;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
