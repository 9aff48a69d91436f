/** Reads a promptfooconfig.yaml: prompt, model, rows and scorer of a task. */
import { extname } from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { Message } from '../../core/jobs/spec.js';
import { parseTemplate, renderTemplate } from '../../core/prompts/template.js';
import { asObject, isObject } from '../../util/json.js';
import { anyFiles, type Files } from './files.js';
import { modelOf } from './model-name.js';
import type { Prompt } from './prompt-file.js';
import { mapAssertions } from './promptfoo/assertions.js';
import { PromptfooFile } from './promptfoo/file.js';
import { testsOf, varsOf, type Fields } from './promptfoo/tests.js';

export interface PromptfooTask {
  /** Null: an option names another one. */
  prompt: Prompt | null;
  model: string | null;
  rows: Record<string, unknown>[];
  /** Null: an option names another one. */
  scorer: Record<string, unknown> | null;
  expected: string | null;
  notes: string[];
}

/** Top-level fields that are used, and those without effect on a score. */
const known = ['prompts', 'providers', 'targets', 'tests', 'defaultTest'];
const harmless = [
  '$schema',
  'description',
  'tags',
  'metadata',
  'outputPath',
  'evaluateOptions',
  'commandLineOptions',
  'sharing',
];
const testFields = ['vars', 'assert', 'threshold', 'description', 'metadata'];
const maxValueChars = 1_000_000;

/** Reads the file; options of the command replace its prompt, model and scorer. */
export async function readPromptfoo(
  path: string,
  given: { prompt?: string | undefined; model?: string | undefined; scorer?: unknown },
  files: Files = anyFiles,
): Promise<PromptfooTask> {
  const file = new PromptfooFile(path, files);
  const config = asObject(await file.read(path));
  if (!config) throw file.fault('must be an object with prompts, providers and tests');
  const other = Object.keys(config).filter((name) => !known.includes(name) && !harmless.includes(name));
  if (other.length > 0) throw file.fault(`has fields that do not map: ${other.join(', ')}; remove them`);

  const prompt = given.prompt === undefined ? await readPromptOf(file, config['prompts']) : null;
  const model = given.model === undefined ? modelOfProvider(file, config['providers'] ?? config['targets']) : null;
  const policy = model ?? given.model!;
  const defaultTest = asObject(config['defaultTest'] ?? {});
  if (!defaultTest) throw file.fault('has a defaultTest that is a file; write it into the configuration');
  const defaults = { ...defaultTest, vars: await varsOf(file, defaultTest['vars'], file.folder) };
  const tests = (await testsOf(file, config['tests'])).map((test, at) =>
    readTest(file, { test, defaults, policy }, `test ${at + 1}`),
  );
  if (tests.length === 0) throw file.fault('has no tests');
  const rows = tests.map(({ vars }) => vars);
  const notes = tests.some(({ threshold }) => threshold)
    ? ['threshold is not applied: a reward is the weighted mean']
    : [];
  if (given.scorer !== undefined) {
    if (tests.some(({ asserts }) => asserts.length > 0)) notes.push('--scorer takes the place of all assertions');
    return { prompt, model, rows, scorer: null, expected: null, notes };
  }
  const mapped = mapAssertions(tests.map(({ asserts }) => asserts));
  if ('problem' in mapped)
    throw file.fault(`${mapped.problem}. Change the file, or give --scorer in place of its assertions`);
  const expected = ['expected', '__expected'].find((name) => rows.every((row) => !Object.hasOwn(row, name)))!;
  return {
    ...{ prompt, model, scorer: mapped.scorer, expected: mapped.expected && expected },
    rows: mapped.expected ? rows.map((row, at) => ({ ...row, [expected]: mapped.expected![at] })) : rows,
    notes: [...notes, ...mapped.notes],
  };
}

async function readPromptOf(file: PromptfooFile, given: unknown): Promise<Prompt> {
  const prompts = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (prompts.length !== 1) throw file.fault(`has ${prompts.length} prompts; name one with --prompt FILE`);
  const [first] = prompts as unknown[];
  const source = isObject(first) ? (first['raw'] ?? first['id']) : first;
  if (typeof source !== 'string') throw file.fault('has a prompt that is no text and no file://');
  const path = file.reference(source);
  if (path !== null && !['.txt', '.md', '.json', '.yaml', '.yml', ''].includes(extname(path)))
    throw file.fault(`has the prompt ${source}, which is no text; name one with --prompt FILE`);
  const text = (path === null ? source : await file.text(path)).trim();
  if (/^---$/m.test(text))
    throw file.fault('has several prompts in one text, separated by ---; name one with --prompt FILE');
  const messages = messagesOf(text);
  const nunjucks = messages.flatMap(({ content }) => content.match(/\{%.*?%\}|\{\{[^{}]*[|.([][^{}]*\}\}/) ?? []);
  if (nunjucks.length > 0) throw file.fault(`has ${nunjucks[0]} in its prompt; only {{name}} maps`);
  return { messages };
}

/** A chat as JSON or YAML; any other text is the user's message, as in promptfoo. */
function messagesOf(text: string): Message[] {
  const isChat = /^(\[|- role:)/.test(text);
  try {
    const parsed = isChat ? (parseYaml(text) as unknown) : null;
    if (Array.isArray(parsed) && parsed.every((one) => typeof asObject(one)?.['content'] === 'string'))
      return parsed as Message[];
  } catch {
    // A text that begins like a list.
  }
  return [{ role: 'user', content: text }];
}

/** `openai:chat:gpt-6-luna` as `openai/gpt-6-luna`. */
function modelOfProvider(file: PromptfooFile, given: unknown): string {
  const providers = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (providers.length !== 1) throw file.fault(`has ${providers.length} providers; name one model with --model`);
  const [first] = providers as unknown[];
  const { id, label: _, ...more } = isObject(first) ? first : { id: first };
  const others = Object.keys(more);
  if (others.length > 0)
    throw file.fault(`has a provider with ${others.join(', ')}, which does not map; name the model with --model`);
  const found = typeof id === 'string' ? /^([a-z]+):(?:(?:chat|messages|responses):)?([^:/].*)$/.exec(id) : null;
  if (!found)
    throw file.fault(`has the provider ${JSON.stringify(id)}, which does not map; name the model with --model`);
  return `${found[1]}/${found[2]}`;
}

function readTest(
  file: PromptfooFile,
  { test, defaults, policy }: { test: Fields; defaults: Fields; policy: string },
  name: string,
) {
  const judgeOf = (provider: unknown) => modelOf(provider === undefined ? policy : modelOfProvider(file, provider));
  const all = { ...defaults, ...test };
  const options = asObject(all['options']) ?? {};
  const unmapped = [
    ...Object.keys(all).filter((field) => !testFields.includes(field) && field !== 'options'),
    ...Object.keys(options)
      .filter((field) => field !== 'provider')
      .map((field) => `options.${field}`),
  ];
  if (unmapped.length > 0) throw file.fault(`has ${unmapped.join(', ')} in ${name}, which does not map; remove it`);
  const vars = { ...asObject(defaults['vars']), ...asObject(test['vars']) };
  for (const [key, value] of Object.entries(vars)) {
    if (Array.isArray(value) || file.reference(value) !== null)
      throw file.fault(`has a list or a file as ${key} in ${name}; write a test for each value`);
  }
  const asserts = [defaults['assert'], test['assert']].flatMap((given): unknown[] => {
    if (given != null && !Array.isArray(given)) throw file.fault(`has an assert in ${name} that is not a list`);
    return given ?? [];
  });
  if (asserts.some((one) => !isObject(one)))
    throw file.fault(`has an assertion in ${name} that is not an object with a type`);
  return {
    vars,
    threshold: all['threshold'] !== undefined || asserts.some((one) => asObject(one)?.['threshold'] !== undefined),
    asserts: asserts
      .map((given) => readAssertion(file, asObject(given) ?? {}, vars, name))
      .map(({ grader = options['provider'], ...assertion }) => ({ ...assertion, judge: judgeOf(grader) }))
      // Of weight 0: reported by promptfoo, not scored.
      .filter(({ weight }) => weight > 0),
  };
}

function readAssertion(file: PromptfooFile, given: Fields, vars: Fields, name: string) {
  const { type, value, weight = 1, provider: grader, threshold: _, metric: __, ...more } = given;
  const others = Object.keys(more);
  if (others.length > 0) throw file.fault(`has an assertion with ${others.join(', ')} in ${name}, which does not map`);
  if (file.reference(value) !== null)
    throw file.fault(`has a file as the value of ${String(type)} in ${name}; write the value itself`);
  const filled = typeof value === 'string' ? fill(value, vars) : value;
  return { type: String(type), weight: Number(weight), value: filled, grader };
}

function fill(text: string, vars: Fields): string {
  const parts = parseTemplate(text, (name) => Object.hasOwn(vars, name));
  return renderTemplate(parts, (name) => String(vars[name]), maxValueChars) ?? text;
}
