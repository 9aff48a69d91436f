/** The task of a command: rows, prompt, scorer and model, from options or the project's file. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../config.js';
import type { Api } from './api.js';
import { messagesIn, promptOfText, type Prompt } from './prompt-file.js';

export const projectFile = 'ratchet.json';

const scorerField = z.union([z.string(), z.record(z.string(), z.unknown())]);

const projectSchema = z.strictObject({
  data: z.string().optional(),
  prompt: z.string().optional(),
  input: z.string().optional(),
  expected: z.string().optional(),
  scorer: scorerField.optional(),
  model: z.string().optional(),
  proposer: z.string().optional(),
  budget: z.number().int().min(1).optional(),
});
export type Project = z.infer<typeof projectSchema>;

/** The options of `optimize` and `eval`; they win over the project's file. */
export interface TaskOptions extends Omit<Project, 'scorer' | 'budget'> {
  scorer?: string;
  budget?: number;
}

/** The project's file in the current folder; empty without one. */
async function readProject(): Promise<Project> {
  const text = await readFile(projectFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return {};
  const parsed = projectSchema.safeParse(parseJson(text, projectFile));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConfigError(`${projectFile}: ${issue!.path.join('.')} ${issue!.message}`);
}

export async function readTask({ scorer, ...options }: TaskOptions): Promise<Project> {
  const project = await readProject();
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...project, ...given, ...(scorer !== undefined && { scorer: await readScorer(scorer) }) };
}

/** The name of a scorer, JSON, or a file of it. */
async function readScorer(given: string): Promise<Project['scorer']> {
  if (!given.trimStart().startsWith('{') && !given.endsWith('.json')) return given;
  const { where, value } = await readJsonOption(given, '--scorer');
  const read = scorerField.safeParse(value);
  if (!read.success) throw new ConfigError(`${where}: must be the name of a scorer, or an object with its type`);
  return read.data;
}

/** An option that is JSON, or a file of it. */
export async function readJsonOption(given: string, option: string): Promise<{ where: string; value: unknown }> {
  if (given.trimStart().startsWith('{')) return { where: option, value: parseJson(given, option) };
  const where = `${option} ${given}`;
  return { where, value: parseJson(await readText(given, option), where) };
}

/** The request's fields: the uploaded rows, the scorer, the models. */
export async function taskFields(api: Api, task: Project) {
  const { data, scorer = 'exact', model = 'local', proposer, input, expected } = task;
  if (data === undefined) throw missing('--data FILE', 'rows as JSON, JSONL or CSV');
  const { dataset_id: datasetId } = await upload(api, data);
  return {
    dataset: { dataset_id: datasetId, ...(input && { input }), ...(expected && { expected }) },
    scorer,
    policy: modelOf(model),
    ...(proposer && { proposer: modelOf(proposer) }),
  };
}

/** A prompt as JSON messages or as text; a text without placeholders is the system message. */
export async function readPrompt(path: string | undefined, option = '--prompt'): Promise<Prompt> {
  if (path === undefined) throw missing('--prompt FILE', 'the prompt as text, or as JSON with messages');
  const text = (await readText(path, option)).trim();
  if (extname(path) === '.json') return parseJson(text, path) as Prompt;
  return messagesIn(text) ?? promptOfText(text);
}

/** `openai/gpt-4o-mini`; a name alone is a provider and its model. */
export function modelOf(name: string): { provider: string; model: string } {
  const at = name.indexOf('/');
  return at < 0 ? { provider: name, model: name } : { provider: name.slice(0, at), model: name.slice(at + 1) };
}

const types: Record<string, string> = {
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.ndjson': 'application/jsonl',
  '.csv': 'text/csv',
};

async function upload(api: Api, path: string): Promise<{ dataset_id: string; num_rows: number }> {
  const type = types[extname(path).toLowerCase()];
  if (!type) throw new ConfigError(`--data ${path}: must end in ${Object.keys(types).join(', ')}`);
  const stream = createReadStream(path);
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve());
    stream.once('error', (error: Error) => reject(new ConfigError(`--data: ${error.message}`)));
  });
  return api.upload('/api/v1/datasets', type, stream);
}

async function readText(path: string, option: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(`${option}: ${error.message}`);
  });
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${where} is not valid JSON: ${(error as Error).message}`);
  }
}

function missing(option: string, meaning: string): ConfigError {
  return new ConfigError(`${option} is needed: ${meaning}; or run "ratchet init" for a sample with a ${projectFile}`);
}
