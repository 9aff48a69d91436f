import { z } from 'zod';
import { asText, maxFeedback, show } from '../core/verify/text.js';
import { compilePattern, type LinearRegex } from '../util/linear-regex.js';
import { cutWithin } from '../util/text.js';
import { maxShown } from './feedback.js';
import { comparing } from './scorer.js';

export const regex = comparing({
  schema: z
    .strictObject({
      type: z.literal('regex'),
      pattern: z
        .string()
        .min(1, 'must not be empty')
        .optional()
        .describe('RE2 syntax. Default: the expected value of the row.'),
      flags: z
        .string()
        .regex(/^(?!.*(.).*\1)[ims]*$/, 'must be letters of i (ignore case), m (lines) and s (dot matches all)')
        .optional(),
    })
    .superRefine(({ pattern, flags }, ctx) => {
      const compiled = pattern === undefined ? null : compilePattern(pattern, flags);
      if (compiled && 'problem' in compiled)
        ctx.addIssue({ code: 'custom', path: ['pattern'], message: compiled.problem });
    })
    .meta({ id: 'RegexScorer' }),
  /** `pattern` null: the expected value. */
  settings: ({ pattern = null, flags = '' }): { pattern: string | null; flags: string } => ({ pattern, flags }),
  reward: '1 if a part of the output matches the pattern',
  expected: 'without `pattern`',
  form: {
    label: 'Regular expression',
    fields: [
      { kind: 'text', name: 'pattern', label: 'Pattern', hint: 'RE2 syntax. Empty: the expected value of each row.' },
      { kind: 'text', name: 'flags', label: 'Flags', hint: 'i: ignores case, m: lines, s: a dot matches all.' },
    ],
  },
  expectedUse: ({ pattern }) => (pattern === null ? 'required' : 'unused'),
  problem({ flags }, expected) {
    const text = asText(expected);
    if (text === '') return 'is an empty pattern, which every output matches';
    const compiled = compilePattern(text, flags);
    return 'problem' in compiled ? compiled.problem : null;
  },
  score({ pattern, flags }, expected, output) {
    const text = asText(output);
    const source = pattern ?? asText(expected);
    const compiled = compile(source, flags);
    const shown = `Pattern: ${show(source, maxShown)}${flags === '' ? '' : ` (flags ${flags})`}`;
    if (compiled.test(text)) return { reward: 1, feedback: `Right: the output matches the pattern.\n${shown}` };
    const lines = [`Wrong. ${why(compiled, source, flags, text)}`, shown, `Given: ${show(text, maxShown)}`];
    return { reward: 0, feedback: cutWithin(lines.join('\n'), maxFeedback) };
  },
});

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
