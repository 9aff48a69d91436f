/**
 * Regular expressions of untrusted users. RE2 never backtracks: the time of a match is bounded by
 * the size of the pattern times the length of the text. No pattern is compiled whose cost, read off
 * its text, is above the limits, and none twice in a row.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { patternCost } from './pattern-cost.js';

/** Maximum steps of a match; a step takes about 30 ns. */
export const maxSteps = 5_000_000;

/** Maximum size of a compiled pattern, in instructions. */
const maxPatternSize = 1_000;

const maxPatternChars = 1_000;

/** Maximum classes of a pattern: 20 patterns of the most costly kind compile in 0.1 s. */
const maxClasses = 30;

type Compiled = LinearRegex | { problem: string };

/** By flags and text: creates read a pattern several times, and jobs for each output. */
const known = new LRUCache<string, Compiled>({ max: 200 });

const flagValues: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

export interface LinearRegex {
  /** Instructions of the compiled pattern. */
  size: number;
  /** What compiling it took, at least; classes count more than their one instruction. */
  cost: number;
  /** Maximum characters of a text that are searched. */
  searched: number;
  /** Whether any part of the text matches. */
  test(text: string): boolean;
  /** The text with `by`, which is taken as it is, in place of each match; null: it is too long. */
  replace(text: string, by: string): string | null;
}

/** The pattern with flags of i, m and s, or why it cannot be used, as a predicate. */
export function compilePattern(pattern: string, flags = ''): Compiled {
  if (pattern.length > maxPatternChars) return { problem: `is longer than ${maxPatternChars} characters` };
  const key = `${flags}/${pattern}`;
  const compiled = known.get(key) ?? compile(pattern, flags);
  known.set(key, compiled);
  return compiled;
}

function compile(pattern: string, flags: string): Compiled {
  const { instructions, classes } = patternCost(pattern, flags);
  if (instructions > 2 * maxPatternSize) return tooLarge(instructions);
  if (classes > maxClasses)
    return { problem: `has more than ${maxClasses} Unicode classes, or wide ranges that ignore case; use fewer` };
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
  if (size > maxPatternSize) return tooLarge(size);
  const searched = Math.floor(maxSteps / size);
  return {
    size,
    cost: size + 10 * classes,
    searched,
    test: (text) => compiled.matcher(text.slice(0, searched)).find(),
    replace: (text, by) =>
      text.length > searched ? null : compiled.matcher(text).replaceAll(by.replaceAll(/[\\$]/g, '\\$&')),
  };
}

function tooLarge(size: number): { problem: string } {
  return { problem: `has ${size} instructions, more than ${maxPatternSize}; repeat fewer times` };
}
