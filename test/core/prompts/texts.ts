import fc from 'fast-check';

/** Sentences of few words, so that equal ones are frequent. */
export const sentences = fc
  .tuple(
    fc.constantFrom('Answer', 'Name', 'Be', 'Never', 'Sort', 'Use'),
    fc.constantFrom('briefly', 'the label', 'why'),
  )
  .map(([verb, object]) => `${verb} ${object}.`);

const spacings = fc.constantFrom('\n', ' ', '\n\n', '\n  ');

/** A prompt: sentences separated by white space. */
export const prompts = fc
  .array(fc.tuple(sentences, spacings), { maxLength: 12 })
  .map((parts) => parts.map(([text, space], i) => (i === 0 ? text : space + text)).join(''));

/** Arbitrary text with many sentence marks. */
export const hostile = fc.oneof(
  prompts,
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.constantFrom('.', '!', '。', '"', ' ', '\n', '\r\n', 'a', 'A', '1', '-', '\u2028', '😀', '\ud800'), {
      maxLength: 60,
    })
    .map((parts) => parts.join('')),
);

/** The largest texts of the slowest kinds. */
export function longTexts(length = 32_000): string[] {
  const fill = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const numbered = (step: number) => {
    const lines: string[] = [];
    for (let i = 0, size = 0; size < length; i++) size += lines[lines.push(`${(i * step) % 9_973} x.\n`) - 1]!.length;
    return lines.join('').slice(0, length);
  };
  return ['a\n', 'b\na\n', '.', '. ', '. A', '."', '。', '1. ', ' ', '\n', 'x']
    .map(fill)
    .concat(numbered(1), numbered(7));
}
