/** Reads a promptfooconfig.yaml: prompt, model, rows and scorer; what it cannot read, it names. */
import { extname } from 'node:path';
import { ConfigError } from '../../config.js';
import { asObject } from '../../util/json.js';
import { urlSetting } from '../../clients/models/providers.js';
import { anyFiles, filesBeside, type Files } from './files.js';
import { modelOf } from './model-name.js';
import type { Parameters } from './policy.js';
import type { Prompt } from './prompt-file.js';
import { mapAssertions } from './promptfoo/assertions.js';
import { checkFields, topFields } from './promptfoo/fields.js';
import { PromptfooFile } from './promptfoo/file.js';
import { chosenPrompt, messagesOf, promptsOf } from './promptfoo/prompts.js';
import { chosenModel, modelsOf, settingsOf, unknownSettings } from './promptfoo/providers.js';
import { namesIn, valueOf } from './promptfoo/templates.js';
import { readTest, type ReadTest } from './promptfoo/test.js';
import { testsOf, varsOf, type Fields } from './promptfoo/tests.js';

export interface PromptfooTask {
  /** Null: an option names another one. */
  prompt: Prompt | null;
  /** Null: an option names another one. */
  model: string | null;
  /** The settings of the model. */
  policy: Parameters;
  rows: Record<string, unknown>[];
  /** Null: an option names another one. */
  scorer: Record<string, unknown> | null;
  expected: string | null;
  notes: string[];
}

interface Given {
  /** A prompt of the file by its number, label or path, or another file. */
  prompt?: string | undefined;
  /** A model of the file by its id, label or name, or another model. */
  model?: string | undefined;
  scorer?: unknown;
}

/** Reads the file; options of the command choose among its prompts and models, or replace them. */
export async function readPromptfoo(path: string, given: Given, files: Files = anyFiles): Promise<PromptfooTask> {
  const file = new PromptfooFile(path, filesBeside(path, files));
  const config = asObject(await file.read(path));
  if (!config) throw file.fault('must be an object with prompts, providers and tests');
  const notes = new Set<string>();
  const note = (text: string) => void notes.add(text);
  checkFields(file, config, topFields, { isStrict: false, where: '', note });

  const [prompt, { model, policy }] = await together(
    readPrompt(file, config['prompts'], given.prompt),
    readModel(file, config['providers'] ?? config['targets'], given.model, note),
  );
  const { defaults, entries } = await entriesOf(file, config);
  const context = {
    ...{ file, defaults, note, modelOf, policy: model ?? given.model! },
    given: { model: given.model !== undefined, scorer: given.scorer !== undefined },
  };
  const read = await Promise.all(entries.map((test, at) => readTest(context, test, `test ${at + 1}`)));
  const tests = read.flat();
  if (tests.length === 0) throw file.fault('has no tests');
  const task = { prompt, model, policy };
  if (given.scorer !== undefined) {
    if (hasAsserts(entries, defaults)) note('--scorer takes the place of all assertions');
    return { ...task, rows: rowsOf(tests, prompt, file), scorer: null, expected: null, notes: [...notes] };
  }
  const scored = tests.filter(({ asserts }) => asserts.length > 0);
  if (scored.length === 0) throw file.fault('has tests without assertions that score; give --scorer');
  const skipped = tests.length - scored.length;
  if (skipped > 0) note(`${skipped} of ${tests.length} tests have no assertion that scores and are left out`);
  const mapped = mapAssertions(scored.map(({ asserts }) => asserts));
  if ('problem' in mapped)
    throw file.fault(`${mapped.problem}. Change the file, or give --scorer in place of its assertions`);
  mapped.notes.forEach(note);
  const rows = rowsOf(scored, prompt, file);
  const expected =
    ['expected', '__expected'].find((name) => rows.every((row) => !Object.hasOwn(row, name))) ?? '___expected';
  return {
    ...{ ...task, scorer: mapped.scorer, expected: mapped.expected && expected },
    rows: mapped.expected ? rows.map((row, at) => ({ ...row, [expected]: mapped.expected![at] })) : rows,
    notes: [...notes],
  };
}

/** Both values; throws a fault of both as one, so that one try names all options. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value];
  const faults = [a, b].flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.some((fault) => !(fault instanceof ConfigError)) || faults.length === 1) throw faults[0];
  throw new ConfigError((faults as Error[]).map(({ message }) => message).join('\n'));
}

async function readPrompt(file: PromptfooFile, given: unknown, name: string | undefined): Promise<Prompt | null> {
  // A file that an option names stands for all prompts, readable or not.
  const isOther = name !== undefined && extname(name) !== '' && !JSON.stringify(given ?? '').includes(name);
  const chosen = isOther ? null : chosenPrompt(file, await promptsOf(file, given), name);
  if (!chosen) return null;
  const messages = messagesOf(file, chosen.text);
  for (const { content } of messages) namesIn(file, content, 'its prompt');
  return { messages };
}

async function readModel(
  file: PromptfooFile,
  given: unknown,
  name: string | undefined,
  note: (text: string) => void,
): Promise<{ model: string | null; policy: Parameters }> {
  const models = modelsOf(file, given);
  const chosen = chosenModel(file, models, name);
  if (chosen?.name === null && (name === undefined || !name.includes('/')))
    throw file.fault(
      `has the provider ${JSON.stringify(chosen.id)}, which does not map; name a model with --model provider/model`,
    );
  // Another model of an option answers with the settings of the only one.
  const source = chosen ?? (models.length === 1 ? models[0]! : null);
  if (!source) return { model: null, policy: {} };
  const isReplaced = name !== undefined && source !== chosen;
  const { parameters, unread, unknown } = await settingsOf(file, source.config);
  const odd = [...unknown, ...source.others];
  if (odd.length > 0 && !isReplaced) throw file.fault(unknownSettings(source.id, odd));
  const dropped = [...unread, ...odd];
  if (dropped.length > 0) note(`${dropped.join(', ')} of ${source.id} ${dropped.length > 1 ? 'are' : 'is'} not read`);
  if (source.name !== null && unread.some((field) => /url|host|endpoint/i.test(field)))
    note(`the address of ${source.name} is that of the service: set ${urlSetting(modelOf(source.name).provider)}`);
  return { model: isReplaced ? null : source.name, policy: parameters };
}

/** The entries of all tests, also those of scenarios, and what they have in common. */
async function entriesOf(file: PromptfooFile, config: Fields): Promise<{ defaults: Fields; entries: Fields[] }> {
  const defaultTest = asObject(await file.value(config['defaultTest'] ?? {}, 'a defaultTest'));
  if (!defaultTest) throw file.fault('has a defaultTest that is no object; write its fields');
  const defaults = { ...defaultTest, vars: await varsOf(file, defaultTest['vars'], file.folder) };
  const entries = await testsOf(file, config['tests']);
  const scenarios = config['scenarios'] == null ? [] : await file.value(config['scenarios'], 'scenarios');
  for (const one of Array.isArray(scenarios) ? (scenarios as unknown[]) : [scenarios]) {
    const scenario = asObject(await file.value(one, 'a scenario'));
    if (!scenario) throw file.fault('has a scenario that is no object with config and tests');
    const shared = await testsOf(file, scenario['config']);
    const tests = await testsOf(file, scenario['tests'] ?? {});
    entries.push(...shared.flatMap((more) => tests.map((test) => joined(more, test))));
  }
  return { defaults, entries };
}

/** A test of a scenario with one of its configurations. */
function joined(more: Fields, test: Fields): Fields {
  const listOf = (given: unknown) => (Array.isArray(given) ? (given as unknown[]) : []);
  const options = { ...asObject(more['options']), ...asObject(test['options']) };
  return {
    ...{ ...more, ...test, vars: { ...asObject(more['vars']), ...asObject(test['vars']) } },
    assert: [...listOf(more['assert']), ...listOf(test['assert'])],
    ...(Object.keys(options).length > 0 && { options }),
  };
}

function hasAsserts(entries: readonly Fields[], defaults: Fields): boolean {
  return [defaults, ...entries].some(({ assert }) => Array.isArray(assert) && assert.length > 0);
}

/** The vars of the tests, with a column for each path in a var that the prompt names. */
function rowsOf(tests: readonly ReadTest[], prompt: Prompt | null, file: PromptfooFile): Record<string, unknown>[] {
  const names = new Set(prompt?.messages.flatMap(({ content }) => namesIn(file, content, 'its prompt')));
  // A var of some tests is empty in the others, as in promptfoo; one of none is a mistake.
  const paths = [...names].filter((name) => name.includes('.'));
  const odd = [...names].find(
    (name) => name !== 'input' && tests.every(({ vars }) => valueOf(vars, name) === undefined),
  );
  if (odd !== undefined)
    throw file.fault(
      `has {{${odd}}} in its prompt, which is no var of any test; add it, or name a prompt with --prompt FILE`,
    );
  return tests.map(({ vars }) => {
    const found = paths.map((name) => [name, valueOf(vars, name)] as const);
    return { ...vars, ...Object.fromEntries(found.filter(([, value]) => value !== undefined)) };
  });
}
