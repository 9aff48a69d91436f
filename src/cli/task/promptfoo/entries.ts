/** The entries of all tests of a promptfoo file, and what they have in common. */
import { asObject } from '../../../util/json.js';
import type { ChosenModel, ChosenPrompt } from './chosen.js';
import type { PromptfooFile } from './file.js';
import { testsOf, varsOf, type Fields } from './tests.js';

/** Tests, also those of scenarios. */
export async function entriesOf(file: PromptfooFile, config: Fields): Promise<{ defaults: Fields; entries: Fields[] }> {
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
    ...more,
    ...test,
    vars: { ...asObject(more['vars']), ...asObject(test['vars']) },
    assert: [...listOf(more['assert']), ...listOf(test['assert'])],
    ...(Object.keys(options).length > 0 && { options }),
  };
}

export function hasAsserts(entries: readonly Fields[], defaults: Fields): boolean {
  return [defaults, ...entries].some(({ assert }) => Array.isArray(assert) && assert.length > 0);
}

/** Whether a test is one of the chosen prompt and model; those of an option are of all tests. */
export function isRun(test: Fields, { entry: prompt }: ChosenPrompt, { entry: model }: ChosenModel): boolean {
  return (
    isAmong(test['prompts'], prompt && [prompt.label, prompt.source]) &&
    isAmong(test['providers'], model && [model.label, model.id])
  );
}

/** Names may be patterns with `*` at the end, or groups: `a` is also `a:b`. */
function isAmong(filter: unknown, names: readonly (string | null)[] | null): boolean {
  if (!Array.isArray(filter) || names === null) return true;
  return filter.some(
    (one) =>
      typeof one === 'string' &&
      names.some((name) =>
        one.endsWith('*') ? name?.startsWith(one.slice(0, -1)) : name === one || name?.startsWith(`${one}:`),
      ),
  );
}
