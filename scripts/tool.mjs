// node scripts/tool.mjs <file.ts> [arguments]: builds the product, then runs a tool from its
// source.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root, start } from './install.mjs';

await start(build);
const tool = resolve(root, process.argv[2]);
process.argv.splice(1, 2, tool);
await import('./ts-loader.mjs');
await import(pathToFileURL(tool).href);
