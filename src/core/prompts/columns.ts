/** What the columns of a data set are probably for, by their names and values. */
import type { LabelCount } from './drafted.js';
import { isPlainName } from './template.js';

export interface ColumnFacts {
  name: string;
  /** Rows with a value. */
  num_values: number;
  /** null: many, or long ones. */
  num_distinct: number | null;
  /** Mean characters of a value. */
  mean_chars: number;
  /** Empty: its values are no labels. */
  labels: readonly LabelCount[];
}

const listed = (words: string) => words.split(' ');

/** The most usual name first. */
const answerNames = listed(
  'expected ideal label labels answer answers output target gold category class intent sentiment topic ' +
    'completion response reference solution summary translation',
);
const inputNames = listed(
  'input text question prompt message query sentence review comment tweet content body utterance ' +
    'instruction problem ticket email',
);
/** Words of longer names, such as `correct_choice`. */
const answerWords = listed('expected correct answer label target gold truth category class');
/** The longest name whose words are looked at: longer ones are questions of a survey. */
const mostWords = 4;
const optionWords = new Set(['option', 'options', 'choice', 'choices']);
/** Columns without which a question cannot be answered. */
const besideWords = new Set([
  ...optionWords,
  ...listed('passage passages context contexts document article story paragraph premise hypothesis contract text'),
]);
/** Last words of names whose values neither ask nor answer. */
const asideWords = new Set(
  listed(
    'id uuid guid idx index key url link href date time timestamp datetime at no nr number split fold ' +
      'latitude longitude lat lon lng',
  ),
);
/** Values that are shorter on average are cells of a table, not texts. */
const textChars = 20;
/** Cells of a table that one message shows. */
const mostCells = 12;

/** The columns that are probably input and right answer; an empty text: none. */
export function guessColumns(columns: readonly ColumnFacts[]): { input: string; expected: string } {
  const usable = columns.filter(isUsable);
  const filled = columns.filter(({ num_values: values }) => values > 0);
  const answer = named(filled, answerNames) ?? withWord(usable, answerWords);
  const others = filled.filter((column) => column !== answer);
  const asked = named(others, inputNames) ?? others.find(isInputName);
  const expected = answer ?? answerAmong(usable, asked);
  const input = asked ?? longest(usable.filter((column) => column !== expected));
  const fallback = columns.find((column) => column !== expected);
  return { input: (input ?? fallback)?.name ?? '', expected: expected?.name ?? '' };
}

/** The columns of a message that shows more than the input, in order; empty: the input alone. */
export function shownColumns(columns: readonly ColumnFacts[], chosen: { input: string; expected: string }): string[] {
  const { input, expected } = chosen;
  const [main] = columns.filter(({ name }) => name === input);
  const others = columns.filter(
    (column) => column !== main && column.name !== expected && isUsable(column) && !isAnswerName(column),
  );
  const isCell = main !== undefined && main.mean_chars < textChars && !isInputName(main);
  const isTable = isCell && others.length <= mostCells && others.every(({ mean_chars: chars }) => chars < textChars);
  const beside = isTable ? others : others.filter((column) => isBeside(column, input));
  if (main === undefined || beside.length === 0) return [];
  const shown = columns.filter((column) => column === main || beside.includes(column)).map(({ name }) => name);
  return shown.every(isPlainName) ? shown : [];
}

/** Whether each row shows the answers that it allows, which are not those of all rows. */
export const showsOptions = (shown: readonly string[]): boolean =>
  shown.some((name) => wordsOf({ name }).some((word) => optionWords.has(word)));

/** Labels of the answers, else the one column that is left. */
function answerAmong(usable: readonly ColumnFacts[], asked: ColumnFacts | undefined): ColumnFacts | undefined {
  if (usable.length < 2) return undefined;
  const read = asked ?? longest(usable);
  const free = usable.filter((column) => column !== read && !isInputName(column) && !isBeside(column, ''));
  return free.findLast(({ labels }) => labels.length > 0) ?? (free.length === 1 ? free[0] : undefined);
}

function longest(columns: readonly ColumnFacts[]): ColumnFacts | undefined {
  const most = Math.max(...columns.map(({ mean_chars: chars }) => chars));
  return most < textChars ? columns[0] : columns.find(({ mean_chars: chars }) => chars === most);
}

const named = (columns: readonly ColumnFacts[], names: readonly string[]) =>
  first(names, (name) => columns.find((column) => wordsOf(column).join(' ') === name));

const withWord = (columns: readonly ColumnFacts[], words: readonly string[]) =>
  first(words, (word) =>
    columns.find((column) => wordsOf(column).length <= mostWords && wordsOf(column).includes(word)),
  );

function first<T, U>(values: readonly T[], find: (value: T) => U | undefined): U | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isAnswerName = (column: ColumnFacts) => withWord([column], answerWords) !== undefined;
/** By its last word: `tweet_text`, and not `content type`. */
const isInputName = (column: ColumnFacts) => {
  const words = wordsOf(column);
  return words.length <= mostWords && inputNames.includes(words.at(-1)?.replace(/\d{1,3}$/, '') ?? '');
};

/** `sentence2` stands beside `sentence1`. */
function isBeside(column: ColumnFacts, input: string): boolean {
  const stem = (name: string) => name.toLowerCase().replace(/[ _-]?(?:\d|[a-z](?<=[ _-][a-z]))$/, '');
  const isPair = stem(input) !== input.toLowerCase() && stem(column.name) === stem(input);
  return isPair || wordsOf(column).some((word) => besideWords.has(word));
}

/** Neither empty, nor the same in all rows, nor a number of the row. */
function isUsable(column: ColumnFacts): boolean {
  const isSame = column.num_distinct === 1 && column.num_values > 1;
  const words = wordsOf(column);
  return column.num_values > 0 && !isSame && !asideWords.has(words.at(-1) ?? '') && !isUnnamed(column.name);
}

/** As a column without a name is called, here and in pandas. */
const isUnnamed = (name: string) => /^(?:column \d+|unnamed:? ?\d*|_unnamed)$/i.test(name);

function wordsOf({ name }: Pick<ColumnFacts, 'name'>): string[] {
  const spaced = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase();
  return spaced.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '');
}
