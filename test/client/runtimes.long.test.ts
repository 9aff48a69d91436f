import { execFile } from 'node:child_process';
import { builtinModules } from 'node:module';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceOfFile } from '../support/service-of-file.js';

// The built client as users have it: the files of the package and `eventsource-parser` beside it,
// without zod, fastify and the types of Node.

const on = serviceOfFile();
const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'ratchet-runtimes-'));
  const installed = join(project, 'node_modules/ratchet');
  mkdirSync(installed, { recursive: true });
  for (const part of ['package.json', 'dist/src/client'])
    cpSync(join(root, part), join(installed, part), { recursive: true });
  const parser = 'node_modules/eventsource-parser';
  cpSync(join(root, parser), join(project, parser), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'use.ts'), program);
  writeFileSync(join(project, 'use.mjs'), program.replace(/^import type .*$/m, '').replace(' as Line', ''));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const program = `
import { Ratchet } from 'ratchet/client';
import type { Event } from 'ratchet/client';
const client = new Ratchet();
const rows = Array.from({ length: 30 }, (_, n) => ({ input: n + ' + 1', expected: String(n + 1) }));
const job = await client.createEvaluation({
  dataset: { rows }, scorer: 'exact', policy: { provider: 'local', model: 'local' },
  candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
});
let rewards = 0;
for await (const event of job.events()) {
  if (event.type === 'eval.policy.seed.completed' && event.data.reward !== null) rewards += 1;
  if (event.type === 'eval.policy.seed.completed' && rewards === 1) break;
}
const state = await job.wait();
const archive = await job.traces();
const bytes = (await archive.blob()).size;
const failed = await client.sessions.handle('ses_unknown').get().catch((error) => error.status);
console.log(JSON.stringify({ status: state.status, seeds: state.summary.num_seeds, rewards, zip: bytes > 0, failed }));
`;
const printed = { status: 'completed', seeds: 30, rewards: 1, zip: true, failed: 404 };

/** Runs a program of an npm package; null, with the reason printed: npm does not have it. */
async function exec(packages: string[], command: string[]): Promise<string | null> {
  const npm = ['exec', '--yes', ...packages.map((name) => `--package=${name}`), '--'];
  const env = { ...process.env, NODE_OPTIONS: '', RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey };
  const options = { cwd: project, timeout: 240_000, env };
  const isThere = await run('npm', [...npm, command[0]!, '--version'], options).then(
    () => true,
    (error: { stderr: string }) => {
      process.stderr.write(`skipped: npm does not run ${packages.join(', ')}: ${error.stderr.slice(-500)}\n`);
      return false;
    },
  );
  return isThere ? (await run('npm', [...npm, ...command], options)).stdout : null;
}

describe('the built client runs', () => {
  test.each([
    ['Deno', ['deno@2.9.6'], ['deno', 'run', '--allow-net', '--allow-env', '--no-lock', 'use.ts']],
    [
      'Deno without type stripping',
      ['deno@2.9.6'],
      ['deno', 'run', '--allow-net', '--allow-env', '--no-lock', 'use.mjs'],
    ],
    ['Bun', ['bun@1.4.5'], ['bun', 'run', 'use.ts']],
  ])(
    'on %s',
    async (_, packages, command) => {
      const output = await exec(packages, command);
      if (output !== null) expect(JSON.parse(output)).toEqual(printed);
    },
    300_000,
  );

  test('on Node', async () => {
    const env = { ...process.env, NODE_OPTIONS: '', RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey };
    const { stdout } = await run(process.execPath, ['use.mjs'], { cwd: project, env });
    expect(JSON.parse(stdout)).toEqual(printed);
  });

  test('in a bundle for browsers, which imports nothing', async () => {
    const command = ['esbuild', 'use.mjs', '--bundle', '--format=esm', '--platform=browser', '--outfile=bundle.mjs'];
    if ((await exec(['esbuild@0.28.2'], command)) === null) return;
    const bundle = readFileSync(join(project, 'bundle.mjs'), 'utf8');
    const imports = [...bundle.matchAll(/\b(?:import|require)\s*\(?[^;'"]*['"]([^'"]+)['"]/g)].map(([, name]) => name!);
    expect(imports.filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual([]);
    expect(bundle.length).toBeLessThan(100_000);
    // The same bundle runs, so that it is whole.
    const env = { ...process.env, NODE_OPTIONS: '', RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey };
    const { stdout } = await run(process.execPath, ['bundle.mjs'], { cwd: project, env });
    expect(JSON.parse(stdout)).toEqual(printed);
  }, 300_000);
});

test('the types compile in a project with neither zod nor fastify nor the types of Node', async () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    noEmit: true,
  };
  const compilerOptions = { ...options, lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const check = () => run(process.execPath, [tsc, '-p', '.'], { cwd: project });
  await check();
  // Types are not `any`: a wrong field is found.
  writeFileSync(join(project, 'use.ts'), program.replace('num_seeds', 'number_of_seeds'));
  await expect(check()).rejects.toMatchObject({ stdout: expect.stringContaining('number_of_seeds') });
}, 120_000);
