// node scripts/run.mjs <command> [arguments]: the `ratchet` command from a clone; installs and builds first where needed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root, start } from './install.mjs';

await start(build);
// In this same process: signals, exit code and terminal are the command's own.
process.setSourceMapsEnabled(true);
const command = join(root, 'dist', 'src', 'cli', 'ratchet.js');
process.argv[1] = command;
await import(pathToFileURL(command).href);
