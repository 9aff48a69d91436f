import { execFile } from 'node:child_process';
import { builtinModules } from 'node:module';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { brokenLinks } from '../support/links.js';
import { serviceOfFile } from '../support/service-of-file.js';

// The package `ratchet-prompts-client` as users have it: packed, installed in an empty folder.

const on = serviceOfFile();
const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

let project: string;
/** To download. */
let bytes: number;
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'ratchet-client-'));
  const packed = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: join(root, 'client') });
  const [{ filename, size }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { filename: string; size: number },
  ];
  bytes = size;
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  const npm = ['install', '--no-audit', '--no-fund', '--cache', join(project, 'npm-cache'), join(project, filename)];
  await run('npm', npm, { cwd: project });
  writeFileSync(join(project, 'use.ts'), program);
  writeFileSync(join(project, 'use.mjs'), program.replace(/^import type .*$/m, ''));
}, 300_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const jsonOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;

test('it is small, and of the version of the service', () => {
  const modules = join(project, 'node_modules');
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
  expect(packages.sort()).toEqual(['eventsource-parser', 'ratchet-prompts-client']);
  expect(bytes).toBeLessThan(200_000);
  const [ours, service] = [join(modules, 'ratchet-prompts-client'), root].map((at) => jsonOf(join(at, 'package.json')));
  expect(ours).toMatchObject({ version: service!['version'], engines: service!['engines'], license: 'Apache-2.0' });
  expect(service!['dependencies']).toMatchObject(ours!['dependencies'] as object);
  expect(brokenLinks(join(modules, 'ratchet-prompts-client'), 'README.md')).toEqual([]);
});

const program = `
import { Ratchet } from 'ratchet-prompts-client';
import type { Event } from 'ratchet-prompts-client';
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

const containerProgram = `
import { createContainer } from 'ratchet-prompts-client/container';
const container = createContainer({
  name: 'capitals',
  tasks: [{ country: 'Peru', capital: 'Lima' }],
  initialPrompt: 'Answer with one word.',
  rollout: (task, model, { seed }) => ({ reward: task.capital.length + seed }),
});
const { url, close } = await container.listen(0);
const { status } = await fetch(url + '/health');
console.log(status);
await close();
`;

test('its container runs', async () => {
  writeFileSync(join(project, 'container.mjs'), containerProgram);
  expect((await run(process.execPath, ['container.mjs'], { cwd: project })).stdout).toBe('200\n');
});

describe.each([
  ['nodenext', 'nodenext'],
  ['bundler', 'esnext'],
])('with moduleResolution %s', (moduleResolution, module) => {
  const faults = async (sources: Record<string, string>) => {
    const options = { strict: true, exactOptionalPropertyTypes: true, target: 'es2022', noEmit: true, types: [] };
    const compilerOptions = { ...options, module, moduleResolution, lib: ['es2022', 'dom', 'dom.iterable'] };
    for (const [file, text] of Object.entries(sources)) writeFileSync(join(project, file), text);
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(sources) }));
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'];
    return await run(process.execPath, tsc, { cwd: project }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  };

  test('its types compile without zod, fastify and the types of Node; so do the examples of its README', async () => {
    const readme = readFileSync(join(project, 'node_modules/ratchet-prompts-client/README.md'), 'utf8');
    const [session, container] = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
    const examples = { 'readme-session.ts': session!, 'readme-container.ts': container! };
    expect(await faults({ 'use.ts': program, 'container.ts': containerProgram, ...examples })).toBe('');
  }, 240_000);

  test('types are not `any`: wrong fields are found', async () => {
    const found = await faults({
      'use.ts': program.replace('num_seeds', 'number_of_seeds'),
      'container.ts': containerProgram.replace('task.capital.', 'task.capitol.'),
    });
    expect(found).toMatch(/^container\.ts.*capitol/m);
    expect(found).toMatch(/^use\.ts.*number_of_seeds/m);
  }, 240_000);
});
