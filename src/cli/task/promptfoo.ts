/** Reads a promptfooconfig.yaml: prompt, model, rows and scorer; what it cannot read, it names. */
import { asObject } from '../../util/json.js';
import { anyFiles, filesBeside, type Files } from './files.js';
import { modelOf } from './model-name.js';
import type { Parameters } from './policy.js';
import type { Prompt } from './prompt-file.js';
import { forms } from './promptfoo/assertions.js';
import { readModel, readPrompt, type ChosenModel, type ChosenPrompt, type Context } from './promptfoo/chosen.js';
import { entriesOf, hasAsserts, isRun } from './promptfoo/entries.js';
import { Faults, quoted } from './promptfoo/faults.js';
import { checkFields, topFields } from './promptfoo/fields.js';
import { PromptfooFile } from './promptfoo/file.js';
import { textOf } from './promptfoo/expressions.js';
import { valueOf } from './promptfoo/templates.js';
import { readTest, type ReadTest } from './promptfoo/test.js';
import { mapAssertions } from './row-scorer.js';

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

/** The scorer of an option that leaves out the assertions that do not map. */
const mapped = 'mapped';

/**
 * Reads the file; options of the command choose among its prompts and models, or replace them. All
 * faults are told at once, with the options that resolve them.
 */
export async function readPromptfoo(
  path: string,
  given: Context['given'],
  files: Files = anyFiles,
): Promise<PromptfooTask> {
  const file = new PromptfooFile(path, filesBeside(path, files));
  const config = asObject(await file.read(path));
  if (!config) throw file.fault('must be an object with prompts, providers and tests');
  const notes = new Set<string>();
  const faults = new Faults();
  const context = { file, given, faults, modelOf, note: (text: string) => void notes.add(text) };
  checkFields(file, config, topFields, { where: '', note: context.note });
  if (config['tests'] == null && config['scenarios'] == null && config['redteam'] != null)
    throw file.fault('has no tests but a redteam, whose attacks promptfoo writes when it runs; give tests of your own');

  const prompt = await readPrompt(context, config['prompts']);
  const model = await readModel(context, config['providers'] ?? config['targets']);
  const scored = await faults.try(() => readScored(context, config, prompt, model));
  faults.throw();
  return { prompt: prompt!.prompt, model: model!.model, policy: model!.policy, ...scored!, notes: [...notes] };
}

/** Rows and scorer; faults of the prompt and of the model are no faults of theirs. */
async function readScored(
  { file, given, faults, note }: Context,
  config: Record<string, unknown>,
  prompt: ChosenPrompt | null,
  model: ChosenModel | null,
): Promise<Pick<PromptfooTask, 'rows' | 'scorer' | 'expected'>> {
  const { defaults, entries: all } = await entriesOf(file, config);
  if (all.length === 0) throw file.fault('has no tests; promptfoo then only shows the answers');
  const entries = prompt && model ? all.filter((test) => isRun({ ...defaults, ...test }, prompt, model)) : all;
  if (entries.length < all.length)
    note(`${all.length - entries.length} of ${all.length} tests are for other prompts or models`);
  const isReplaced = given.scorer !== undefined && given.scorer !== mapped;
  const context = {
    file,
    defaults,
    note,
    faults,
    modelOf,
    policy: model?.model ?? given.model ?? 'local',
    readsJson: /^json/.test(String(asObject(model?.policy['response_format'])?.['type'])),
    given: { model: given.model !== undefined, scorer: isReplaced, mapped: given.scorer === mapped },
    dropped: new Map<string, number>(),
  };
  const read = await Promise.all(
    entries.map((test, at) => faults.try(() => readTest(context, test, `test ${at + 1}`))),
  );
  const tests = read.flatMap((one) => one ?? []);
  if (isReplaced) {
    if (hasAsserts(entries, defaults)) note('--scorer takes the place of all assertions');
    return { rows: rowsOf(tests, prompt, file, faults), scorer: null, expected: null };
  }
  const scored = tests.filter(({ asserts }) => asserts.length > 0);
  // The advice names a scorer of one's own where none maps.
  if (scored.length === 0) faults.values.scorer = ownScorer;
  if (!hasAsserts(entries, defaults))
    faults.add(file.fault(`has tests without assertions; give --scorer ${quoted(ownScorer)}`, 'scorer'));
  if (faults.count > 0) return { rows: rowsOf(tests, prompt, file, faults), scorer: null, expected: null };
  if (context.dropped.size > 0) {
    const types = [...context.dropped].map(([type, count]) => `${type} (${count})`).join(', ');
    note(`--scorer mapped leaves out the assertions ${types}`);
  }
  if (scored.length === 0)
    throw file.fault(`has tests without an assertion that maps; give --scorer ${quoted(ownScorer)}`, 'scorer');
  const skipped = tests.length - scored.length;
  if (skipped > 0) note(`${skipped} of ${tests.length} tests have no assertion that scores and are left out`);
  const {
    scorer,
    expected: values,
    notes,
  } = mapAssertions(
    scored.map(({ asserts }) => asserts),
    forms,
  );
  notes.forEach(note);
  const rows = rowsOf(scored, prompt, file, faults);
  const expected =
    ['expected', '__expected'].find((name) => rows.every((row) => !Object.hasOwn(row, name))) ?? '___expected';
  return {
    scorer,
    expected: values && expected,
    rows: values ? rows.map((row, at) => ({ ...row, [expected]: values[at] })) : rows,
  };
}

const ownScorer = '{"type": "rubric", "criteria": "…", "model": "…"}';

/** The vars of the tests, with a column for each expression that the prompt has. */
function rowsOf(
  tests: readonly ReadTest[],
  chosen: ChosenPrompt | null,
  file: PromptfooFile,
  faults: Faults,
): Record<string, unknown>[] {
  const { prompt = null, names = [], literals = [] } = chosen ?? {};
  const refuse = (problem: string) =>
    faults.add(file.fault(`${problem}, or name a prompt with --prompt FILE`, 'prompt'));
  // Without one, the service would add the input of a row, which promptfoo does not.
  if (prompt && names.length === 0)
    refuse('has a prompt without a var, so that each test asks the same; write {{name}} for a var');
  const hasVar = (name: string) => tests.some(({ vars }) => valueOf(vars, name) !== undefined);
  // A var of some tests is empty in the others, as in promptfoo; one of none is a mistake.
  const odd = tests.length === 0 ? undefined : names.find((name) => !hasVar(name));
  if (odd !== undefined) refuse(`has {{${odd}}} in its prompt, which is no var of any test; add it`);
  const literal = literals.find(hasVar);
  if (literal !== undefined)
    refuse(`has {{${literal}}} in its prompt as a text, which would be a var here; rename the var`);
  return tests.map(({ vars }) => {
    const others = names.filter((name) => !Object.hasOwn(vars, name));
    const found = others.map((name) => [name, valueOf(vars, name)] as const);
    const known = found.filter(([, value]) => value !== undefined);
    return {
      ...vars,
      ...Object.fromEntries(known.map(([name, value]) => [name, Array.isArray(value) ? textOf(value) : value])),
    };
  });
}
