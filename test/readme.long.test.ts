import { afterAll, test } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endShells, freePort, root, runBlocks, shellBlocks } from './support/pages.js';
import { startTree, type Tree } from './support/servers/tree.js';

// The shell blocks of the README, the tutorial and the reference, in order in one shell against the
// built service. `test/pages.long.test.ts` runs the other pages, each alone.

const reference = [
  ...[
    'sessions',
    'candidates',
    'inference',
    'live-traffic',
    'prompts',
    'evaluations',
    'compare',
    'deployments',
    'datasets',
    'graphs',
  ],
  ...['jobs', 'events', 'containers', 'providers', 'access', 'errors-and-limits'],
];
const pages = ['README.md', 'docs/tutorial.md', ...reference.map((name) => `docs/reference/${name}.md`)];
const folder = mkdtempSync(join(tmpdir(), 'ratchet-readme-'));
const environment = { RATCHET_DATA_DIR: join(folder, '.ratchet'), OPENAI_API_KEY: '' };
let service: Tree | undefined;
afterAll(async () => {
  endShells();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the shell blocks run in order with the output on the page', async () => {
  // A fresh clone: everything but the data folder.
  for (const name of readdirSync(root).filter((name) => !['.git', '.ratchet'].includes(name)))
    symlinkSync(join(root, name), join(folder, name));
  chmodSync(folder, 0o755);
  service = await startTree({ ...environment, PORT: '0', RATCHET_TEMPORAL_PORT: '0' }, { command: 'dev' });
  const ports = { 8787: new URL(service.url).port, 8900: await freePort() };
  await runBlocks(shellBlocks(pages), { cwd: folder, env: environment, ports });
}, 600_000);
