/** The prompts of a promptfooconfig.yaml: texts, chats and files of them. */
import { extname } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import type { Message } from '../../../core/prompts/message.js';
import { ConfigError } from '../../../service/config.js';
import { asObject, isObject } from '../../../util/json.js';
import { FileFault } from './faults.js';
import { parseYaml, type PromptfooFile } from './file.js';

export interface NamedText {
  label: string | null;
  /** The file and its text, or the text alone. */
  source: string;
  text: string;
  /** Why it cannot be read. */
  fault?: FileFault;
}

const textTypes = ['.txt', '.md', '.markdown', '.json', '.jsonl', '.yaml', '.yml', '.csv', '.j2', '.njk', ''];
const programTypes = ['.js', '.cjs', '.mjs', '.ts', '.cts', '.mts', '.py', '.rb', '.go', '.sh', '.exe', '.bat'];
const fileName = new RegExp(
  `^\\S+(?:${[...textTypes, ...programTypes]
    .filter(Boolean)
    .map((end) => `\\${end}`)
    .join('|')})$`,
);
const remedy = 'name a prompt with --prompt FILE';

/** All prompts, in their order; those that are programs have a fault. */
export async function promptsOf(file: PromptfooFile, given: unknown): Promise<NamedText[]> {
  if (given === undefined || given === null) return [];
  const isLabels = isObject(given) && !['raw', 'id', 'label', 'content'].some((key) => Object.hasOwn(given, key));
  const entries: (readonly [source: unknown, label: string | null])[] = isLabels
    ? // The older form: labels by file or text.
      Object.entries(given).map(([text, label]) => [text, String(label)])
    : (Array.isArray(given) ? (given as unknown[]) : [given]).map((one) => {
        if (!isObject(one)) return [one, null];
        const label = one['label'] ?? one['id'];
        return [one['raw'] ?? one['content'] ?? one['id'], typeof label === 'string' ? label : null];
      });
  const all = await Promise.all(
    entries.map(([source, label]) =>
      oneOf(file, source, label).catch((error: unknown) => {
        if (!(error instanceof ConfigError)) throw error;
        const fault = error instanceof FileFault ? error : new FileFault(error.message, 'prompt');
        return [{ label, source: typeof source === 'string' ? shortOf(source) : 'a prompt', text: '', fault }];
      }),
    ),
  );
  return all.flat();
}

async function oneOf(file: PromptfooFile, source: unknown, label: string | null): Promise<NamedText[]> {
  if (Array.isArray(source)) return [{ label, source: 'a chat', text: JSON.stringify(source) }];
  if (typeof source !== 'string') throw file.fault(`has a prompt that is no text and no file; ${remedy}`, 'prompt');
  if (/^(?:exec|langfuse|portkey|helicone|https?):/.test(source) && !source.includes('\n'))
    throw file.fault(`has the prompt ${source}, which is not in a file; ${remedy}`, 'prompt');
  const path = pathIn(file, source);
  if (path === null) return [{ label, source: shortOf(source), text: source.trim() }];
  const name = source.replace(/^file:\/\//, '');
  if (isProgram(name))
    throw file.fault(`has the prompt ${source}, which is a program and not run; ${remedy}`, 'prompt');
  const isNamed = source.startsWith('file://') || fileName.test(source);
  const paths = isNamed ? await file.matches(path) : [path];
  const texts = await Promise.all(
    paths.map(async (one) => {
      const text = isNamed ? await file.text(one) : await file.textIfThere(one);
      return text === null ? [{ label, source: shortOf(source), text: source }] : textsOf(file, one, text, label);
    }),
  );
  return texts.flat();
}

/** The path that a prompt names, with or without `file://`; null: it is a text. */
function pathIn(file: PromptfooFile, source: string): string | null {
  const text = source.trim();
  if (text.startsWith('file://')) return file.path(text);
  if (text.includes('\n') || text.length > 255 || /\{\{|\{%/.test(text)) return null;
  return fileName.test(text) || isProgram(text) || /^[\w@.-]+(?:\/[\w@.-]+)+$/.test(text) ? file.path(text) : null;
}

function isProgram(name: string): boolean {
  return programTypes.some((end) => new RegExp(`^\\S+\\${end}(?::\\w+)?$`).test(name));
}

/** The texts of a file: parts between `---` of .txt, lines of .jsonl, rows of .csv. */
function textsOf(file: PromptfooFile, path: string, text: string, label: string | null): NamedText[] {
  const one = (part: string, own = label) => ({ label: own, source: path, text: part.trim() });
  const type = extname(path).toLowerCase();
  if (!textTypes.includes(type)) throw file.fault(`has the prompt ${path}, which is no text; ${remedy}`, 'prompt');
  switch (type) {
    case '.txt':
      return text
        .split(/^---[ \t]*\r?$/m)
        .map((part) => one(part))
        .filter((part) => part.text !== '');
    case '.jsonl':
      return text
        .split('\n')
        .map((line) => one(line))
        .filter((part) => part.text !== '');
    case '.csv': {
      const rows: string[][] = parseCsv(text, {
        bom: true,
        skip_empty_lines: true,
        relax_column_count: true,
        relax_quotes: true,
      });
      const [head = [], ...others] = rows;
      const at = head.indexOf('prompt');
      const labelAt = head.indexOf('label');
      return (at < 0 ? rows : others).map((row) => one(row[Math.max(at, 0)] ?? '', row[labelAt] ?? label));
    }
    default:
      return [one(text)];
  }
}

const shortOf = (text: string) => {
  const [line = ''] = text.trim().split('\n');
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
};

/** A chat as JSON or YAML; any other text is the user's message, as in promptfoo. */
export function messagesOf(file: PromptfooFile, text: string): Message[] {
  if (text === '') throw file.fault(`has an empty prompt; ${remedy}`, 'prompt');
  if (!/^(?:\[\s*\{|-\s+["']?(?:role|content)["']?:|\{\s*"messages")/.test(text))
    return [{ role: 'user', content: text }];
  const parsed = parseYaml(text, 'The prompt');
  const list = Array.isArray(parsed) ? (parsed as unknown[]) : asObject(parsed)?.['messages'];
  if (!Array.isArray(list) || !list.some((one) => isObject(one) && Object.hasOwn(one, 'role')))
    return [{ role: 'user', content: text }];
  return list.map((one): Message => {
    const { role, content } = asObject(one) ?? {};
    const known = role === 'developer' ? 'system' : role;
    if (known !== 'system' && known !== 'user' && known !== 'assistant')
      throw file.fault(
        `has a prompt with the role ${JSON.stringify(role)}; only system, user and assistant map; ${remedy}`,
        'prompt',
      );
    const parts = Array.isArray(content) ? (content as unknown[]).map((part) => asObject(part)?.['text']) : [content];
    if (parts.length === 0 || parts.some((part) => typeof part !== 'string'))
      throw file.fault(`has a prompt with a message that is no text; ${remedy}`, 'prompt');
    return { role: known, content: parts.join('\n') };
  });
}

/** The prompt that is named by its label, its file or its number; null: another one is meant. */
export function namedPrompt(prompts: readonly NamedText[], name: string): NamedText | null {
  return prompts.find(({ label, source }, at) => [label, source, String(at + 1)].includes(name)) ?? null;
}

/** The prompts by number and name, for a choice. */
export function listOfPrompts(prompts: readonly NamedText[]): string {
  return prompts
    .slice(0, 10)
    .map(({ label, source }, at) => `${at + 1} (${label ?? source})`)
    .join(', ');
}
