#!/usr/bin/env node
// The command `ratchet`: of the package, or of a clone, which installs and builds itself first.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [clone, program] = ['scripts/run.mjs', 'dist/src/cli/ratchet.js'].map(
  (file) => new URL(`../${file}`, import.meta.url),
);
const command = existsSync(clone) ? clone : program;
process.argv[1] = fileURLToPath(command);
await import(command.href);
