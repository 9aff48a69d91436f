/** One test of a promptfooconfig.yaml: its vars and its assertions. */
import { extname } from 'node:path';
import { ConfigError } from '../../../service/config.js';
import { asObject, isObject } from '../../../util/json.js';
import { closestName } from '../../../contracts/close-names.js';
import type { Model } from '../model-name.js';
import type { Assertion } from '../row-scorer.js';
import { canMap, forms, splitForms, unscored } from './assertions.js';
import { functionOf, functionOfFile } from './code.js';
import { FileFault, type Faults } from './faults.js';
import { assertionFields, checkFields, optionFields, testFields } from './fields.js';
import { parseYaml, type PromptfooFile } from './file.js';
import { listOf, patternOfAll } from './patterns.js';
import { modelsOf, parameters } from './providers.js';
import { renderedValue, renderedVars } from './templates.js';
import { assertionTypes, type Fields } from './tests.js';

export interface ReadTest {
  vars: Fields;
  asserts: Assertion[];
}

interface Context {
  file: PromptfooFile;
  /** The defaults of the file, or of a scenario. */
  defaults: Fields;
  /** `provider/model` that answers, which judges by default. */
  policy: string;
  /** Whether promptfoo's provider gives the value of an answer that is JSON. */
  readsJson: boolean;
  /** Whether --model names it, --scorer takes the place of the assertions, or leaves some out. */
  given: { model: boolean; scorer: boolean; mapped: boolean };
  faults: Faults;
  /** What `mapped` leaves out: the number by type. */
  dropped: Map<string, number>;
  note: (text: string) => void;
  /** Provider and model of a name. */
  modelOf: (name: string) => Model;
}

const maxTests = 10_000;
const notText = /\.(?:js|cjs|mjs|ts|py|rb|pdf|png|jpe?g|gif|webp|bmp|mp[34]|wav|ogg|xlsx?|docx?|zip)(?::\w+)?$/i;
/** Options that change an answer before it is scored. */
const transforms = ['transform', 'postprocess'];

/** The tests of one entry: one for each combination of the values of its vars that are lists. */
export async function readTest(context: Context, test: Fields, name: string): Promise<ReadTest[]> {
  const { file, defaults, given, note } = context;
  const all = { ...defaults, ...test };
  const options = { ...asObject(defaults['options']), ...asObject(test['options']) };
  checkTest(context, all, options, name);
  const vars: Fields = {};
  for (const [key, value] of Object.entries({ ...asObject(defaults['vars']), ...asObject(test['vars']) }))
    vars[key] = await varOf(file, value, `${key} in ${name}`);
  const sets = options['disableVarExpansion'] === true ? [vars] : combinations(file, vars, name);
  const isOwn = (list: unknown) => list !== defaults['assert'] || options['disableDefaultAsserts'] !== true;
  const asserts = [defaults['assert'], test['assert']].flatMap((list): unknown[] => {
    if (list != null && !Array.isArray(list)) throw file.fault(`has an assert in ${name} that is not a list`);
    return isOwn(list) ? (list ?? []) : [];
  });
  if (given.scorer) return sets.map((set) => ({ vars: renderedVars(file, set, name), asserts: [] }));
  if (asserts.length > 0 && all['threshold'] != null) note('threshold is not applied: a reward is the weighted mean');
  return Promise.all(
    sets.map(async (set) => {
      const filled = renderedVars(file, set, name);
      const read = asserts.map((one) =>
        readOne({ ...context, vars: filled, judge: options['provider'], options, name }, one),
      );
      return { vars: filled, asserts: (await Promise.all(read)).flat() };
    }),
  );
}

/** Refuses what changes a test; an option of the command takes the place of some. */
function checkTest({ file, given, note }: Context, all: Fields, options: Fields, name: string): void {
  const replaced = [...(given.model ? ['provider'] : []), ...(given.scorer ? ['assertScoringFunction'] : [])];
  const skipped = replaced.filter((field) => all[field] != null);
  if (skipped.length > 0) note(`${skipped.join(', ')} of tests is not used: an option takes its place`);
  checkFields(file, without(all, skipped), testFields, { note, where: ` in ${name}` });
  const settings = Object.keys(options).filter((field) => Object.hasOwn(parameters, field));
  if (settings.length > 0)
    note(`${settings.join(', ')} in options of tests is not read; give --temperature, --max-tokens or --param`);
  // Those of answers are a matter of the assertions.
  const checked = without(options, [...settings, ...transforms]);
  checkFields(file, checked, optionFields, { note, where: ` in options of ${name}` });
}

/** The assertions of one; none after its fault, or if `mapped` leaves it out. */
async function readOne(context: AssertionContext, given: unknown): Promise<Assertion[]> {
  const { faults, dropped } = context;
  try {
    return await readAssertion(context, given, 1);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A file that cannot be read is one of the assertion.
    const fault = error instanceof FileFault ? error : new FileFault(error.message, 'scorer');
    if (fault.remedy !== 'scorer' || !context.given.mapped) faults.add(fault);
    else {
      const type = String(asObject(given)?.['type']);
      dropped.set(type, (dropped.get(type) ?? 0) + 1);
    }
    return [];
  }
}

const without = (fields: Fields, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** A value, or the text of the file that it names; YAML and JSON become a JSON text. */
async function varOf(file: PromptfooFile, value: unknown, where: string): Promise<unknown> {
  const path = file.reference(value);
  if (path === null) return value;
  if (notText.test(path)) throw file.fault(`has ${String(value)} as ${where}, which is no text; write its value`);
  return ['.json', '.yaml', '.yml'].includes(extname(path))
    ? JSON.stringify(await file.read(path))
    : (await file.text(path)).trim();
}

/** The vars with each combination of the values of those that are lists. */
function combinations(file: PromptfooFile, vars: Fields, name: string): Fields[] {
  let sets: Fields[] = [{}];
  for (const [key, value] of Object.entries(vars)) {
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    sets = sets.flatMap((set) => values.map((one) => ({ ...set, [key]: one })));
    if (sets.length > maxTests) throw file.fault(`has lists in ${name} with more than ${maxTests} combinations`);
  }
  return sets;
}

interface AssertionContext extends Context {
  vars: Fields;
  /** Of the test, with those of the defaults. */
  options: Fields;
  /** The judge of the test's options. */
  judge: unknown;
  name: string;
}

/** The assertions of one, or of a set, whose weights are parts of its own. */
async function readAssertion(context: AssertionContext, given: unknown, share: number): Promise<Assertion[]> {
  const { file, name, note } = context;
  if (!isObject(given)) throw file.fault(`has an assertion in ${name} that is not an object with a type`);
  checkFields(file, given, assertionFields, { note, where: ` in an assertion of ${name}` });
  const { type: full, weight: own = 1, threshold } = given;
  const transform = transforms.find((field) => context.options[field] != null);
  if (transform !== undefined)
    throw file.fault(`has ${transform} in options of ${name}, which is not run; ${inPlace}`, 'scorer');
  if (typeof full !== 'string') throw file.fault(`has an assertion in ${name} without a type`);
  const weight = Number(own) * share;
  if (!Number.isFinite(weight) || weight < 0)
    throw file.fault(`has the weight ${JSON.stringify(own)} in ${name}; write a number`);
  // Of weight 0: reported by promptfoo, not scored.
  if (weight === 0) return [];
  if (full === 'assert-set') {
    if (threshold != null) note('threshold is not applied: a reward is the weighted mean');
    const inner = Array.isArray(given['assert']) ? (given['assert'] as unknown[]) : [];
    const sum = inner.reduce<number>((total, one) => total + Number(asObject(one)?.['weight'] ?? 1), 0);
    return (await Promise.all(inner.map((one) => readAssertion(context, one, weight / (sum || 1))))).flat();
  }
  const not = full.startsWith('not-');
  const type = full.replace(/^not-/, '');
  if (Object.hasOwn(unscored, type)) {
    note(`${full} ${unscored[type]}`);
    return [];
  }
  if (!assertionTypes.includes(type)) {
    const meant = closestName(type, assertionTypes);
    throw file.fault(`has an unknown assertion ${full} in ${name}${meant === null ? '' : `; did you mean ${meant}?`}`);
  }
  if (!Object.hasOwn(forms, type)) throw file.fault(`has no scorer for ${full}; ${inPlace}`, 'scorer');
  if (threshold != null) note('threshold is not applied: a reward is the weighted mean');
  const judge = judgeOf(context, given['provider'] ?? context.judge);
  const read = { type, not, weight, judge, ...(await valueOf(context, given, type)) };
  if (!canMap(read))
    throw file.fault(
      `has ${full} in ${name} with a value that does not map${type === 'regex' ? ' (RE2 has no look-around and back-references)' : ''}: ${JSON.stringify(read.value)?.slice(0, 100)}; ${inPlace}`,
      'scorer',
    );
  if (!Object.hasOwn(splitForms, type) || patternOfAll(read.value, type === 'icontains-all' ? 'i' : '') !== null)
    return [read];
  if (not)
    throw file.fault(`has ${full} in ${name}, which does not map; write a not-${splitForms[type]} for each`, 'scorer');
  note(`${type} of many or long values is scored by their share`);
  const values = listOf(read.value);
  return values.map((value) => ({ ...read, type: splitForms[type]!, value, weight: weight / values.length }));
}

const inPlace = 'leave it out with --scorer mapped, or give a scorer of your own';

/** The value of an assertion, rendered, or that of the file that it names. */
async function valueOf(
  { file, vars, name, readsJson }: AssertionContext,
  { value, config }: Fields,
  type: string,
): Promise<{ value: unknown; code?: string }> {
  const where = `${type} of ${name}`;
  const path = file.reference(value);
  const seen = { readsJson, ...(config != null && { config: renderedValue(file, config, vars, where) }) };
  if (path === null) {
    const filled = renderedValue(file, value, vars, where);
    if (type !== 'javascript')
      return { value: typeof filled === 'string' && /json$/.test(type) ? parsed(file, filled, where) : filled };
    if (typeof filled !== 'string' || filled.trim() === '') return { value: filled };
    return { value: filled, code: functionOf(filled, seen) };
  }
  const [, plain = path, own = null] = /^(.*\.[cm]?[jt]s):(\w+)$/.exec(path) ?? [];
  if (type === 'javascript' && /\.[cm]?js$/.test(plain)) {
    const code = functionOfFile(await file.text(plain), own, seen);
    if (code === null)
      throw file.fault(`has ${String(value)} in ${name}, which imports or waits; ${inPlace}`, 'scorer');
    return { value, code };
  }
  if (notText.test(path)) throw file.fault(`has ${String(value)} as ${where}, which is not run; ${inPlace}`, 'scorer');
  if (['.json', '.yaml', '.yml'].includes(extname(path))) return { value: await file.read(path) };
  return { value: renderedValue(file, (await file.text(path)).trim(), vars, where) };
}

/** A schema that is written as a text. */
function parsed(file: PromptfooFile, text: string, where: string): unknown {
  if (text.trim() === '') return null;
  const value = parseYaml(text, `${where}: the schema`);
  if (!isObject(value)) throw file.fault(`has ${where} with a schema that is no object; ${inPlace}`, 'scorer');
  return value;
}

/** The judge of an assertion; that of the file has no settings here. */
function judgeOf({ file, policy, given, note, modelOf }: AssertionContext, provider: unknown): Assertion['judge'] {
  if (provider == null) return modelOf(policy);
  // By kind of use: only texts are judged.
  const byKind = asObject(provider);
  const [entry] = modelsOf(file, byKind && Object.hasOwn(byKind, 'text') ? byKind['text'] : provider);
  if (entry && Object.keys(entry.config).length > 0) note(`the settings of the judge ${entry.id} are not used`);
  if (entry?.name != null) return modelOf(entry.name);
  if (!given.model)
    throw file.fault(
      `has the judge ${entry?.id ?? JSON.stringify(provider)}, which does not map; name one model for answers and judge with --model`,
      'model',
    );
  note(`the judge ${entry?.id} is replaced by --model`);
  return modelOf(policy);
}
