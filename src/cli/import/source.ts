/** The files of an import and the values in them. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { uploadLimits } from '../../datasets/contract/dataset.js';
import { readRows } from '../../datasets/routes/rows.js';
import { ConfigError } from '../../service/config.js';
import { quoteLongIntegers } from '../../util/exact-json.js';
import { reasonOf } from '../task/output-file.js';
import { parseYaml } from '../task/promptfoo/file.js';
import { listed, type SourceFile } from './imported.js';
import { isRemote, readRemote } from './openai.js';

/** A value and where it stands. */
export interface Placed {
  value: unknown;
  place: string;
}

/** The content of a file: one value, the values of its lines, or a text. */
export type Content = { form: 'value'; placed: Placed } | { form: 'lines'; lines: Placed[] } | { form: 'text' };

const standardInput = 'standard input';

const dataEnds = ['.json', '.jsonl', '.ndjson', '.yaml', '.yml'];
const textEnds = ['.txt', '.md'];
const maxFiles = 500;

/** What is named: files, folders with their `files/`, standard input, evals at OpenAI. */
export async function readSources(named: readonly string[]): Promise<SourceFile[]> {
  const files = await Promise.all(
    named.map((one) => {
      if (isRemote(one)) return readRemote(one);
      return one === '-' ? readInput() : readPath(one);
    }),
  );
  return files.flat();
}

async function readPath(path: string): Promise<SourceFile[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new ConfigError(`there is no file or folder ${path}`);
    throw new ConfigError(`${path} cannot be read: ${reasonOf(error)}`);
  });
  if (!found.isDirectory()) return [await readOne(path)];
  const inFolder = [path, join(path, 'files')];
  const paths = (await Promise.all(inFolder.map(filesOf))).flat();
  if (paths.length === 0) throw new ConfigError(`${path} has no file that ends in ${dataEnds.join(', ')}`);
  if (paths.length > maxFiles) throw new ConfigError(`${path} has more than ${maxFiles} files; name those to import`);
  return Promise.all(paths.map(readOne));
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new ConfigError(`${folder} cannot be read: ${reasonOf(error)}`);
  });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => [...dataEnds, ...textEnds].includes(extname(name).toLowerCase()))
    .filter((name) => !['package.json', 'package-lock.json', 'tsconfig.json'].includes(name))
    .sort()
    .map((name) => join(folder, name));
}

async function readOne(path: string): Promise<SourceFile> {
  const { size } = await stat(path);
  if (size > uploadLimits.bytes)
    throw new ConfigError(`${path} has more than ${uploadLimits.bytes / 1024 ** 2} MiB; split it`);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`${path} cannot be read: ${reasonOf(error)}`);
  });
  return { path, text };
}

async function readInput(): Promise<SourceFile[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return [{ path: standardInput, text: Buffer.concat(chunks).toString('utf8') }];
}

/** Throws a ConfigError that names the faulty lines. */
export async function contentOf({ path, text }: SourceFile): Promise<Content> {
  const plain = text.replace(/^\uFEFF/, '').trim();
  if (plain === '') throw new ConfigError(`${path} is empty`);
  if (plain.startsWith('version https://git-lfs.github.com/'))
    throw new ConfigError(`${path} is a pointer of Git LFS, not the file itself; fetch it with "git lfs pull"`);
  const end = extname(path).toLowerCase();
  if (textEnds.includes(end)) return { form: 'text' };
  if (end === '.yaml' || end === '.yml')
    return { form: 'value', placed: { value: parseYaml(text, path), place: path } };
  if (path === standardInput && !/^[[{]/.test(plain)) return inputContent(plain);
  if (end === '.jsonl' || end === '.ndjson') return { form: 'lines', lines: await linesOf(path, text) };
  if (path !== standardInput && end !== '.json')
    throw new ConfigError(
      `${path} is none of ${[...dataEnds, ...textEnds].join(', ')}; rows as CSV need no import: name them with --data`,
    );
  return jsonContent(path, text, plain);
}

/** YAML of an object or list; else a text. */
function inputContent(plain: string): Content {
  const value = /^[\w.-]+:(?:\s|$)/.test(plain) ? parseYaml(plain, standardInput) : plain;
  return typeof value === 'string' ? { form: 'text' } : { form: 'value', placed: { value, place: standardInput } };
}

async function jsonContent(path: string, text: string, plain: string): Promise<Content> {
  try {
    JSON.parse(plain);
    // An id of more digits than a double has becomes a text, not another id.
    return { form: 'value', placed: { value: JSON.parse(quoteLongIntegers(plain)) as unknown, place: path } };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (isLines(plain)) return { form: 'lines', lines: await linesOf(path, text) };
    throw new ConfigError(`${path} is not valid JSON: ${error.message}`);
  }
}

/** Whether the first line is a value by itself. */
function isLines(plain: string): boolean {
  const end = plain.indexOf('\n');
  if (end < 0) return false;
  try {
    return typeof JSON.parse(plain.slice(0, end)) === 'object';
  } catch {
    return false;
  }
}

async function linesOf(path: string, text: string): Promise<Placed[]> {
  const lines: Placed[] = [];
  const faults: string[] = [];
  for await (const row of readRows('jsonl', bytesOf(text))) {
    if ('fault' in row) faults.push(`${path}:${row.line} ${row.fault}`);
    else lines.push({ value: row.value, place: `${path}:${row.line}` });
  }
  if (faults.length > 0) throw new ConfigError(listed(faults));
  return lines;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** `support.jsonl` of `evals/support.jsonl`, without its end. */
export function stemOf(path: string): string {
  return path === standardInput ? 'import' : basename(path, extname(path));
}
