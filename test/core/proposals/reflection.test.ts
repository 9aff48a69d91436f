import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildReflection, parseProposal, requireShorter } from '../../../src/core/proposals/reflection.js';

const example = { input: 'in', output: 'out', feedback: 'fb', reward: 0 };
const rules = { parent: 'Answer {question}.', maxChars: 1_000, finishReason: 'stop' };
const fenced = (text: string) => `Here it is:\n\`\`\`\n${text}\n\`\`\`\nThat should help.`;
const reasonOf = (answer: string, changes: Partial<typeof rules> = {}) => {
  const parsed = parseProposal(answer, { ...rules, ...changes });
  return parsed.ok ? `accepted: ${parsed.text}` : parsed.reason;
};

describe('buildReflection', () => {
  test('shows the instruction in a fence and every example with its parts', () => {
    const [message, ...rest] = buildReflection({
      instruction: 'Be brief.',
      examples: [example, example],
      task: 'chat',
    });
    expect(rest).toEqual([]);
    expect(message!.role).toBe('user');
    expect(message!.content).toContain('\n```\nBe brief.\n```\n');
    expect(message!.content).toContain(
      '# Example 2\n## Inputs\n> in\n## Generated Outputs\n> out\n## Feedback\n> fb\n## Reward\n0',
    );
    expect(message!.content).toContain('> chat');
  });

  test('asks for each approach in other words, for a compression without examples', () => {
    const ask = (approach?: 'revise' | 'restart' | 'compress') =>
      buildReflection({
        instruction: 'i',
        examples: approach === 'compress' ? [] : [example],
        ...(approach && { approach }),
      })[0]!.content;
    expect(ask('revise')).toBe(ask());
    expect(new Set([ask('revise'), ask('restart'), ask('compress')]).size).toBe(3);
    expect(ask('compress')).not.toContain('>');
  });

  test('wraps an instruction with fences in a longer fence', () => {
    const [message] = buildReflection({ instruction: 'a\n````\nb\n````', examples: [example] });
    expect(message!.content).toContain('`````\na\n````\nb\n````\n`````');
  });

  test('prefixes every line of an example, for any line breaks', () => {
    const breaks = fc.constantFrom(
      '\n',
      '\r\n',
      '\r',
      '\u2028',
      '\u2029',
      '```',
      '# Example 9',
      '## Feedback',
      'x',
      ' ',
    );
    const hostile = fc.array(breaks, { maxLength: 30 }).map((parts) => parts.join(''));
    const frame = buildReflection({ instruction: 'i', examples: [example] })[0]!.content;
    const framing = (content: string) =>
      content.split(/[\n\r\u2028\u2029]/).filter((line) => !line.startsWith('> ') && line !== '');
    fc.assert(
      fc.property(hostile, hostile, hostile, (input, output, feedback) => {
        const shown = buildReflection({ instruction: 'i', examples: [{ input, output, feedback, reward: 0 }] })[0]!
          .content;
        expect(framing(shown)).toEqual(framing(frame));
      }),
    );
  });

  test('cuts long texts, never inside a character', () => {
    const [message] = buildReflection({
      instruction: 'i',
      examples: [{ ...example, input: '😀'.repeat(50_000) + 'end' }],
    });
    expect(message!.content.length).toBeLessThan(10_000);
    expect(message!.content).not.toContain('end');
    const odd = buildReflection({ instruction: 'i', examples: [{ ...example, input: 'x' + '😀'.repeat(5_000) }] })[0]!;
    expect(Buffer.from(odd.content).toString()).toBe(odd.content);
  });
});

describe('parseProposal', () => {
  test('returns the text between the fences', () => {
    expect(parseProposal(fenced('Answer {question} briefly.'), rules)).toEqual({
      ok: true,
      text: 'Answer {question} briefly.',
    });
    expect(parseProposal('```markdown\nDo {question}\n```', rules)).toEqual({ ok: true, text: 'Do {question}' });
    expect(parseProposal('```Do {question} now\nand well\n```', rules)).toEqual({
      ok: true,
      text: 'Do {question} now\nand well',
    });
    expect(parseProposal('So: ```Do {question}```.', rules)).toEqual({ ok: true, text: 'Do {question}' });
    expect(parseProposal('````\nDo {question}\n````', rules)).toEqual({ ok: true, text: 'Do {question}' });
  });

  test('keeps nested fences: the text reaches from the first to the last fence', () => {
    const text = 'Answer {question} so:\n```json\n{"a": 1}\n```\nand no more.';
    expect(parseProposal(fenced(text), rules)).toEqual({ ok: true, text });
    expect(parseProposal(`\`\`\`\`\n${text}\n\`\`\`\``, rules)).toEqual({ ok: true, text });
  });

  test('rejects an answer that is cut off, by finish reason or fences', () => {
    expect(reasonOf(fenced('Do {question}'), { finishReason: 'length' })).toMatch(/cut off/);
    expect(reasonOf('```\nDo {question} and')).toMatch(/not closed/);
    expect(reasonOf('```\nDo {question} so:\n```json\n{}\n```\nand then')).toMatch(/not closed/);
    expect(reasonOf('I would shorten it.')).toMatch(/no ``` fence/);
    expect(reasonOf('see ``` there')).toMatch(/not closed/);
    expect(reasonOf('')).toMatch(/no ``` fence/);
  });

  test('rejects empty, equal, too long and unstorable texts', () => {
    expect(reasonOf(fenced('  \n '))).toMatch(/empty/);
    expect(reasonOf(fenced(' Answer {question}. '))).toMatch(/same as its parent/);
    expect(reasonOf(fenced(`{question}${'x'.repeat(1_000)}`))).toMatch(/1010 characters; at most 1000/);
    expect(reasonOf(fenced('{question}\0'))).toMatch(/NUL/);
  });

  test('requires the placeholders of the parent unchanged', () => {
    const parent = 'Use {name}, {{ other }} and {a.b} but not {"json": 1} or {}.';
    expect(reasonOf(fenced('Use {name} and {{other}}'), { parent })).toBe(
      'the new instruction lacks the placeholder {{ other }}, {a.b} of its parent',
    );
    expect(reasonOf(fenced('New {a.b} {{ other }} {name}'), { parent })).toMatch(/^accepted/);
  });

  test('never throws, and accepted texts satisfy the rules', () => {
    const piece = fc.constantFrom('```', '\n', '````', '{question}', 'text', ' ', '```json\n', '\r\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parsed = parseProposal(pieces.join(''), rules);
        if (!parsed.ok) return;
        expect(parsed.text.trim()).not.toBe('');
        expect(parsed.text).toContain('{question}');
      }),
    );
  });
});

test('requireShorter takes a text that is not shorter for unchanged', () => {
  const read = (text: string) => requireShorter({ ok: true, text }, ' Answer briefly.\n');
  expect(read('Answer.')).toEqual({ ok: true, text: 'Answer.' });
  expect(read('Answer shortly.')).toMatchObject({ ok: false, unchanged: true });
  expect(requireShorter({ ok: false, reason: 'no fence' }, 'Answer.')).toEqual({ ok: false, reason: 'no fence' });
});
