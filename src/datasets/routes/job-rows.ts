/** The rows of a job on a data set, with the prompt that they fill. */
import { closestName } from '../../contracts/close-names.js';
import type { RowsRequest } from '../contract/rows.js';
import { comparesFields, expectedProblem, judgesOf, needsExpected, type ScorerSpec } from '../../scorers/index.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import type { Message } from '../../core/prompts/message.js';
import { columnFinder, expectedOf, inputName, rowPlaceholders } from '../../core/prompts/row-template.js';
import { bracedNames, isPlainName, type IsInput } from '../../core/prompts/template.js';
import type { RowContent } from '../../core/prompts/row-groups.js';
import { createTurns } from '../../util/turns.js';
import type { NewDataset } from '../store/datasets.js';
import { listed, pointerOf, refuse, type FieldError } from '../../platform/http/server/errors.js';
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
  warnings: string[];
}

/** Throws with all invalid fields. `path`: that of the fields in the body. */
export function jobRows(
  source: Rows,
  checks: ScorerChecks,
  { dataset: named, scorer, provider, messages: given, promptPath }: RowsFields,
  path: Path,
): JobRows {
  const { dataset } = source;
  const names = dataset.columns.map(({ name }) => name);
  const wanted = knownForms(named, names);
  const columnOf = columnFinder(names, wanted.input);
  const isInput: IsInput = (name) => name === inputName || columnOf(name) !== null;
  const messages = withInput(given, isInput);
  const errors = scorerErrors(scorer, provider, [...path, 'scorer'], checks);
  const refusePrompt = (message: string) => errors.push({ pointer: pointerOf(promptPath), message });
  for (const problem of mistakes(given, isInput, names)) refusePrompt(problem);
  const hasExpected = names.includes(wanted.expected);
  const placeholders = rowPlaceholders(messages, isInput).map((name) => {
    const column = columnOf(name);
    if (column === null) {
      const message = `must name a column for {{${inputName}}}${hint(wanted.input, names)}`;
      errors.push({ pointer: pointerOf([...path, 'dataset', 'input']), message });
    } else if (column === wanted.expected && wanted.input !== wanted.expected) {
      refusePrompt(
        `has {{${name}}}, the column of right answers, which would tell the model each answer; remove it, or name another column as dataset.expected`,
      );
    }
    return [name, column ?? wanted.input];
  });
  const spec: RowsSpec = {
    datasetId: dataset.id,
    numRows: dataset.numRows,
    placeholders: Object.fromEntries(placeholders) as Record<string, string>,
    columns: names,
    expected: hasExpected ? wanted.expected : null,
    scorer,
  };
  const isLabel = !comparesFields(scorer) && (columnNamed(dataset, spec.expected)?.labels.length ?? 0) > 0;
  if (judgesOf(scorer).length > 0 && isLabel) spec.labels = true;
  if (!hasExpected && (needsExpected(scorer) || wanted.expected !== 'expected')) {
    const message = `must name the column with the right answers${hint(wanted.expected, names)}`;
    errors.push({ pointer: pointerOf([...path, 'dataset', 'expected']), message });
  }
  if (errors.length > 0) throw refuse.invalid(errors);
  return { source, spec, messages, warnings: inputWarnings(dataset, spec.placeholders) };
}

/** The columns of the forms of openai/evals (`ideal`) and of fine-tuning files (`messages`). */
export function knownForms(
  { input, expected }: RowsFields['dataset'],
  names: readonly string[],
): RowsFields['dataset'] {
  const has = (name: string) => names.includes(name);
  const isChat = input === 'input' && !has('input') && has('messages');
  if (expected !== 'expected' || has('expected')) return { input: isChat ? 'messages' : input, expected };
  const answers = has('ideal') ? 'ideal' : isChat ? 'messages' : expected;
  return { input: isChat ? 'messages' : input, expected: answers };
}

/** What a create tells about rows without an input. */
export function inputWarnings(
  { columns, numRows }: NewDataset,
  placeholders: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(placeholders).flatMap(([name, column]) => {
    const empty = numRows - (columns.find((known) => known.name === column)?.num_values ?? numRows);
    if (empty === 0 || (name !== 'input' && Object.keys(placeholders).length > 1)) return [];
    return [`${empty} of ${numRows} rows have no value in the column "${column}", so {{${name}}} is empty there.`];
  });
}

function withInput(messages: readonly Message[], isInput: IsInput): Message[] {
  if (rowPlaceholders(messages, isInput).length > 0) return [...messages];
  return [...messages, { role: 'user', content: `{{${inputName}}}` }];
}

/** Maximum names of braces times columns that are compared. */
const maxCompared = 50_000;

/** Braces around a name that was probably meant to be a column: other braces are literal. */
function mistakes(messages: readonly Message[], isInput: IsInput, columns: readonly string[]): string[] {
  const hasInput = rowPlaceholders(messages, isInput).length > 0;
  const others = [...new Set(messages.flatMap(({ content }) => bracedNames(content)))];
  return others
    .filter((name) => isPlainName(name) && !isInput(name))
    .slice(0, maxCompared / columns.length)
    .filter((name) => !hasInput || closestName(name, columns) !== null)
    .slice(0, listed)
    .map((name) => `has {{${name}}}, which is no column${hint(name, columns)}${hasInput ? '' : literally}`);
}

const literally = '. To send such braces as they are, give the input a message of its own: {{input}}';

/** The column that a name probably means, or the columns. */
export function hint(name: string, columns: readonly string[]): string {
  const meant = closestName(name, columns);
  if (meant !== null) return `; did you mean \`${meant}\`?`;
  const shown = columns.slice(0, listed).map((column) => `"${column}"`);
  return `; the columns are ${shown.join(', ')}`;
}

/** The expected value of each row where these repeat, as labels do; null otherwise. */
export async function categoriesOf({ source, spec }: JobRows): Promise<string[] | null> {
  const column = columnNamed(source.dataset, spec.expected);
  if (!column?.num_distinct || 2 * column.num_distinct > column.num_values) return null;
  const values = await source.column(spec.expected!);
  return values.map(({ value }) => JSON.stringify(expectedOf(value, spec) ?? null));
}

const columnNamed = ({ columns }: NewDataset, wanted: string | null) => columns.find(({ name }) => name === wanted);

/** What each row holds, by what the prompt and the scorer read of it. */
export async function rowContents({ source, spec }: JobRows): Promise<RowContent[]> {
  const columns = [...new Set(Object.values(spec.placeholders))];
  const [rows, expected, inputs, words] = await Promise.all([
    source.digests(null),
    spec.expected === null ? [] : source.digests(spec.expected),
    Promise.all(columns.map((column) => source.digests(column))),
    Promise.all(columns.map((column) => source.digests(column, 'words'))),
  ]);
  const joined = (parts: readonly string[][], at: number) => parts.map((column) => column[at]).join('\n');
  return rows.map((row, at) => {
    return { row, input: joined(inputs, at), words: joined(words, at), expected: expected[at] ?? '' };
  });
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
  { source, spec }: JobRows,
  seeds: readonly number[],
): AsyncGenerator<{ row: number; problem: string }> {
  const { expected, scorer } = spec;
  if (expected === null || !needsExpected(scorer)) return;
  const rows = [...new Set(seeds)].sort((left, right) => left - right);
  const turns = createTurns();
  for await (const values of source.values(expected, rows)) {
    for (const { row, value } of values) {
      await turns();
      const problem = expectedProblem(scorer, expectedOf(value, spec));
      if (problem !== null) yield { row, problem };
    }
  }
}
