import { afterAll, test } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pagesBefore, referencePages, shellBlocks, tutorial, variablesOf } from './docs/blocks.js';
import { root } from './docs/pages.js';
import { firstFree } from '../src/platform/embedded/ports.js';
import { endShells, runBlocks } from './docs/run-blocks.js';
import { startTree, type Tree } from './support/servers/tree.js';

// Runs the shell blocks of the README, the tutorial and the reference against the built service,
// page by page, and compares what they print (`docs/blocks.ts` has the rules). The shell of a page
// has the variables and functions of the tutorial and of the pages that it is listed after, and no
// others. Ports 8787 and 8900 become free ones.

const pages = ['README.md', tutorial, ...referencePages()];
const folder = mkdtempSync(join(tmpdir(), 'ratchet-readme-'));
const environment = { RATCHET_DATA_DIR: join(folder, '.ratchet'), OPENAI_API_KEY: '' };
let service: Tree | undefined;
afterAll(async () => {
  endShells();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the variables and functions of a page are kept for later pages. */
const stateOf = (page: string) => join(folder, '.ratchet', `${page.replaceAll('/', '-')}.state`);

test('the shell blocks of each page run with the output on the page', async () => {
  // A fresh clone: everything but the data folder.
  for (const name of readdirSync(root).filter((name) => !['.git', '.ratchet'].includes(name)))
    symlinkSync(join(root, name), join(folder, name));
  chmodSync(folder, 0o755);
  service = await startTree({ ...environment, PORT: '0', RATCHET_TEMPORAL_PORT: '0' }, { command: 'dev' });
  const ports = { 8787: new URL(service.url).port, 8900: String(await firstFree()) };
  for (const page of pages) {
    const before = pagesBefore(page).map((name) => `source '${stateOf(name)}'\n`);
    const kept = variablesOf(page).join(' ') || 'BASH_VERSION';
    const after = `declare -p ${kept} > '${stateOf(page)}'\ndeclare -f >> '${stateOf(page)}'`;
    await runBlocks(shellBlocks(page), { cwd: folder, env: environment, ports, before: before.join(''), after });
  }
}, 600_000);
