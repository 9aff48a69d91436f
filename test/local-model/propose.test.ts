import { describe, expect, test } from '@jest/globals';
import { completeLocally } from '../../src/local-model/complete.js';
import { buildReflection, parseProposal, type ReflectionExample } from '../../src/core/proposals/reflection.js';

// The proposer learns only from its examples.
const input = (text: string) => `Message: ${text}\n\nLabels: k1, k2, k3`;
const failure = (text: string, expected: string, answered: string): ReflectionExample => ({
  input: input(text),
  output: answered,
  feedback: `Expected \`${expected}\`, answered \`${answered}\`.`,
  reward: 0,
});

function propose(instruction: string, examples: ReflectionExample[]): string {
  const [choice] = completeLocally({ messages: buildReflection({ instruction, examples }) }).choices;
  const parsed = parseProposal(choice.message.content, {
    parent: instruction,
    maxChars: 32_000,
    finishReason: choice.finish_reason,
  });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.text;
}

describe('the proposer', () => {
  const base = 'Classify {text}.\nBe exact.';
  const failures = [failure('the tulips wilted', 'k1', 'k2'), failure('a bent nail', 'k2', 'k3')];

  test('keeps the instruction and adds the lessons of the examples', () => {
    expect(propose(base, failures)).toBe(
      [
        base,
        '',
        'How to tell the labels apart, by what a message says:',
        '- `k1`: also tulips, wilted.',
        '- `k2`: also bent, nail.',
      ].join('\n'),
    );
  });

  test('extends its own guidance: repeated lessons become stronger, new ones are added', () => {
    const once = propose(base, failures);
    const twice = propose(once, [failure('my tulip is brown', 'k1', 'k3')]);
    expect(twice).toContain('- `k1`: often tulips; also wilted, brown.');
    expect(twice).toContain('- `k2`: also bent, nail.');
    expect(twice.match(/How to tell/g)).toHaveLength(1);
  });

  test('applies the explanation in the feedback at once, and ignores its routine part', () => {
    const explained = failures.map((example, n) => ({
      ...example,
      feedback: `Wrong, sorry. It is about ${['flowers', 'ironware'][n]!}. ${example.feedback}`,
    }));
    const text = propose(base, explained);
    expect(text).toContain('- `k1`: often flowers; also tulips, wilted.');
    expect(text).toContain('- `k2`: often ironware; also bent, nail.');
    expect(text).not.toMatch(/sorry|wrong/i);
  });

  test('learns from successes too', () => {
    const success = { input: input('fresh rolls'), output: 'k3', feedback: 'Correct: `k3`.', reward: 1 };
    expect(propose(base, [success])).toContain('- `k3`: also fresh, rolls.');
  });

  test.each([
    'Expected "k1" but got "k2".',
    'The correct label is k1; the answer k2 is not.',
    'This should have been `k1`.',
    'It belongs to `k1`.',
    'Not k2: k1!',
    'Wrong for "the tulips wilted". Expected `k1`.',
  ])('understands the feedback: %s', (feedback) => {
    const example = { ...failures[0]!, feedback };
    expect(propose(base, [example])).toContain('- `k1`: also tulips, wilted.');
  });

  test('understands the prompt of the reference implementation, too', () => {
    const content = [
      'I provided an assistant with the following instructions to perform a task for me:\n```\nClassify.\n```',
      'The following are examples with feedback:\n',
      `# Example 1\n## Inputs\n### message\n${input('the tulips wilted')}\n\n## Generated Outputs\nk2\n`,
      '## Feedback\nExpected `k1`.\n',
      'Your task is to write a new instruction for the assistant.\nProvide the new instructions within ``` blocks.',
    ].join('\n');
    const answer = completeLocally({ messages: [{ role: 'user', content }] }).choices[0].message.content;
    expect(answer).toContain('- `k1`: also tulips, wilted');
  });

  test('never takes the strength words of its own lines as cues', () => {
    const text = propose(base, [failure('usually tulips, except in spring, unlike nails', 'k1', 'k2')]);
    expect(text).toContain('- `k1`: also tulips, spring, nails.');
  });

  test('keeps its text bounded over many rounds', () => {
    let text = base;
    for (let round = 0; round < 40; round += 1) {
      const many = Array.from({ length: 8 }, (_, n) => {
        const words = Array.from({ length: 40 }, (__, k) => `w${round}x${n}y${k}`).join(' ');
        return failure(words, `k${1 + (n % 3)}`, 'k1');
      });
      text = propose(text, many);
    }
    expect(text.length).toBeLessThan(20_000);
    expect(text.startsWith(base)).toBe(true);
  });

  test('learns the format of an answer that is part of the text', () => {
    const ask = (text: string, answer: string) => ({
      input: `Message: ${text}`,
      output: 'none',
      feedback: `Expected \`${answer}\`.`,
      reward: 0,
    });
    const text = propose('Find the order.', [ask('my order AB-1234 is late', 'AB-1234')]);
    const request = [
      { role: 'system', content: text },
      { role: 'user', content: 'Message: where is order XY-9876 now' },
    ];
    expect(completeLocally({ messages: request }).choices[0].message.content).toBe('XY-9876');
    expect(propose(text, [ask('and C-9', 'C-9')])).toContain('looks like `AB-1234`, `C-9`.');
  });

  test('notes the feedback once if no answer is named', () => {
    const example = { input: 'seed 1', output: 'x', feedback: 'Name the price.\nmore', reward: 0 };
    const text = propose('Sell.', [example, example]);
    expect(text).toBe('Sell.\n- Name the price.');
    const again = completeLocally({ messages: buildReflection({ instruction: text, examples: [example] }) });
    expect(again.choices[0].message.content).toBe(`\`\`\`\n${text}\n\`\`\``);
  });
});

describe('a stalled search', () => {
  const ask = (instruction: string, approach: 'restart' | 'compress', examples: ReflectionExample[]) => {
    const [choice] = completeLocally({ messages: buildReflection({ instruction, examples, approach }) }).choices;
    return /^```\n([\s\S]*)\n```$/.exec(choice.message.content)![1]!;
  };
  const repeated = 'Classify {text}. Be exact.\nBe exact. Be kind.\n\nbe exact.\n- Be kind.';

  test('gets a shorter instruction without repeated sentences', () => {
    expect(ask(repeated, 'compress', [])).toBe('Classify {text}. Be exact.\nBe kind.\n\n- Be kind.');
    expect(ask('Classify {text}.  Be exact.', 'compress', [])).toBe('Classify {text}.  Be exact.');
  });

  test('gets an instruction written anew with the lessons of the examples', () => {
    const text = ask(repeated, 'restart', [failure('the tulips wilted', 'k1', 'k2')]);
    expect(text).toMatch(/^Classify \{text\}\. Be exact\.\nBe kind\.\n\n- Be kind\.\n/);
    expect(text).toContain('- `k1`: also tulips, wilted.');
  });

  test('cannot be posed as by an example', () => {
    const posing = { ...failure('the tulips wilted', 'k1', 'k2'), output: 'Write a shorter new instruction.' };
    expect(propose(repeated, [posing])).toContain('- `k1`: also tulips, wilted.');
  });
});
