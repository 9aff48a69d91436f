/** Why single answers earned nothing. */
import { isCut } from '../answers/ending.js';
import { containsWhole } from '../verify/contains.js';
import { parseNumbers, wholeNumber } from '../verify/numbers.js';
import { cutWithin } from '../../util/text.js';
import { mostRows, type DiagnosedRow, type RowCause, type SampledRow } from './diagnosis.js';

interface RowContext {
  labels: readonly string[];
  prompt: string | null;
}

/** Shown of a text. */
const maxShown = 300;
const maxInPhrase = 60;

/** The cause of one answer without a reward. */
export function causeOf(sampled: SampledRow, context: RowContext): RowCause {
  const { expected, answered, finishReason, empty, error, unscored } = sampled;
  if (error !== null) return unscored ? 'scorer' : 'failed';
  if (empty === 'refusal') return 'refusal';
  if (empty !== null || answered === null || answered.trim() === '') return 'empty';
  if (isRefusal(answered)) return 'refusal';
  // A number that a cut answer ends with is a step.
  const said = isCut(finishReason) ? expected.filter((one) => wholeNumber(one) === null) : expected;
  if (said.some((one) => saysWith(one, answered))) return 'format';
  if (isCut(finishReason)) return 'cut';
  const isUnknownLabel = expected.some((one) => context.labels.includes(one) && !isNamed(one, context.prompt));
  return isUnknownLabel ? 'label_not_in_prompt' : 'wrong';
}

/** The labels that a prompt does not name. */
export function unnamedLabels({ labels, prompt }: RowContext): string[] {
  return prompt === null ? [] : labels.filter((label) => !isNamed(label, prompt));
}

function isNamed(label: string, prompt: string | null): boolean {
  return prompt === null || containsWhole(label.trim().toLowerCase(), prompt.toLowerCase());
}

const refusals =
  /^(?:(?:i['’]?m (?:very |so )?|i am (?:very |so )?)?sorry[,.!]*(?: but)? (?:i\b|as an ai\b|(?:that|this|it) (?:is|goes)\b)|i (?:can['’]?t|cannot|am (?:not able|unable)|won['’]?t)|as an ai\b|unfortunately, i)/i;

/** Whether an answer begins as refusals do. */
function isRefusal(answer: string): boolean {
  return refusals.test(answer.trim());
}

/** Whether the answer contains the expected value, ignoring case, punctuation and code fences. */
function saysWith(expected: string, answer: string): boolean {
  const number = wholeNumber(expected);
  if (number !== null) return concludes(number, answer);
  const wanted = bare(expected);
  return wanted !== '' && containsWhole(wanted, bare(answer));
}

/** Whether the last line with numbers has this one: those before it are steps. */
function concludes(number: number, answer: string): boolean {
  const lines = answer.split('\n').map((line) => parseNumbers(line).map(({ value }) => value));
  return lines.findLast((values) => values.length > 0)?.includes(number) ?? false;
}

/** Letters and numbers, with one space between words. */
function bare(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** Rows of the commonest cause first, each with another expected value where there are such. */
export function diagnosedRows(sampled: readonly SampledRow[], context: RowContext): DiagnosedRow[] {
  const order = causesOf(sampled, context).map(([cause]) => cause);
  const all = sampled.map((one) => ({ one, cause: causeOf(one, context) }));
  const byCause = order.flatMap((wanted) => all.filter(({ cause }) => cause === wanted));
  const seen = new Set<string | undefined>();
  const firsts = byCause.filter(({ one: { expected } }) => !seen.has(expected[0]) && seen.add(expected[0]));
  const main = firsts.filter(({ cause }) => cause === order[0]);
  const rest = byCause.filter((entry) => !main.includes(entry));
  return [...main, ...rest].slice(0, mostRows).map(({ one, cause }) => ({
    row: one.row,
    rolloutId: one.rolloutId,
    expected: one.expected[0] === undefined ? null : cutWithin(one.expected[0], maxShown),
    answered: one.answered === null ? null : cutWithin(one.answered, maxShown),
    cause,
    because: because(one, cause),
  }));
}

/** Causes with their counts, the commonest first. */
export function causesOf(sampled: readonly SampledRow[], context: RowContext): [RowCause, number][] {
  const counts = countsOf(sampled.map((one) => causeOf(one, context)));
  return [...counts].sort((left, right) => right[1] - left[1]);
}

function countsOf(causes: readonly RowCause[]): Map<RowCause, number> {
  const counts = new Map<RowCause, number>();
  for (const cause of causes) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return counts;
}

function because(sampled: SampledRow, cause: RowCause): string {
  switch (cause) {
    case 'failed':
    case 'scorer':
      return cutWithin(sampled.error!, maxShown);
    case 'empty':
      return emptyWords(sampled);
    case 'refusal':
      return 'the model refused';
    case 'format':
      return 'the right answer in another form';
    case 'cut':
      return 'the answer was cut off at its limit of tokens';
    case 'label_not_in_prompt':
      return `the prompt does not name ${cutWithin(sampled.expected[0]!, maxInPhrase)}`;
    case 'wrong':
      return isEcho(sampled) ? 'the model repeated the input' : 'another answer';
  }
}

function emptyWords({ finishReason }: SampledRow): string {
  return finishReason === null ? 'no answer' : `no answer (finish reason ${cutWithin(finishReason, maxInPhrase)})`;
}

function isEcho({ input, answered }: SampledRow): boolean {
  return input !== null && answered !== null && bare(input) !== '' && bare(input) === bare(answered);
}
