/** What a create tells about its rows: forms that are read otherwise than they look. */
import { comparesFields, judgesOf, needsExpected } from '../../scorers/index.js';
import { unnamedLabels } from '../../core/diagnosis/rows.js';
import { listed } from '../../core/diagnosis/words.js';
import { counted } from '../../core/math/words.js';
import { chatDoubt } from '../../core/prompts/chat-rows.js';
import { containsWhole } from '../../core/verify/contains.js';
import { wholeNumber } from '../../core/verify/numbers.js';
import { asText } from '../../core/verify/text.js';
import type { JobRows } from './job-rows.js';

/** Rows that are looked at. */
const looked = 200;

/** Rows whose input may name the label. */
const sampledInputs = 20;
const listedLabels = 8;

/** Warns of labels in the expected column that the prompt does not name. */
export async function labelWarnings(rows: JobRows): Promise<string[]> {
  const { placeholders, expected, scorer, numRows } = rows.spec;
  if (expected === null || !needsExpected(scorer) || comparesFields(scorer) || judgesOf(scorer).length > 0) return [];
  const column = rows.source.dataset.columns.find(({ name }) => name === expected);
  const labels = (column?.labels ?? []).map(({ label }) => label).filter((label) => wholeNumber(label) === null);
  const prompt = rows.messages.map(({ content }) => content).join('\n');
  const unnamed = unnamedLabels({ labels, prompt });
  if (unnamed.length === 0) return [];
  const first = Array.from({ length: Math.min(sampledInputs, numRows) }, (_, row) => row);
  if (await nameInInputs(rows, first, [...new Set(Object.values(placeholders))], expected)) return [];
  const all = counted(labels.length, 'label');
  const which =
    unnamed.length === labels.length ? `names none of the ${all}` : `does not name ${unnamed.length} of the ${all}`;
  return [
    `The prompt ${which} in the column "${expected}" (${listed(unnamed, listedLabels)}), so a model can only guess them. Add to the prompt which answers there are.`,
  ];
}

/** Whether most inputs have the right answer in them, as where it is to be found there. */
async function nameInInputs(rows: JobRows, first: number[], columns: string[], expected: string): Promise<boolean> {
  const [answers, ...inputs] = await Promise.all(
    [expected, ...columns].map(async (column) => {
      const texts = new Map<number, string>();
      for await (const values of rows.source.values(column, first))
        for (const { row, value } of values) texts.set(row, asText(value).trim().toLowerCase());
      return texts;
    }),
  );
  const named = first.filter((row) => {
    const answer = answers!.get(row) ?? '';
    return answer !== '' && inputs.some((texts) => containsWhole(answer, texts.get(row) ?? ''));
  });
  return named.length * 2 > first.length;
}

interface Found {
  rows: number[];
  what: string;
}

/** Chats that reach the model as JSON, and lists of right answers that are texts. */
export async function formWarnings(rows: JobRows): Promise<string[]> {
  const { placeholders, expected, scorer, numRows } = rows.spec;
  const of = numRows > looked ? ` of the first ${looked}` : '';
  const warnings: string[] = [];
  for (const column of new Set(Object.values(placeholders))) {
    const { rows: found, what } = await find(rows, column, chatDoubt);
    if (found.length > 0)
      warnings.push(
        `${found.length} rows${of} have a chat with ${what} in the column "${column}" (the first: ${found[0]}). The model is sent it as JSON in one text, since prompts on rows are texts alone. Leave these rows out, or run them in a container.`,
      );
  }
  if (expected === null || !needsExpected(scorer)) return warnings;
  const { rows: found } = await find(rows, expected, (value) => (isTextOfList(value) ? 'text' : null));
  if (found.length > 0)
    warnings.push(
      `${found.length} rows${of} have a list as a text in the column "${expected}" (the first: ${found[0]}), which is compared as one text. For several right answers give lists, in JSON or JSONL.`,
    );
  return warnings;
}

async function find({ source, spec }: JobRows, column: string, of: (value: unknown) => string | null): Promise<Found> {
  const found: Found = { rows: [], what: '' };
  const first = Array.from({ length: Math.min(looked, spec.numRows) }, (_, row) => row);
  for await (const values of source.values(column, first)) {
    for (const { row, value } of values) {
      const what = of(value);
      if (what === null) continue;
      if (found.rows.length === 0) found.what = what;
      found.rows.push(row);
    }
  }
  return found;
}

/** `["a", "b"]`, also as Python writes it. */
function isTextOfList(value: unknown): boolean {
  return typeof value === 'string' && /^\s*\[\s*(["'])[^"']*\1(?:\s*,\s*(["'])[^"']*\2)+\s*\]\s*$/.test(value);
}
