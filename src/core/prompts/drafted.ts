/** A first prompt for rows, from their columns and the labels that are expected of them. */
import type { Message } from './message.js';
import { isPlainName } from './template.js';

/** Labels that a prompt lists; a column with more distinct values, or characters, has no labels. */
export const mostLabels = 200;
const mostChars = 4_000;
const labelChars = 60;
/** Numbers that count as labels, such as grades; more of them are measures. */
const mostNumbers = 20;

export interface LabelCount {
  label: string;
  count: number;
}

/** What a prompt is drafted from. */
export interface DraftColumns {
  /** The column that the model reads. */
  input: string;
  /** The columns of the message in order, the input among them. Empty: the input alone. */
  shown: readonly string[];
  /** The column with the right answers; null: none. */
  expected: string | null;
  /** In the order of the prompt; empty: the right answers are no labels. */
  labels: readonly string[];
  /** Right answers have their steps, and the answer behind `####` on the last line. */
  isMarked?: boolean;
}

/** The short values of a column with their counts, the commonest first; empty: no labels. */
export function labelsOf(counts: ReadonlyMap<string, number>): LabelCount[] {
  const merged = new Map<string, number>();
  for (const [text, count] of counts) {
    const label = text.trim();
    if (label !== '') merged.set(label, (merged.get(label) ?? 0) + count);
  }
  const labels = [...merged].map(([label, count]) => ({ label, count }));
  const rows = labels.reduce((sum, { count }) => sum + count, 0);
  const isShort = labels.every(({ label }) => label.length <= labelChars && !/[\r\n]/.test(label));
  const chars = labels.reduce((sum, { label }) => sum + label.length, 0);
  const areFew = labels.length >= 2 && labels.length <= mostLabels && chars <= mostChars;
  if (!areFew || !isShort || 2 * labels.length > rows || areMeasures(labels)) return [];
  return labels.sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
}

function areMeasures(labels: readonly LabelCount[]): boolean {
  const areNumbers = labels.every(({ label }) => !Number.isNaN(Number(label)));
  return areNumbers && (labels.length > mostNumbers || labels.some(({ label }) => !Number.isInteger(Number(label))));
}

/** The task with the labels, and the input as the last message. */
export function draftPrompt({ input, shown, expected, labels, isMarked = false }: DraftColumns): Message[] {
  const answer = expected === null ? 'answer' : nounOf(expected, 'answer');
  const [read, its] = shown.length > 0 ? [nounsOf(shown), 'the'] : [`the ${nounOf(input, 'text')}`, 'its'];
  const task =
    labels.length > 0
      ? `Read ${read} and choose ${its} ${answer}. Answer with exactly one of the labels, and nothing else.\n\n${listOf(labels)}`
      : isMarked
        ? `Read ${read} and work out ${its} ${answer} step by step. Write the ${answer} alone on the last line, after ####.`
        : `Read ${read} and give ${its} ${answer}. Answer with the ${answer} alone.`;
  return [
    { role: 'system', content: task },
    { role: 'user', content: messageOf(input, shown) },
  ];
}

/** Placeholders alone: callers of a deployment send a message in place of it. */
function messageOf(input: string, shown: readonly string[]): string {
  if (shown.length === 0) return placeholder(isPlainName(input) ? input : 'input');
  return shown.map(placeholder).join(shown.length > mostNouns ? '\n' : '\n\n');
}

const placeholder = (name: string) => `{{${name}}}`;

/** Names that a sentence lists; those of more columns are the lines of the message. */
const mostNouns = 3;

function nounsOf(columns: readonly string[]): string {
  const nouns = columns.map((name) => nounOf(name, name));
  if (nouns.length > mostNouns) return `the values, one a line (${nouns.join(', ')}),`;
  return `the ${nouns.slice(0, -1).join(', ')} and ${nouns.at(-1)}`;
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
