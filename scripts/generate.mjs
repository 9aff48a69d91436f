// npm run generate: writes docs/openapi.json and src/client/api.ts from the routes, which git does
// not hold. Skips unchanged input.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesBelow, hashOf } from './inputs.mjs';
import { Fault, root, start } from './install.mjs';
import { withLock } from './lock.mjs';

const tool = 'scripts/openapi.mjs';
const document = 'docs/openapi.json';
const types = 'src/client/api.ts';

/** Generates unless both files are of the current sources. */
export async function generate() {
  if (isCurrent()) return;
  await withLock('generate', () => {
    if (isCurrent()) return;
    console.error('Generating the OpenAPI document and the types of the client …');
    // In a process of its own, which loads the sources.
    const { status } = spawnSync(process.execPath, [join(root, tool), document, types, hashOfInputs()], {
      cwd: root,
      stdio: ['ignore', process.stderr, 'inherit'],
    });
    if (status !== 0) throw new Fault('The OpenAPI document was not generated: see the error of the routes above.');
  });
}

/** The types are written last, and end with the hash. */
function isCurrent() {
  const areThere = [document, types].every((file) => existsSync(join(root, file)));
  return areThere && readFileSync(join(root, types), 'utf8').endsWith(`${hashOfInputs()}\n`);
}

function hashOfInputs() {
  const sources = filesBelow(['src', 'workflows']).filter((file) => file !== types);
  return hashOf(['package-lock.json', tool, ...sources]);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await start(generate);
