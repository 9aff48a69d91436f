/** When two values count as the same. */
import { asText, canonical, normalize, readJson } from './text.js';

/**
 * Two texts: the same once normalized. Two other values: the same canonical JSON, texts within them normalized, names of
 * fields as they are. A text and another value: the text reads as that value in JSON, or says it letter by letter
 * (`"12"` is 12, `"True"` is true where case does not count). No output (undefined) equals nothing.
 */
export function areEqual(gold: unknown, output: unknown, caseSensitive: boolean): boolean {
  const same = (text: string) => normalize(text, caseSensitive);
  if (output === undefined) return false;
  if ((typeof gold === 'string') !== (typeof output === 'string')) {
    if (same(asText(gold)) === same(asText(output))) return true;
    const [text, value] = typeof gold === 'string' ? [gold, output] : [output as string, gold];
    const read = readJson(text);
    return read !== null && canonical(read.value, same) === canonical(value, same);
  }
  return canonical(gold, same) === canonical(output, same);
}
