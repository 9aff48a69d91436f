// node scripts/test.mjs [--all] [arguments of jest]: installs and builds if needed, then runs
// tests.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root, start } from './install.mjs';

await start(build);
process.chdir(root);
const all = process.argv.indexOf('--all', 2);
process.env.TEST_SUITE = all < 0 ? 'quick' : 'all';
if (all >= 0) process.argv.splice(all, 1);
// For Jest's workers: a larger young generation halves the share of garbage collection.
process.execArgv.push('--max-semi-space-size=64');
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
process.argv[1] = jest;
await import(pathToFileURL(jest).href);
