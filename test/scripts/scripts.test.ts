import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const packageJson = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
  [key in 'name' | 'version' | 'bin']: unknown;
};
const otherFolders = ['workflows', 'activities', 'examples', 'dashboard'];
const made: string[] = [];
let project: string;

/** A project with our scripts, an npm that only counts, and build tools that only copy or write. */
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'ratchet-scripts-'));
  made.push(project);
  cpSync(join(import.meta.dirname, '..', '..', 'scripts'), join(project, 'scripts'), { recursive: true });
  cpSync(join(import.meta.dirname, '..', '..', 'bin'), join(project, 'bin'), { recursive: true });
  const { name, version, bin } = packageJson;
  write('package.json', JSON.stringify({ name, version, bin, type: 'module' }));
  write('tsconfig.json', '{}');
  write('tsconfig.build.json', '{}');
  lockfile('1.0.0');
  write('npm.js', fakeNpm);
  write('scripts/openapi.mjs', fakeGenerator);
  write('src/cli/ratchet.ts', 'console.log(JSON.stringify(process.argv.slice(2)));');
  write('src/platform/db/migrations/0001.sql', 'select 1;');
  for (const file of ['client/index', 'container/index', 'util/loopback']) write(`src/${file}.ts`, '');
  for (const folder of otherFolders) write(`${folder}/a.txt`, '');
});

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

const fakeNpm = `
  import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
  appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
  if (existsSync('npm-fails')) process.exit(7);
  mkdirSync('node_modules/typescript/bin', { recursive: true });
  writeFileSync('node_modules/typescript/bin/tsc', ${JSON.stringify(`
    const { appendFileSync, cpSync, existsSync, readdirSync, renameSync } = require('node:fs');
    appendFileSync('tsc.log', 'compiled\\n');
    if (existsSync('tsc-fails')) process.exit(2);
    const out = process.argv[process.argv.indexOf('--outDir') + 1];
    cpSync('src', out + '/src', { recursive: true, filter: (path) => !path.endsWith('.sql') });
    for (const file of readdirSync(out, { recursive: true })) {
      if (file.endsWith('.ts')) renameSync(out + '/' + file, out + '/' + file.replace(/ts$/, 'js'));
    }
  `)});
  writeFileSync('node_modules/typescript/package.json', '{}');
  const tool = (name, code) => {
    mkdirSync('node_modules/' + name, { recursive: true });
    writeFileSync('node_modules/' + name + '/package.json', '{"type":"module","exports":"./index.js"}');
    writeFileSync('node_modules/' + name + '/index.js', code);
  };
  tool('@temporalio/worker', 'export class DefaultLogger {} export const bundleWorkflowCode = () => ({ code: "bundled" });');
  tool('vite', 'import { mkdirSync } from "node:fs"; export const build = () => mkdirSync("dist/dashboard", { recursive: true });');
  cpSync('package-lock.json', 'node_modules/.package-lock.json');
`;

const fakeGenerator = `
  import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
  appendFileSync('generate.log', 'generated\\n');
  if (existsSync('generate-fails')) throw new Error('no route');
  const [document, types, hash] = process.argv.slice(2);
  mkdirSync('docs', { recursive: true });
  writeFileSync(document, '{}');
  writeFileSync(types, '// ' + hash + '\\n');
`;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text);
}

function lockfile(version: string): void {
  write(
    'package-lock.json',
    JSON.stringify({ packages: { '': { name: 'x' }, 'node_modules/a': { version, integrity: `sha-${version}` } } }),
  );
}

const read = (file: string) => (existsSync(join(project, file)) ? readFileSync(join(project, file), 'utf8') : '');
const lines = (file: string) => read(file).split('\n').filter(Boolean).length;

const run = (args: string[], nodeArgs: string[] = []) =>
  spawned(process.execPath, [...nodeArgs, join(project, 'scripts', 'run.mjs'), ...args]);

function spawned(file: string, args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const env = { ...process.env, npm_execpath: join(project, 'npm.js') };
  const child = spawn(file, args, { env, cwd: tmpdir() });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

describe('the scripts of a fresh clone', () => {
  test('install, build and run, and repeat nothing', async () => {
    expect((await run(['demo', '--keep'])).out).toBe('["demo","--keep"]\n');
    expect(read('npm.log')).toMatch(/^ci --include=dev /);
    expect(read('dist/src/platform/db/migrations/0001.sql')).toBe('select 1;');
    expect(await run(['dev'])).toEqual({ code: 0, out: '["dev"]\n', err: '' });
    expect([lines('npm.log'), lines('tsc.log')]).toEqual([1, 1]);
  });

  test('install again when the lockfile changes', async () => {
    await run([]);
    lockfile('1.0.1');
    await run([]);
    expect(lines('npm.log')).toBe(2);
  });

  test('accept a manual `npm ci`, without the optional packages of other machines', async () => {
    await run([]);
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, unknown> };
    lock.packages['node_modules/other-machine'] = { version: '1.0.0', optional: true };
    write('package-lock.json', JSON.stringify(lock));
    await run([]);
    expect(lines('npm.log')).toBe(1);
  });

  test('build again when a source changes, without removed files', async () => {
    write('src/old.ts', '');
    await run([]);
    rmSync(join(project, 'src/old.ts'));
    write('src/cli/ratchet.ts', 'console.log("changed");');
    expect((await run([])).out).toBe('changed\n');
    expect(existsSync(join(project, 'dist/src/old.js'))).toBe(false);
  });

  test('generate again when a source of the API changes, or a generated file is away', async () => {
    const npmRun = (script: string) => spawned(process.execPath, [join(project, 'scripts', script)]);
    await npmRun('generate.mjs');
    expect(await npmRun('generate.mjs')).toEqual({ code: 0, out: '', err: '' });
    await npmRun('build.mjs');
    expect([lines('generate.log'), lines('tsc.log')]).toEqual([1, 1]);
    rmSync(join(project, 'docs/openapi.json'));
    await npmRun('generate.mjs');
    rmSync(join(project, 'src/client/api.ts'));
    await npmRun('generate.mjs');
    write('src/client/api.ts', 'export const cut = 1;\n');
    await npmRun('build.mjs');
    write('src/platform/http/route.ts', 'export {};');
    await npmRun('build.mjs');
    expect([lines('generate.log'), lines('tsc.log')]).toEqual([5, 2]);
    write('dashboard/page.ts', 'export {};');
    await npmRun('build.mjs');
    expect([lines('generate.log'), lines('tsc.log')]).toEqual([5, 3]);
  });

  test('install and build once for two concurrent starts', async () => {
    const both = await Promise.all([run(['a']), run(['b'])]);
    expect(both.map(({ out }) => out)).toEqual(['["a"]\n', '["b"]\n']);
    expect(['npm.log', 'generate.log', 'tsc.log'].map(lines)).toEqual([1, 1, 1]);
  });

  test('build the files of the client', async () => {
    await run([]);
    const files = ['client/index.js', 'container/index.js', 'util/loopback.js'];
    expect(files.filter((file) => !existsSync(join(project, 'client/dist', file)))).toEqual([]);
    rmSync(join(project, 'client'), { recursive: true });
    await run([]);
    expect(existsSync(join(project, 'client/dist/client/index.js'))).toBe(true);
  });

  test('are behind the command that `npm install -g` puts on the PATH', async () => {
    const prefix = join(project, 'global');
    const npm = ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund', project];
    expect(await spawned('npm', npm)).toMatchObject({ code: 0 });
    const ratchet = join(prefix, 'bin', 'ratchet');
    expect(await spawned(ratchet, ['optimize', '--json'])).toMatchObject({ code: 0, out: '["optimize","--json"]\n' });
    write('src/cli/ratchet.ts', 'console.log("pulled");');
    expect(await spawned(ratchet, [])).toMatchObject({ code: 0, out: 'pulled\n' });
  });

  test('report a failed install in one line with exit code 1', async () => {
    write('npm-fails', '');
    const { code, err } = await run([]);
    expect(code).toBe(1);
    expect(err.trim().split('\n').at(-1)).toBe('The packages could not be installed: npm ci ended with 7.');
  });

  test.each([
    ['tsc-fails', 'Build failed'],
    ['generate-fails', 'no route'],
  ])('exit with code 1 after a failed build (%s), keep the last build, and retry', async (fault, message) => {
    await run([]);
    write('src/cli/ratchet.ts', 'console.log("new");');
    write(fault, '');
    const { code, err } = await run([]);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(read('dist/src/cli/ratchet.js')).toContain('process.argv');
    expect(existsSync(join(project, 'dist.new'))).toBe(false);
    rmSync(join(project, fault));
    expect((await run([])).out).toBe('new\n');
  });

  test.each(otherFolders)('refuse to build without %s', async (folder) => {
    rmSync(join(project, folder), { recursive: true });
    const { code, err } = await run([]);
    expect([code, err]).toEqual([1, expect.stringContaining(`the folder ${folder} is missing`)]);
    expect(existsSync(join(project, 'dist'))).toBe(false);
  });

  test('report an old Node in one line', async () => {
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.18.3'}})`;
    const { code, err } = await run([], ['--import', pretend]);
    expect([code, err]).toEqual([1, 'Ratchet needs Node 20.19 or later; this is 20.18.3.\n']);
    expect(lines('npm.log')).toBe(0);
  });
});
