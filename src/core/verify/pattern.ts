/** Verification by a regular expression. */
import type { ComparingScorer } from '../../contracts/scoring/scorer.js';
import { asText, maxFeedback, show } from './text.js';
import type { Verification } from './verification.js';
import { compilePattern, type LinearRegex } from '../../util/linear-regex.js';
import { cutWithin } from '../../util/text.js';

type RegexScorer = Extract<ComparingScorer, { mode: 'regex' }>;

const maxShown = 1_500;

/** Why the expected value is no pattern, as a predicate, or null. */
export function patternProblem({ flags }: RegexScorer, expected: unknown): string | null {
  const text = asText(expected);
  if (text === '') return 'is an empty pattern, which every output matches';
  const compiled = compilePattern(text, flags);
  return 'problem' in compiled ? compiled.problem : null;
}

/** Reward 1 if any part of the output matches, else 0; requires a valid pattern. */
export function scorePattern({ pattern, flags }: RegexScorer, expected: unknown, output: string): Verification {
  const source = pattern ?? asText(expected);
  const compiled = compile(source, flags);
  const shown = `Pattern: ${show(source, maxShown)}${flags === '' ? '' : ` (flags ${flags})`}`;
  if (compiled.test(output)) return { reward: 1, feedback: `Right: the output matches the pattern.\n${shown}` };
  const given = show(output, maxShown);
  const lines = [`Wrong. ${why(compiled, source, flags, output)}`, shown, `Given: ${given}`];
  return { reward: 0, feedback: cutWithin(lines.join('\n'), maxFeedback) };
}

function why({ searched }: LinearRegex, source: string, flags: string, output: string): string {
  if (output.trim() === '') return 'There is no output.';
  if (!flags.includes('i') && compile(source, `${flags}i`).test(output))
    return 'The output matches in other upper and lower case only, which counts here.';
  const trimmed = output.trim();
  if (trimmed !== output && compile(source, flags).test(trimmed))
    return 'The output matches without the white space around it, which counts here.';
  if (output.length > searched) return `The first ${searched} characters of the output do not match the pattern.`;
  return 'No part of the output matches the pattern.';
}

function compile(source: string, flags: string): LinearRegex {
  const compiled = compilePattern(source, flags);
  if ('problem' in compiled) throw new RangeError(`The pattern ${compiled.problem}.`);
  return compiled;
}
