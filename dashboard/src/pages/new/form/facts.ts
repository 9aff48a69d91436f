/** What the rows of a data set are like, before a run. */
import type { LabelCount } from '../../../../../src/core/prompts/drafted.js';
import type { Dataset } from './draft.js';

/** Rows of a data set. */
export type DataRows = readonly Record<string, unknown>[];

export interface DataFacts {
  /** The rows that were read. */
  rows: number;
  /** Rows whose input an earlier row has. */
  duplicates: number;
  emptyInputs: number;
  emptyExpected: number;
  /** The right answers of all rows with their counts; empty: they are no labels. */
  labels: readonly LabelCount[];
  /** A name of a column that is one of its values, too; null: none. */
  valueAsName: string | null;
}

type Columns = Pick<Dataset['columns'][number], 'name' | 'labels'>[];

/** `expected` empty: there are no right answers. */
export function factsOf(
  rows: DataRows,
  { input, expected }: { input: string; expected: string },
  columns: Columns,
): DataFacts {
  const inputs = rows.map((row) => textOf(input === '' ? row : row[input]));
  const answers = expected === '' ? [] : rows.map((row) => row[expected]);
  const written = inputs.filter((text) => text !== '');
  return {
    rows: rows.length,
    duplicates: written.length - new Set(written).size,
    emptyInputs: inputs.length - written.length,
    emptyExpected: answers.filter((value) => textOf(value) === '').length,
    labels: columns.find(({ name }) => name === expected)?.labels ?? [],
    valueAsName: columns.find(({ name, labels }) => labels.some(({ label }) => label === name))?.name ?? null,
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).trim();
}

/** A label with this many times the rows of another one decides the mean alone. */
const lopsided = 5;

/** What to look at before a run; empty: nothing. */
export function dataWarnings(facts: DataFacts): string[] {
  const { duplicates, emptyInputs, emptyExpected, labels, valueAsName } = facts;
  const [most, least] = [labels[0], labels.at(-1)];
  return [
    valueAsName !== null &&
      `The first line names the columns, and “${valueAsName}” is also a value: if that line is a row, put a line of names above it.`,
    duplicates > 0 && `${rowsText(duplicates)} an input that an earlier row has.`,
    emptyInputs > 0 && `${rowsText(emptyInputs)} no input.`,
    emptyExpected > 0 && `${rowsText(emptyExpected)} no right answer.`,
    most &&
      least &&
      most.count >= lopsided * least.count &&
      `“${most.label}” has ${most.count} rows, “${least.label}” ${least.count}.`,
  ].filter((line) => typeof line === 'string');
}

const rowsText = (count: number) => (count === 1 ? '1 row has' : `${count} rows have`);
