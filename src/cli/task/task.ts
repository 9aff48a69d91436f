/** The task of a command: rows, prompt, scorer and model, from options or the project's file. */
import { readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ConfigError } from '../../config.js';
import { unknownField } from '../../contracts/close-names.js';
import type { Api } from '../service/api.js';
import { anyFiles, type Files } from './files.js';
import { modelOf } from './model-name.js';
import { note } from '../service/output.js';
import { messagesIn, promptOfJson, promptOfText, type Prompt } from './prompt-file.js';
import { readPromptfoo } from './promptfoo.js';

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

/** Labels of the job, for lists. */
export interface LabelOptions {
  name?: string | undefined;
  tag?: string[] | undefined;
}

export function labelsOf({ name, tag }: LabelOptions) {
  return { ...(name !== undefined && { name }), ...(tag && { tags: tag }) };
}

/** The project's file in the current folder; empty without one. */
export async function readProject(files: Files = anyFiles): Promise<Project> {
  const text = await files.textIfThere(projectFile, projectFile);
  return text === null ? {} : parseProject(text, projectFile);
}

/** The project of a file's text; `file` names it in errors. */
export function parseProject(text: string, file: string): Project {
  const parsed = projectSchema.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { path, message } = issue!;
  if (issue!.code !== 'unrecognized_keys') throw new ConfigError(`${file}: ${path.join('.')} ${message}`);
  const name = issue!.keys[0]!;
  throw new ConfigError(`${file}: ${name}: ${unknownField(name, Object.keys(projectSchema.shape))}`);
}

/** The task of the options and the project's file, which only `files` may name. */
export async function readTask({ scorer, ...options }: TaskOptions, files: Files = anyFiles): Promise<ReadTask> {
  const project = await readProject(files);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const chosen = scorer === undefined ? {} : { scorer: await readScorer(scorer, files) };
  const task = { ...project, ...given, ...chosen, files };
  for (const field of ['data', 'prompt'] as const)
    if (task[field] !== undefined) await files.check(task[field], `--${field}`);
  const { data = Object.keys(project).length === 0 ? await foundPromptfoo() : undefined } = task;
  if (data === undefined) throw missing('--data FILE', 'rows as JSON, JSONL or CSV, or a promptfooconfig.yaml');
  if (!/\.ya?ml$/.test(data)) {
    typeOf(data);
    return { ...task, data, messages: null, rows: null };
  }
  const read = await readPromptfoo(data, task, files);
  for (const line of read.notes) note(`Note: ${data}: ${line}`);
  const { prompt: messages, rows, model, scorer: mapped, expected } = read;
  const mappedFields = {
    ...(model !== null && { model }),
    ...(mapped && { scorer: mapped }),
    ...(expected && { expected }),
  };
  return { ...task, data, messages, rows, ...mappedFields };
}

/** promptfoo's file in the current folder. */
async function foundPromptfoo(): Promise<string | undefined> {
  const files = await readdir('.');
  return ['promptfooconfig.yaml', 'promptfooconfig.yml'].find((name) => files.includes(name));
}

/** The task's prompt. */
export function promptOf({ messages, prompt, files }: ReadTask): Promise<Prompt> {
  return messages ? Promise.resolve(messages) : readPrompt(prompt, { files });
}

/** The name of a scorer, JSON, or a file of it. */
async function readScorer(given: string, files: Files): Promise<Project['scorer']> {
  if (!given.trimStart().startsWith('{') && !given.endsWith('.json')) return given;
  const { where, value } = await readJsonOption(given, '--scorer', files);
  const read = scorerField.safeParse(value);
  if (!read.success) throw new ConfigError(`${where}: must be the name of a scorer, or an object with its type`);
  return read.data;
}

/** An option that is JSON, or a file of it. */
export async function readJsonOption(
  given: string,
  option: string,
  files: Files = anyFiles,
): Promise<{ where: string; value: unknown }> {
  if (given.trimStart().startsWith('{')) return { where: option, value: parseJson(given, option) };
  const where = `${option} ${given}`;
  return { where, value: parseJson(await files.text(given, option), where) };
}

/** A task with the contents of its files. */
export interface ReadTask extends Project {
  data: string;
  files: Files;
  /** Null: `prompt` names its file. */
  messages: Prompt | null;
  /** Null: `data` names their file. */
  rows: Record<string, unknown>[] | null;
}

/** The request's fields: the uploaded rows, the scorer, the models. */
export async function taskFields(api: Api, task: ReadTask) {
  const { files, data, rows, scorer = 'exact', model = 'local', proposer, input, expected } = task;
  const { dataset_id: datasetId } = rows ? await uploadRows(api, rows) : await upload(api, data, files);
  return {
    dataset: { dataset_id: datasetId, ...(input && { input }), ...(expected && { expected }) },
    scorer,
    policy: modelOf(model),
    ...(proposer && { proposer: modelOf(proposer) }),
  };
}

/** The prompt of a file. */
export async function readPrompt(
  path: string | undefined,
  { option = '--prompt', files = anyFiles }: { option?: string; files?: Files } = {},
): Promise<Prompt> {
  if (path === undefined) throw missing('--prompt FILE', 'the prompt as text, or as JSON with messages');
  return parsePrompt(await files.text(path, option), path);
}

/** The prompt of a file's text; `path` tells its form and names it in errors. */
export function parsePrompt(file: string, path: string): Prompt {
  const text = file.trim();
  if (extname(path) === '.json') {
    const prompt = promptOfJson(parseJson(text, path));
    if (prompt) return prompt;
    throw new ConfigError(`${path} must be a list of messages with role and content, or an object with it as messages`);
  }
  return messagesIn(text) ?? promptOfText(text);
}

const types: Record<string, string> = {
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.ndjson': 'application/jsonl',
  '.csv': 'text/csv',
};

/** The media type of a file of rows, by its ending. */
function typeOf(path: string): string {
  const type = types[extname(path).toLowerCase()];
  if (!type) throw new ConfigError(`--data ${path}: must end in ${Object.keys(types).join(', ')}`);
  return type;
}

async function upload(api: Api, path: string, files: Files): Promise<{ dataset_id: string; num_rows: number }> {
  return api.upload('/api/v1/datasets', typeOf(path), await files.open(path, '--data'));
}

function uploadRows(api: Api, rows: object[]): Promise<{ dataset_id: string }> {
  return api.upload('/api/v1/datasets', types['.json']!, Readable.from([JSON.stringify(rows)]));
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
