/** The tests of a promptfooconfig.yaml, also from files. */
import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { dirname, extname } from 'node:path';
import { ConfigError } from '../../../service/config.js';
import { asObject, isObject } from '../../../util/json.js';
import type { PromptfooFile } from './file.js';

export type Fields = Record<string, unknown>;

/** promptfoo's assertion types (`BaseAssertionTypesSchema`); with `not-`, it negates each. */
export const assertionTypes = [
  'agent-rubric',
  'answer-relevance',
  'bleu',
  'classifier',
  'contains',
  'contains-all',
  'contains-any',
  'contains-html',
  'contains-json',
  'contains-sql',
  'contains-xml',
  'context-faithfulness',
  'context-recall',
  'context-relevance',
  'conversation-relevance',
  'cost',
  'equals',
  'factuality',
  'finish-reason',
  'g-eval',
  'gleu',
  'guardrails',
  'icontains',
  'icontains-all',
  'icontains-any',
  'is-html',
  'is-json',
  'is-refusal',
  'is-sql',
  'is-valid-function-call',
  'is-valid-openai-function-call',
  'is-valid-openai-tools-call',
  'is-xml',
  'javascript',
  'latency',
  'levenshtein',
  'llm-rubric',
  'meteor',
  'model-graded-closedqa',
  'model-graded-factuality',
  'moderation',
  'perplexity',
  'perplexity-score',
  'pi',
  'python',
  'regex',
  'rouge-n',
  'ruby',
  'search-rubric',
  'similar',
  'similar:cosine',
  'similar:dot',
  'similar:euclidean',
  'skill-used',
  'starts-with',
  'tool-call-f1',
  'trace-error-spans',
  'trace-span-count',
  'trace-span-duration',
  'trajectory:goal-success',
  'trajectory:step-count',
  'trajectory:tool-args-match',
  'trajectory:tool-sequence',
  'trajectory:tool-used',
  'webhook',
  'word-count',
  'select-best',
  'max-score',
  'human',
];
const typed = new RegExp(`^((?:not-)?(?:${assertionTypes.join('|')}))(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([^]*))?$`);

const remedy = 'write them as YAML, JSON, JSONL or CSV';

/** The tests, each with its vars; `folder` is that of the file that holds them. */
export async function testsOf(file: PromptfooFile, given: unknown, folder = file.folder): Promise<Fields[]> {
  if (given == null) return [];
  if (Array.isArray(given)) return (await Promise.all(given.map((one) => testsOf(file, one, folder)))).flat();
  if (isObject(given) && typeof given['path'] === 'string' && given['vars'] === undefined)
    throw file.fault(`has tests of the program ${given['path']}, which is not run; ${remedy}`);
  if (isObject(given)) return [{ ...(given as Fields), vars: await varsOf(file, given['vars'], folder) }];
  if (typeof given !== 'string') throw file.fault(`has a test that is no object and no file: ${JSON.stringify(given)}`);
  if (/^(?!file:)[\w+.-]+:\/\//.test(given)) throw file.fault(`has tests at ${given}, which is not fetched; ${remedy}`);
  const paths = await file.matches(file.path(given, folder));
  return (await Promise.all(paths.map((path) => testsIn(file, path)))).flat();
}

async function testsIn(file: PromptfooFile, path: string): Promise<Fields[]> {
  const type = extname(path).toLowerCase();
  if (type === '.csv') return parseCsvTests(file, path, await file.text(path));
  if (type === '.jsonl' || type === '.ndjson')
    return testsOf(file, parseJsonLines(path, await file.text(path)), dirname(path));
  if (!['.yaml', '.yml', '.json'].includes(type)) throw file.fault(`has tests in ${path}, which do not map; ${remedy}`);
  return testsOf(file, await file.read(path), dirname(path));
}

/** Vars as they are, or those of YAML and JSON files, merged; as in promptfoo. */
export async function varsOf(file: PromptfooFile, given: unknown, folder: string): Promise<Fields> {
  if (given == null) return {};
  if (isObject(given)) return given;
  const all: Fields = {};
  for (const name of Array.isArray(given) ? (given as unknown[]) : [given]) {
    if (typeof name !== 'string' || !/\.(?:ya?ml|json)$/.test(name))
      throw file.fault(`has vars ${JSON.stringify(name)}; only an object and a .yaml or .json file map`);
    for (const path of await file.matches(file.path(name, folder))) {
      const vars = asObject(await file.read(path));
      if (!vars) throw new ConfigError(`${path} must be an object with a value for each of the vars`);
      Object.assign(all, vars);
    }
  }
  return all;
}

function parseJsonLines(path: string, text: string): Fields[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const where = `${path} line ${at + 1}`;
    let test: unknown;
    try {
      test = JSON.parse(line);
    } catch (error) {
      throw new ConfigError(`${where} is not valid JSON: ${(error as Error).message}`);
    }
    if (!isObject(test)) throw new ConfigError(`${where} must be an object with vars and assert`);
    return [test];
  });
}

/** Columns are vars; `__expected…` are assertions. */
function parseCsvTests(file: PromptfooFile, path: string, text: string): Fields[] {
  return csvRows(path, text).map((row) => {
    const columns = Object.entries(row);
    const special = columns.filter(([name]) => name.startsWith('__'));
    const unmapped = special.find(([name]) => !/^__(expected\d*|description|metric|threshold|metadata:.*)$/.test(name));
    if (unmapped) throw file.fault(`has tests with a column ${unmapped[0]}, which does not map`);
    const asserts = special.filter(([name, value]) => name.startsWith('__expected') && value.trim() !== '');
    const { __threshold: threshold = '' } = row;
    return {
      ...(threshold.trim() !== '' && { threshold: Number(threshold) }),
      vars: Object.fromEntries(columns.filter(([name]) => !name.startsWith('__'))),
      assert: asserts.map(([, value]) => assertionOf(value.trim())),
    };
  });
}

function csvRows(path: string, text: string): Record<string, string>[] {
  try {
    // promptfoo also reads quotes within a value.
    return parseCsv(text, { columns: true, bom: true, skip_empty_lines: true, relax_quotes: true });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ConfigError(`${path} line ${String(error['lines'])} is not valid CSV: ${error.message}`);
  }
}

/** `type: value` and `type(threshold): value` of a known type; any other text is for equals. */
function assertionOf(text: string): Fields {
  const full = text.replace(/^(?:fn|eval):/, 'javascript:').replace(/^grade:/, 'llm-rubric:');
  const [, type, threshold, value] = typed.exec(full) ?? [];
  if (type === undefined) return { type: 'equals', value: text };
  return {
    type,
    ...(value !== undefined && { value: value.trim() }),
    ...(threshold !== undefined && { threshold: Number(threshold) }),
  };
}
