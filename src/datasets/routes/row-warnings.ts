/** What a create tells about its rows: forms that are read otherwise than they look. */
import { needsExpected } from '../../scorers/index.js';
import { chatDoubt } from '../../core/prompts/chat-rows.js';
import type { JobRows } from './job-rows.js';

/** Rows that are looked at. */
const looked = 200;

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
