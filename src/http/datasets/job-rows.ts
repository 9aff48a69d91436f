/** The rows of a job on a data set, with the prompt that they fill. */
import { closestName } from '../../contracts/close-names.js';
import type { RowsRequest } from '../../contracts/datasets/rows.js';
import { comparesFields, judgesOf, needsExpected, type ScorerSpec } from '../../contracts/scoring/scorer.js';
import type { Message, RowsSpec } from '../../core/jobs/spec.js';
import { rowPlaceholders } from '../../core/prompts/row-template.js';
import { expectedProblem } from '../../core/verify/compare.js';
import type { NewDataset } from '../../storage/datasets/datasets.js';
import { listed, pointerOf, refuse, type FieldError } from '../server/errors.js';
import type { Rows } from './row-source.js';
import { scorerErrors, type ScorerChecks } from './scorer-errors.js';

type Path = readonly string[];

/** The fields of a create that name rows, a scorer and a prompt. */
export interface RowsFields {
  dataset: Pick<RowsRequest, 'input' | 'expected'>;
  scorer: ScorerSpec;
  /** Provider of the policy. */
  provider: string;
  messages: readonly Message[];
  /** Where the prompt is in the body. */
  promptPath: Path;
}

export interface JobRows {
  source: Rows;
  spec: RowsSpec;
  /** The prompt; without a placeholder of its own, the row's input follows it. */
  messages: Message[];
}

/** Throws with all invalid fields. `path`: that of the fields in the body. */
export function jobRows(
  source: Rows,
  checks: ScorerChecks,
  { dataset: wanted, scorer, provider, messages: given, promptPath }: RowsFields,
  path: Path,
): JobRows {
  const { dataset } = source;
  const messages = withInput(given);
  const names = dataset.columns.map(({ name }) => name);
  const errors = scorerErrors(scorer, provider, [...path, 'scorer'], checks);
  const placeholders = rowPlaceholders(messages).map((name) => {
    const column = name === 'input' ? wanted.input : name;
    if (!names.includes(column)) {
      const isInput = name === 'input';
      const pointer = pointerOf(isInput ? [...path, 'dataset', 'input'] : promptPath);
      const what = isInput ? 'must name a column for {{input}}' : `has {{${name}}}, which is no column`;
      errors.push({ pointer, message: `${what}${hint(column, names)}` });
    }
    return [name, column];
  });
  const hasExpected = names.includes(wanted.expected);
  const spec: RowsSpec = {
    datasetId: dataset.id,
    numRows: dataset.numRows,
    placeholders: Object.fromEntries(placeholders) as Record<string, string>,
    expected: hasExpected ? wanted.expected : null,
    scorer,
  };
  const isLabel = !comparesFields(scorer) && isCategorical(dataset, spec.expected);
  if (judgesOf(scorer).length > 0 && isLabel) spec.labels = true;
  if (!hasExpected && (needsExpected(scorer) || wanted.expected !== 'expected')) {
    const message = `must name the column with the right answers${hint(wanted.expected, names)}`;
    errors.push({ pointer: pointerOf([...path, 'dataset', 'expected']), message });
  }
  if (errors.length > 0) throw refuse.invalid(errors);
  return { source, spec, messages };
}

function withInput(messages: readonly Message[]): Message[] {
  if (rowPlaceholders(messages).length > 0) return [...messages];
  return [...messages, { role: 'user', content: '{{input}}' }];
}

function hint(name: string, columns: readonly string[]): string {
  const meant = closestName(name, columns);
  if (meant !== null) return `; did you mean \`${meant}\`?`;
  const shown = columns.slice(0, listed).map((column) => `"${column}"`);
  return `; the columns are ${shown.join(', ')}`;
}

/** Columns with more distinct values are no categories. */
const maxCategories = 50;

/** The expected value of each row where these are categories, such as labels; null otherwise. */
export async function categoriesOf({ source, spec: { expected } }: JobRows): Promise<string[] | null> {
  if (!isCategorical(source.dataset, expected)) return null;
  const values = await source.column(expected!);
  return values.map(({ value }) => JSON.stringify(value ?? null));
}

function isCategorical({ columns, numRows }: NewDataset, expected: string | null): boolean {
  const distinct = columns.find(({ name }) => name === expected)?.num_distinct ?? Infinity;
  return distinct <= maxCategories && 2 * distinct <= numRows;
}

/** Refuses rows whose expected value the scorer cannot use, and names at most twenty. */
export async function checkExpected(rows: JobRows, seeds: readonly number[], path: Path): Promise<void> {
  const errors: FieldError[] = [];
  for await (const { row, problem } of unusableRows(rows, seeds)) {
    const message = `names the column "${rows.spec.expected}", whose value in row ${row} ${problem}`;
    errors.push({ pointer: pointerOf([...path, 'dataset', 'expected']), message });
    if (errors.length >= listed) break;
  }
  if (errors.length > 0) throw refuse.invalid(errors);
}

/** The rows whose expected value the scorer cannot use, in their order, and why. */
export async function* unusableRows(
  { source, spec: { expected, scorer } }: JobRows,
  seeds: readonly number[],
): AsyncGenerator<{ row: number; problem: string }> {
  if (expected === null || !needsExpected(scorer)) return;
  const rows = [...new Set(seeds)].sort((left, right) => left - right);
  for await (const values of source.values(expected, rows)) {
    for (const { row, value } of values) {
      const problem = expectedProblem(scorer, value === '' ? undefined : value);
      if (problem !== null) yield { row, problem };
    }
  }
}
