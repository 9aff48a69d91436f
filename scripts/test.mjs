// node scripts/test.mjs [arguments of jest]: installs and builds where needed, then runs the tests.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root, start } from './install.mjs';

await start(build);
process.chdir(root);
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
process.argv[1] = jest;
await import(pathToFileURL(jest).href);
