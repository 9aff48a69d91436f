// node scripts/run.mjs <command> [arguments]: installs, builds, and runs `ratchet` from a clone.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root, start } from './install.mjs';

await start(build);
// In this process, so that signals, exit code and terminal belong to the command.
process.setSourceMapsEnabled(true);
const command = join(root, 'dist', 'src', 'cli', 'ratchet.js');
process.argv[1] = command;
await import(pathToFileURL(command).href);
