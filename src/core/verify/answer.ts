/**
 * Selects the parts of a graph's output and of its gold output that are compared:
 *
 * - Both are objects, or the gold output is one and the output is its JSON text: the objects.
 * - Only one of them is an object: its answer (its only field, else `answer`, else `output`, else
 * the object; one level only).
 * - Otherwise: both values unchanged, or what stands behind `####` on their last lines.
 */
import { isObject } from '../../util/json.js';
import { quoteLongIntegers } from '../../util/exact-json.js';
import { readJson } from '../answers/json.js';

/** An object's only field, else `answer`, else `output`; other values unchanged. */
export function unwrapAnswer(value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const name = names.length === 1 ? names[0]! : ['answer', 'output'].find((field) => Object.hasOwn(value, field));
  return name === undefined ? value : value[name];
}

/** What a text says behind `####` on its last line, after its steps, as in GSM8K; null: nothing. */
export function markedAnswer(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const lines = value.trimEnd().split('\n');
  const last = lines.at(-1)!.trim();
  return lines.length > 1 && last.startsWith(mark) ? last.slice(mark.length).trim() : null;
}

const mark = '#### ';

/** The answer of an expected value: unwrapped, and without the steps before its mark. */
export function expectedAnswer(value: unknown): unknown {
  const answer = unwrapAnswer(value);
  return markedAnswer(answer) ?? answer;
}

/**
 * The list of right answers in the forms of SQuAD (`{"text": […], "answer_start": […]}`) and of
 * TriviaQA (`{"value": "…", "aliases": […]}`); other values unchanged.
 */
export function listedAnswers(expected: unknown): unknown {
  if (!isObject(expected)) return expected;
  const { text, value, aliases } = expected;
  if (Array.isArray(text) && Object.hasOwn(expected, 'answer_start')) return text;
  return typeof value === 'string' && Array.isArray(aliases) ? [...new Set<unknown>([value, ...aliases])] : expected;
}

/** Behind a mark of the gold output, the output's own marked answer counts where it has one. */
export function comparableParts(gold: unknown, output: unknown): { gold: unknown; output: unknown } {
  const read = isObject(gold) ? parseIfObject(output) : output;
  if (isObject(gold) && isObject(read)) return { gold, output: read };
  const [wanted, given] = [unwrapAnswer(gold), unwrapAnswer(output)];
  const marked = markedAnswer(wanted);
  return marked === null ? { gold: wanted, output: given } : { gold: marked, output: outputOf(given) };
}

const outputOf = (given: unknown) => markedAnswer(typeof given === 'string' ? `\n${given}` : given) ?? given;

/** The object of a JSON text; other values unchanged. */
export function parseIfObject(value: unknown): unknown {
  const read = typeof value === 'string' ? readJson(quoteLongIntegers(value), isObject) : null;
  return read ? read.value : value;
}
