/** Equality of a gold output and an output. */
import { quoteLongIntegers } from '../../util/exact-json.js';
import { readJson } from '../answers/json.js';
import { asText, canonical, normalize } from './text.js';

/**
 * Two texts: equal once normalized. Two other values: equal canonical JSON with their texts
 * normalized. A text and another value: the text is that value's JSON or its text form (`"12"`
 * equals 12). A missing output (undefined) equals nothing.
 */
export function areEqual(gold: unknown, output: unknown, caseSensitive: boolean): boolean {
  const normalized = (text: string) => normalize(text, caseSensitive);
  if (output === undefined) return false;
  if ((typeof gold === 'string') !== (typeof output === 'string')) {
    if (normalized(asText(gold)) === normalized(asText(output))) return true;
    const [text, value] = typeof gold === 'string' ? [gold, output] : [output as string, gold];
    const read = readJson(quoteLongIntegers(text), (found) => Array.isArray(found) === Array.isArray(value));
    return read !== null && canonical(read.value, normalized) === canonical(value, normalized);
  }
  return canonical(gold, normalized) === canonical(output, normalized);
}
