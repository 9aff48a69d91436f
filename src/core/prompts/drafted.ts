/** A first prompt for rows, from their columns and the labels that are expected of them. */
import type { Message } from './message.js';
import { isPlainName } from './template.js';

/** Labels that a prompt lists; rows with more distinct values have no labels. */
export const mostLabels = 50;
const labelChars = 60;

export interface LabelCount {
  label: string;
  count: number;
}

/** What a prompt is drafted from. */
export interface DraftColumns {
  /** The column that the model reads. */
  input: string;
  /** The column with the right answers; null: none. */
  expected: string | null;
  /** In the order of the prompt; empty: the right answers are no labels. */
  labels: readonly string[];
}

/** The distinct short values of a column, the commonest first; empty: they are no labels. */
export function labelsIn(values: readonly unknown[]): LabelCount[] {
  const texts = values.map((value) => (typeof value === 'object' ? null : String(value).trim()));
  const counts = new Map<string, number>();
  for (const text of texts) if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
  const labels = [...counts].map(([label, count]) => ({ label, count }));
  const isShort = labels.every(({ label }) => label.length <= labelChars && !/[\r\n]/.test(label));
  const areRepeated = 2 * labels.length <= texts.length;
  if (labels.length < 2 || labels.length > mostLabels || !isShort || !areRepeated) return [];
  return labels.sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
}

/** The task with the labels, and the input as the last message. */
export function draftPrompt({ input, expected, labels }: DraftColumns): Message[] {
  const [read, wanted] = [nounOf(input, 'text'), expected === null ? 'answer' : nounOf(expected, 'answer')];
  const task =
    labels.length > 0
      ? `Read the ${read} and choose its ${wanted}. Answer with exactly one of the labels, and nothing else.\n\n${listOf(labels)}`
      : `Read the ${read} and give its ${wanted}. Answer with the ${wanted} alone.`;
  return [
    { role: 'system', content: task },
    { role: 'user', content: `{{${isPlainName(input) ? input : 'input'}}}` },
  ];
}

/** The name of a column as a word of a sentence. */
function nounOf(column: string, other: string): string {
  const words = column.replaceAll(/[_-]+/g, ' ').trim();
  return isPlainName(words) ? words : other;
}

/** A line, or bullets where a label has a separator. */
function listOf(labels: readonly string[]): string {
  const hasSeparator = labels.some((label) => /[,;|]/.test(label));
  return hasSeparator ? `Labels:\n${labels.map((label) => `- ${label}`).join('\n')}` : `Labels: ${labels.join(', ')}`;
}
