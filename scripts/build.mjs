// Compiles TypeScript into dist/, copies SQL and data, bundles workflows and dashboard, and copies
// the client into client/dist/. Skips unchanged input.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generate } from './generate.mjs';
import { filesBelow, hashOf } from './inputs.mjs';
import { Fault, root, start } from './install.mjs';
import { withLock } from './lock.mjs';

const folders = ['src', 'workflows', 'activities', 'examples', 'dashboard'];
const configuration = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
const dist = join(root, 'dist');
const stamp = join(dist, 'build.sha256');
const client = join(root, 'client', 'dist');

/** Builds unless dist/ is current. */
export async function build() {
  const missing = folders.find((folder) => !existsSync(join(root, folder)));
  if (missing) throw new Fault(`Build failed: the folder ${missing} is missing in ${root}.`);
  await generate();
  if (isCurrent()) return;
  await withLock('build', async () => {
    if (isCurrent()) return;
    console.error('Building …');
    const made = hashOfInputs();
    // Build beside dist/, then replace it: a failed build keeps the last one.
    const draft = join(root, 'dist.new');
    rmSync(draft, { recursive: true, force: true });
    try {
      compile(draft);
      for (const file of filesBelow(folders))
        if (!/\.tsx?$/.test(file) && !file.startsWith('dashboard')) copy(file, draft);
      rmSync(dist, { recursive: true, force: true });
      renameSync(draft, dist);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
    await bundleWorkflows();
    await bundleDashboard();
    copyClient();
    writeFileSync(stamp, made);
  });
}

function compile(outDir) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', outDir];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', process.stderr, 'inherit'] });
  if (status !== 0) throw new Fault('Build failed: see the TypeScript errors above.');
}

function copy(file, outDir) {
  mkdirSync(dirname(join(outDir, file)), { recursive: true });
  cpSync(join(root, file), join(outDir, file));
}

async function bundleWorkflows() {
  const workflowsPath = join(dist, 'workflows', 'index.js');
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [join(dist, 'workflows', 'preload.js')],
    failureConverterPath: join(dist, 'workflows', 'failure-converter.js'),
    payloadConverterPath: join(dist, 'workflows', 'payload-converter.js'),
    workflowInterceptorModules: [join(dist, 'workflows', 'ownership.js'), join(dist, 'workflows', 'interceptors.js')],
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
}

async function bundleDashboard() {
  const configFile = join(root, 'dashboard', 'vite.config.mjs');
  const { build: bundle } = await import('vite');
  await bundle({ configFile, logLevel: 'warn' });
}

/** The package `ratchet-prompts-client`: a part of dist/ with the same paths. */
function copyClient() {
  rmSync(client, { recursive: true, force: true });
  for (const part of ['client', 'container', 'util/loopback.js']) {
    cpSync(join(dist, 'src', part), join(client, part), { recursive: true });
  }
}

function isCurrent() {
  return existsSync(stamp) && existsSync(client) && readFileSync(stamp, 'utf8') === hashOfInputs();
}

function hashOfInputs() {
  return hashOf([...configuration, ...filesBelow(folders)]);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await start(build);
