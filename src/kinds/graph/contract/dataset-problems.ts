/** Cross-field validation of data sets. */
import { valueAt } from '../../../contracts/validation.js';
import { datasetLimits, taskDescription, taskInput } from './dataset.js';
import { maxFields } from '../../../scorers/json.js';
import { readsRubric, verifierOf } from '../../../scorers/verifier.js';
import { isObject } from '../../../util/json.js';

/** A path within a data set. */
export type Path = readonly (string | number)[];

export interface DatasetProblem {
  path: Path;
  /** A predicate for the field's name. */
  message: string;
}

/** Maximum reported problems of one kind. */
const maxPerKind = 20;

/**
 * At most 20 problems of a kind; ignores values that do not match the schema. `hasJudge`: the
 * request names the judge outside of the data set.
 */
export function datasetProblems(dataset: unknown, hasJudge = false): DatasetProblem[] {
  if (!isObject(dataset)) return [];
  const bytes = Buffer.byteLength(JSON.stringify(dataset));
  if (bytes > datasetLimits.bytes) return [{ path: [], message: `has ${bytes} bytes as JSON; ${atMost.bytes}` }];
  // Rows of the service are read later.
  if (dataset['tasks'] === undefined && dataset['dataset_id'] !== undefined) return contentProblems(dataset, hasJudge);
  if (!Array.isArray(dataset['tasks'])) return [];
  const count = dataset['tasks'].length;
  if (count === 0) return [{ path: ['tasks'], message: 'must hold at least one task' }];
  if (count > datasetLimits.tasks) return [{ path: ['tasks'], message: `holds ${count} tasks; ${atMost.tasks}` }];
  return contentProblems(dataset, hasJudge);
}

const atMost = {
  bytes: `at most ${datasetLimits.bytes} are allowed`,
  tasks: `at most ${datasetLimits.tasks} are allowed`,
} as const;

/** Why a data set of the service is too large for a graph job, as a predicate, or null. */
export function rowsProblem({ numRows, bytes }: { numRows: number; bytes: number }): string | null {
  if (numRows > datasetLimits.tasks) return `has ${numRows} rows; ${atMost.tasks} in a graph job`;
  return bytes > datasetLimits.bytes ? `has ${bytes} bytes as JSON; ${atMost.bytes} in a graph job` : null;
}

/** As `datasetProblems`, of a data set within the limits. */
export function contentProblems(dataset: Record<string, unknown>, hasJudge: boolean): DatasetProblem[] {
  const tasks = namedEntries(dataset['tasks'], 'id');
  const golds = namedEntries(dataset['gold_outputs'], 'task_id');
  const kinds = [
    metadataProblems(dataset['metadata']),
    duplicates(tasks, ['tasks', 'id']),
    duplicates(golds, ['gold_outputs', 'task_id']),
    goldProblems(dataset, tasks, golds),
    rubricProblems(dataset, tasks, golds),
    verifierProblems(dataset, hasJudge),
    fieldProblems(tasks),
  ];
  return kinds.flatMap((problems) => [...take(problems, maxPerKind)]);
}

function* metadataProblems(metadata: unknown): Generator<DatasetProblem> {
  const description = isObject(metadata) ? taskDescription(metadata) : null;
  const most = datasetLimits.textChars;
  if (description === null || description.text.length <= most) return;
  const message = `has ${description.text.length} characters; at most ${most} are allowed`;
  yield { path: ['metadata', description.name], message };
}

interface NamedEntry {
  index: number;
  name: string;
  entry: Record<string, unknown>;
}

function namedEntries(list: unknown, field: string): NamedEntry[] {
  return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((entry, index) => {
    const name = isObject(entry) ? entry[field] : undefined;
    return isObject(entry) && typeof name === 'string' ? [{ index, name, entry }] : [];
  });
}

function* duplicates(list: readonly NamedEntry[], [where, field]: [string, string]): Generator<DatasetProblem> {
  const indexes = new Map<string, number>();
  for (const { index, name } of list) {
    const earlier = indexes.get(name);
    if (earlier === undefined) indexes.set(name, index);
    else yield { path: [where, index, field], message: `repeats "${name}" of dataset.${where}[${earlier}]` };
  }
}

function* goldProblems(
  dataset: Record<string, unknown>,
  tasks: readonly NamedEntry[],
  golds: readonly NamedEntry[],
): Generator<DatasetProblem> {
  const ids = new Set(tasks.map(({ name }) => name));
  const mode = valueAt(dataset, 'verifier_config', 'mode');
  const verifier = verifierOf(mode);
  const isOfFields = verifier && 'score' in verifier && verifier.rightAnswer === 'object';
  for (const { index, name, entry } of golds) {
    const path = ['gold_outputs', index];
    if (!ids.has(name)) {
      yield { path: [...path, 'task_id'], message: `is "${name}", which is not the id of a task` };
    }
    if (isOfFields && entry['output'] !== undefined && !isObject(entry['output'])) {
      yield { path: [...path, 'output'], message: `must be an object in mode ${String(mode)}` };
    }
  }
  if (verifier === null || readsRubric(mode)) return;
  const withGold = new Set(golds.map(({ name }) => name));
  for (const { index, name } of tasks) {
    if (withGold.has(name)) continue;
    const message = `has no gold output (task "${name}"), which mode ${String(mode)} requires: add one to gold_outputs`;
    yield { path: ['tasks', index], message };
  }
}

function* rubricProblems(
  dataset: Record<string, unknown>,
  tasks: readonly NamedEntry[],
  golds: readonly NamedEntry[],
): Generator<DatasetProblem> {
  const isGuided = valueAt(dataset, 'verifier_config', 'scoring_guidelines') !== undefined;
  const mode = valueAt(dataset, 'verifier_config', 'mode');
  if (!readsRubric(mode) || isGuided || !isNoRubric(dataset['default_rubric'])) return;
  const without = tasks.filter(({ entry }) => isNoRubric(entry['rubric']));
  if (without.length === tasks.length) {
    const withGold = new Set(golds.map(({ name }) => name));
    if (tasks.every(({ name }) => withGold.has(name))) return;
    const message = `is required in mode ${String(mode)} unless each task has a rubric, or each has a gold output`;
    yield { path: ['default_rubric'], message };
    return;
  }
  for (const { index, name } of without) {
    const message = `is required for task "${name}" in mode ${String(mode)} without default_rubric`;
    yield { path: ['tasks', index, 'rubric'], message };
  }
}

/** No rubric, or one of the existing client's form without a criterion of the outcome. */
function isNoRubric(rubric: unknown): boolean {
  if (rubric === undefined) return true;
  if (!isObject(rubric) || Object.hasOwn(rubric, 'criteria')) return false;
  const criteria = valueAt(rubric, 'outcome', 'criteria');
  return criteria === undefined || (Array.isArray(criteria) && criteria.length === 0);
}

function* verifierProblems(dataset: Record<string, unknown>, hasJudge: boolean): Generator<DatasetProblem> {
  const config = dataset['verifier_config'];
  const verifier = verifierOf(valueAt(config, 'mode'));
  if (!isObject(config) || verifier === null) return;
  if ('criteria' in verifier && config['model'] === undefined && !hasJudge) {
    yield {
      path: ['verifier_config', 'model'],
      message: `is required in mode ${String(config['mode'])}: it names the judge`,
    };
  }
  const { fields } = config;
  const count = isObject(fields) ? Object.keys(fields).length : null;
  if (count === 0) yield { path: ['verifier_config', 'fields'], message: 'must name at least one field' };
  if (count !== null && count > maxFields) {
    const message = `names ${count} fields; at most ${maxFields} are allowed`;
    yield { path: ['verifier_config', 'fields'], message };
  }
}

/** Fields that only some inputs have; reports the smaller group. */
function* fieldProblems(tasks: readonly NamedEntry[]): Generator<DatasetProblem> {
  const inputs = tasks.flatMap(({ index, name, entry: { input } }) =>
    typeof input === 'string' || isObject(input) ? [{ index, name, fields: taskInput(input) }] : [],
  );
  const counts = new Map<string, number>();
  for (const { fields } of inputs) {
    for (const field of Object.keys(fields)) counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  for (const [field, having] of counts) {
    if (having === inputs.length) continue;
    const isMissing = having * 2 >= inputs.length;
    for (const { index, name, fields } of inputs) {
      if (Object.hasOwn(fields, field) === isMissing) continue;
      const message = isMissing
        ? `of task "${name}" lacks the field "${field}", which other tasks have: give every task the same fields`
        : `of task "${name}" has the field "${field}", which most tasks lack: give every task the same fields`;
      yield { path: ['tasks', index, 'input'], message };
    }
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left-- <= 0) return;
    yield item;
  }
}
