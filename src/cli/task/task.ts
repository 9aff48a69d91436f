/** The task of a command: rows, prompt, scorer and model, from options or the project's file. */
import { readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../../service/config.js';
import { unknownField } from '../../contracts/close-names.js';
import { asObject } from '../../util/json.js';
import { formatOf } from './data-file.js';
import { anyFiles, filesBeside, type Files } from './files.js';
import { checkModelName } from './model-name.js';
import { parametersOf, parametersSchema, type ParameterOptions } from './policy.js';
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
  policy: parametersSchema.optional(),
  proposer: z.string().optional(),
  budget: z.number().int().min(1).optional(),
});
export type Project = z.infer<typeof projectSchema>;

/** The options of `optimize` and `eval`; they win over the project's file. */
export interface TaskOptions extends Omit<Project, 'scorer' | 'budget' | 'policy'>, ParameterOptions {
  scorer?: string;
  budget?: number;
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

/** The task of options and the project's file, which only `files` may name. */
export async function readTask(
  { scorer, temperature, maxTokens, param, ...options }: TaskOptions,
  files: Files = anyFiles,
): Promise<ReadTask> {
  const project = await projectFor(options.data, files);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const chosen = scorer === undefined ? {} : { scorer: await readScorer(scorer, files) };
  const task: Project = { ...project, ...given, ...chosen };
  for (const field of ['data', 'prompt'] as const) {
    if (task[field] === undefined) continue;
    await files.check(task[field], `--${field}`);
    if (given[field] === undefined) await filesBeside(projectFile, files).check(task[field], projectFile);
  }
  const read = await withPromptfoo(task, Object.keys(project).length > 0, files);
  if (!read.rows) formatOf(dataOf(read));
  await checkModelName(read.model, '--model');
  await checkModelName(read.proposer, '--proposer');
  const asked = Object.fromEntries(
    Object.entries({ temperature, maxTokens, param }).filter(([, value]) => value !== undefined),
  );
  const policy = parametersOf(asked, { ...read.policy, ...project.policy }, read.model ?? 'local');
  return { ...read, policy };
}

const promptfooFile = /\.ya?ml$/;
const promptfooProgram = /promptfoo[^/]*\.[cm]?[jt]s$/;

/** Whether a file of data is one of promptfoo, which can be JSON, too. */
async function isPromptfoo(data: string, files: Files): Promise<boolean> {
  if (promptfooProgram.test(data))
    throw new ConfigError(
      `--data ${data}: is a program of promptfoo, which is not run; write what it exports as YAML or JSON`,
    );
  if (promptfooFile.test(data)) return true;
  if (!/promptfoo[^/]*\.json$/.test(data)) return false;
  const { prompts, providers, targets, tests } = asObject(parseJson(await files.text(data, '--data'), data)) ?? {};
  return [prompts, providers ?? targets, tests].filter((one) => one !== undefined).length > 1;
}

/** The project's file; a file of promptfoo that an option names takes its place. */
async function projectFor(data: string | undefined, files: Files): Promise<Project> {
  const project = await readProject(files);
  if (data === undefined || Object.keys(project).length === 0 || !(await isPromptfoo(data, files))) return project;
  note(`Note: ${projectFile} is not used: --data names a file of promptfoo`);
  return {};
}

async function withPromptfoo(task: Project, hasProject: boolean, files: Files): Promise<ReadTask> {
  const { data = hasProject ? undefined : await foundPromptfoo() } = task;
  if (data === undefined || !(await isPromptfoo(data, files))) return { ...task, files, messages: null, rows: null };
  const read = await readPromptfoo(data, task, files);
  for (const line of read.notes) note(`Note: ${data}: ${line}`);
  const { prompt: messages, rows, model, policy, scorer: mapped, expected } = read;
  const { prompt, ...others } = task;
  // A prompt of the configuration is not one of a file.
  const own = messages || prompt === undefined ? others : task;
  const mappedFields = {
    ...(model !== null && { model }),
    ...(mapped && { scorer: mapped }),
    ...(expected && { expected }),
  };
  return { ...own, files, data, messages, rows, policy, ...mappedFields };
}

/** promptfoo's file in the current folder. */
async function foundPromptfoo(): Promise<string | undefined> {
  const files = await readdir('.');
  return ['yaml', 'yml', 'json', 'js', 'cjs', 'mjs', 'ts', 'cts', 'mts']
    .map((end) => `promptfooconfig.${end}`)
    .find((name) => files.includes(name));
}

/** The task's prompt. */
export function promptOf({ messages, prompt, files }: ReadTask): Promise<Prompt> {
  return messages ? Promise.resolve(messages) : readPrompt(prompt, { files });
}

/** The name of a scorer, JSON, or a file of it. */
export async function readScorer(given: string, files: Files): Promise<Project['scorer']> {
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
  files: Files;
  /** Null: `prompt` names its file. */
  messages: Prompt | null;
  /** Null: `data` names their file. */
  rows: Record<string, unknown>[] | null;
  /** Where each of `rows` stands; without it, they are tests of `data`. */
  places?: readonly string[];
}

/** The file of the task's rows. */
export function dataOf({ data }: ReadTask): string {
  if (data === undefined) throw missing('--data FILE', 'rows as JSON, JSONL or CSV, or a promptfooconfig.yaml');
  return data;
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
