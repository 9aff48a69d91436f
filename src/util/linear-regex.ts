/**
 * Regular expressions of untrusted users. RE2 never backtracks: the time of a match is bounded by
 * the size of the pattern times the length of the text.
 */
import { RE2JS } from 're2js';

/** Maximum steps of a match; a step takes about 30 ns. */
export const maxSteps = 5_000_000;

/** Maximum size of a compiled pattern, in instructions. */
const maxPatternSize = 1_000;

const maxPatternChars = 1_000;

const flagValues: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

export interface LinearRegex {
  /** Instructions of the compiled pattern. */
  size: number;
  /** Maximum characters of a text that are searched. */
  searched: number;
  /** Whether any part of the text matches. */
  test(text: string): boolean;
}

/** The pattern with flags of i, m and s, or why it cannot be used, as a predicate. */
export function compilePattern(pattern: string, flags = ''): LinearRegex | { problem: string } {
  if (pattern.length > maxPatternChars) return { problem: `is longer than ${maxPatternChars} characters` };
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(
      pattern,
      [...flags].reduce((all, flag) => all | (flagValues[flag] ?? 0), 0),
    );
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '');
    return {
      problem: `is not a pattern of RE2 (which has no look-ahead, look-behind or back-references): ${reason}`,
    };
  }
  const size = compiled.programSize();
  if (size > maxPatternSize) {
    return { problem: `has ${size} instructions, more than ${maxPatternSize}; repeat fewer times` };
  }
  const searched = Math.floor(maxSteps / size);
  return { size, searched, test: (text) => compiled.matcher(text.slice(0, searched)).find() };
}
