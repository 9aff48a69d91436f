/** Expected and answered values of rows whose answers are labels. */
import { groupBy } from '../../util/group.js';
import { trimEndOf } from '../../util/text.js';

/** Most labels, and most answers beside them, that a table shows. */
export const mostLabels = 30;
/** Characters of a label. */
const labelChars = 100;
/** An answer that is no label has a column if it is given so often. */
const leastGiven = 2;

interface Answered {
  /** null: the row has none. */
  expected: string | null;
  /** null: no answer, or its texts have expired. */
  answer: string | null;
}

/** `answers`: the labels, then other answers that are given often. */
export interface LabelTable {
  labels: string[];
  answers: string[];
}

/** `answered` null: an answer without a column. */
interface LabelCell {
  expected: string;
  answered: string | null;
  count: number;
}

/** Around labels in answers. */
const around = ' \t\r\n"\'`*.';

/** Without case, outer quotes, marks and white space, as answers give labels. */
function formOf(text: string): string {
  const end = trimEndOf(text.slice(0, 2 * labelChars), around);
  return end.replace(/^[ \t\r\n"'`*.]+/, '').toLowerCase();
}

/** The table of rows; null: their expected values are no labels. The same for rows in any order. */
export function labelTable(rows: readonly Answered[]): LabelTable | null {
  const expected = rows.flatMap((row) => row.expected ?? []);
  const labels = byCount(expected).map(([label]) => label);
  const isTable = labels.length > 0 && labels.length <= mostLabels && labels.length * 2 <= expected.length;
  if (!isTable || labels.some((label) => label.length > labelChars || label.trim() === '')) return null;
  const forms = new Set(labels.map(formOf));
  const others = rows.flatMap(({ answer }) => (answer === null ? [] : columnText(answer)));
  const often = byCount(others.filter((text) => !forms.has(formOf(text)))).filter(([, count]) => count >= leastGiven);
  return { labels, answers: [...labels, ...often.map(([text]) => text)].slice(0, mostLabels) };
}

function columnText(answer: string): string[] {
  const text = answer.trim();
  return text === '' || text.length > labelChars ? [] : [text];
}

/** Reads which column of a table an answer belongs to; null: none of its own. */
export function answerReader({ answers }: LabelTable): (answer: string) => string | null {
  const exactly = new Set(answers);
  const byForm = new Map([...answers].reverse().map((text) => [formOf(text), text]));
  return (answer) => {
    const text = answer.trim();
    if (exactly.has(text)) return text;
    return text.length > labelChars ? null : (byForm.get(formOf(text)) ?? null);
  };
}

/** The cells with rows, in the order of the table; rows without an answer are left out. */
export function labelCells(table: LabelTable, rows: readonly Answered[]): LabelCell[] {
  const read = answerReader(table);
  const [rowAt, columnAt] = [indexesOf(table.labels), indexesOf(table.answers)];
  const cells = new Map<string, LabelCell>();
  for (const { expected, answer } of rows) {
    if (expected === null || answer === null || !rowAt.has(expected)) continue;
    const answered = read(answer);
    const key = `${rowAt.get(expected)} ${answered === null ? '' : columnAt.get(answered)}`;
    const cell = cells.get(key);
    if (cell) cell.count += 1;
    else cells.set(key, { expected, answered, count: 1 });
  }
  const order = ({ expected, answered }: LabelCell) =>
    rowAt.get(expected)! * (mostLabels + 1) + (answered === null ? mostLabels : columnAt.get(answered)!);
  return [...cells.values()].sort((left, right) => order(left) - order(right));
}

const indexesOf = (texts: readonly string[]) => new Map(texts.map((text, index) => [text, index]));

/** Texts with their counts, the most frequent first, else by the text. */
function byCount(texts: readonly string[]): [string, number][] {
  const counts = [...groupBy(texts, (text) => text)].map(([text, all]): [string, number] => [text, all.length]);
  return counts.sort(([one, first], [two, second]) => second - first || (one < two ? -1 : 1));
}
