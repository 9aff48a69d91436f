import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readPromptText } from '../../../src/core/answers/prompt-text.js';
import { fenceText, quoteText } from '../../../src/core/prompts/quote.js';
import { pureRuns } from '../../support/runs.js';

const f = '```';
const parent = 'Extract the price.';

/** Sentences and lines of prompts, among them forms of an output in JSON. */
const line = fc.constantFrom(
  'Extract the price as a plain number.',
  'If there is none, answer "none".',
  '- Remove currency signs, e.g. € or $.',
  'Answer with a JSON object such as {"price": 1849}.',
  '{"price": 1849, "currency": "EUR"}',
  '{{text}} is what the shop wrote.',
  'Note: a comma may be a point.',
  '1 849 руб. -> 1849',
  "Don't explain it.",
  '',
);
const prompt = fc
  .tuple(
    fc.constantFrom('Read the price.', 'Answer with JSON of this form:', '{"price": number} is the form.'),
    fc.array(line, { maxLength: 5 }),
    fc.constantFrom('Answer with the number only.', 'Nothing else.', 'Use "." for decimals.'),
  )
  .map(([first, lines, last]) => [first, ...lines, last].join('\n'));

/** Around any text, also around a text that is wrapped already. */
const around: Readonly<Record<string, (text: string) => string>> = {
  'a fence': fenceText,
  'a named field': (text) => JSON.stringify({ prompt: text }),
  'a field of any name': (text) => JSON.stringify({ extract_number: text }, null, 2),
  'a list': (text) => JSON.stringify([text]),
  'a nested field': (text) => JSON.stringify({ task: { instruction: text } }),
  'a field among others': (text) => JSON.stringify({ reasoning: 'It lacked a rule.', new_instruction: text }),
  lines: (text) => JSON.stringify({ instructions: text.split('\n') }),
  'a message': (text) => JSON.stringify({ messages: [{ role: 'system', content: text }] }),
  'a call': (text) => JSON.stringify({ name: 'set_prompt', arguments: { prompt: text } }),
  'a string': (text) => JSON.stringify(text),
  'a tag': (text) => `<new_instruction>\n${text}\n</new_instruction>`,
  'an announcement': (text) => `Here's the new instruction for the assistant:\n\n${text}`,
  'a reason': (text) => `Based on the feedback, here is the new instruction:\n\n${text}`,
};

/** Around a text itself. */
const directly: Readonly<Record<string, (text: string) => string>> = {
  'a field without escapes': (text) => `{\n  "extract_number": "${text}"\n}`,
  'a field of Python': (text) => `{'prompt': '''${text}'''}`,
  'quotation marks': (text) => `"${text}"`,
  'marks of a quotation': quoteText,
  'bold type': (text) => `**${text}**`,
  'an assignment': (text) => `prompt = """${text}"""`,
  'a remark': (text) => `Here is it:\n${text}\n\nThis instruction ensures that prices are read well.`,
  'a list of changes': (text) => `New instruction:\n${text}\n\n**Key changes:**\n- I added a rule.\n- It is shorter.`,
  rules: (text) => `Here is the revised instruction:\n\n---\n\n${text}\n\n---\n\nLet me know if you need more!`,
  'a title': (text) => `**Instruction for the assistant:**\n${text}`,
  'the heading of the question': (text) => `# What to do\n\n${text}`,
  'the words of the question': (text) => `An assistant was given this instruction for a task:\n\n${text}`,
  'examples of the question': (text) => `${text}\n\n# Example 1\n## Inputs\n> 16.00\n## Feedback\n> Expected: 16`,
};

const names = (wrappings: object) => fc.constantFrom(...Object.keys(wrappings));
const read = (answer: string) => readPromptText(answer, parent);

describe('a prompt', () => {
  test('is read as itself in any wrapping, and in a wrapping of a wrapping', () => {
    fc.assert(
      fc.property(prompt, names(around), names(directly), fc.boolean(), (text, outer, inner, isTwice) => {
        const once = directly[inner]!(text);
        const answers = [around[outer]!(text), fenceText(once), ...(isTwice ? [around[outer]!(once)] : [])];
        for (const answer of answers) expect([answer, read(answer)]).toEqual([answer, { ok: true, text }]);
      }),
      { numRuns: pureRuns(500) },
    );
  });

  test('is read as itself in two wrappings that hold any text', () => {
    fc.assert(
      fc.property(prompt, names(around), names(around), (text, outer, inner) => {
        const answer = around[outer]!(around[inner]!(text));
        expect([answer, read(answer)]).toEqual([answer, { ok: true, text }]);
      }),
      { numRuns: pureRuns(500) },
    );
  });

  test('keeps its own remarks, titles and headings where the parent has them', () => {
    for (const text of [
      'Read it.\n\nThis prompt should work for shops.',
      '# What to do\nRead it.',
      '**Read it.**',
      'Read it.\n\n# Example 1\n## Inputs\n> 16',
    ]) {
      const own = text.replace('Read it', 'Extract the price');
      expect(readPromptText(fenceText(text), own)).toEqual({ ok: true, text });
    }
  });

  test('keeps an example of its output that stands in a fence of its own', () => {
    const text = `Reply with\n${f}json\n{"price": 1849}\n${f}`;
    expect(read(`Here is the new instruction:\n\n${text}`)).toEqual({ ok: true, text });
  });
});
