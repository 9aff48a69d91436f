import { describe, expect, test } from '@jest/globals';
import { editsSchema } from '../../src/kinds/graph/contract/graph.js';
import { applyEdits } from '../../src/core/graphs/edits/edits.js';
import { parseEdits, type FailedRun } from '../../src/core/graphs/edits/proposal.js';
import type { Graph, LlmStep } from '../../src/core/graphs/graph.js';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { graphText } from '../../src/core/graphs/text.js';
import { parseProposal, type ReflectionExample } from '../../src/core/proposals/reflection.js';
import type { Approach } from '../../src/core/proposals/approach.js';
import { answerQuestion } from './ask.js';

// The proposer learns only from its examples.
function propose(instruction: string, examples: ReflectionExample[], approach: Approach = 'revise'): string {
  const answer = answerQuestion({ kind: 'text', reflection: { instruction, examples, approach } });
  const parsed = parseProposal(answer, { parent: instruction, maxChars: 32_000, finishReason: 'stop' });
  if (parsed.ok || parsed.unchanged) return parsed.ok ? parsed.text : instruction;
  throw new Error(parsed.reason);
}

const example = (input: string, output: string, feedback: string) => ({ input, output, feedback, reward: 0 });
const facts =
  'The keeper of Alder is Birk. The keeper of Fir is Mo. The height of Alder is 12 m. The height of Birk is 2 m.';

describe('of labels', () => {
  const labelled = (text: string, expected: string, feedback = `Expected \`${expected}\`, answered \`k2\`.`) =>
    example(`Message: ${text}\n\nLabels: k1, k2, k3`, 'k2', feedback);
  const base = 'Classify {text}.\nBe exact.';
  const failures = [labelled('the tulips wilted', 'k1'), labelled('a bent nail', 'k2', 'Right: `k2`.')];

  test('keeps the instruction and adds the lessons, of successes too', () => {
    expect(propose(base, failures)).toBe(
      `${base}\n\nHow to tell the labels apart, by what a message says:\n` +
        '- `k1`: also tulips, wilted.\n- `k2`: also bent, nail.',
    );
  });

  test('learns neither numbers nor what is left of a contraction', () => {
    const proposed = propose(base, [labelled("the tulips haven't and doesn’t 4471 wilted", 'k1')]);
    expect(proposed).toContain('- `k1`: also tulips, wilted.');
  });

  test('extends its own guidance: repeated lessons become stronger, new ones are added', () => {
    const twice = propose(propose(base, failures), [labelled('my tulip is brown, usually', 'k1')]);
    expect(twice).toContain('- `k1`: often tulips; also wilted, brown.\n- `k2`: also bent, nail.');
    expect(twice.match(/How to tell/g)).toHaveLength(1);
  });

  test('applies the explanation in the feedback at once, and ignores its routine part', () => {
    const explained = failures.map((failure, n) => {
      const feedback = `Wrong, sorry. It is about ${['flowers', 'ironware'][n]!}. ${failure.feedback}`;
      return { ...failure, feedback };
    });
    const text = propose(base, explained);
    expect(text).toContain('- `k1`: often flowers; also tulips, wilted.\n- `k2`: often ironware; also bent, nail.');
  });

  test.each([
    'Wrong.\nExpected: k1\nGiven: k2',
    'Expected "k1" but got "k2".',
    'The correct label is k1; the answer k2 is not.',
    'This should have been `k1`.',
    'It belongs to `k1`.',
    'Not k2: k1!',
    'Wrong for "the tulips wilted". Expected `k1`.',
  ])('understands the feedback %j', (feedback) => {
    expect(propose(base, [labelled('the tulips wilted', 'k1', feedback)])).toContain('- `k1`: also tulips, wilted.');
  });

  test('keeps its text bounded over many rounds', () => {
    let text = base;
    for (let round = 0; round < 40; round += 1) {
      const many = Array.from({ length: 8 }, (_, n) => {
        const words = Array.from({ length: 40 }, (__, k) => `w${round}x${n}y${k}`).join(' ');
        return labelled(words, `k${1 + (n % 3)}`);
      });
      text = propose(text, many);
    }
    expect(text.length).toBeLessThan(20_000);
    expect(text.startsWith(base)).toBe(true);
  });

  test('leaves out what is said twice after a stall, and learns as before', () => {
    const repeated = 'Classify {text}. Be exact.\nBe exact. Be kind.\n\nbe exact.\n- Be kind.';
    const shorter = 'Classify {text}. Be exact.\nBe kind.\n\n- Be kind.';
    expect(propose(repeated, [], 'compress')).toBe(shorter);
    expect(propose(repeated, failures, 'restart')).toContain(`${shorter}\n\nHow to tell`);
  });
});

test('notes the feedback once if no answer is named', () => {
  const failure = example('seed 1', 'x', 'Name the price.\nmore');
  const text = propose('Sell.', [failure, failure]);
  expect(text).toBe('Sell.\n- Name the price.');
  expect(propose(text, [failure])).toBe(text);
});

describe('of lookups', () => {
  const asked = JSON.stringify({ facts, question: 'Which figure does the ruler show for the guard at Alder?' });

  test('learns the words for an attribute from a path to the answer, without names', () => {
    expect(propose('Answer.', [example(asked, 'Birk', 'Wrong.\nExpected: 2 m\nGiven: Birk')])).toBe(
      'Answer.\n\nWhat to look up, by how it is asked for:\n' +
        '- `keeper`: also figure, ruler, guard.\n- `height`: also figure, ruler, guard.',
    );
    expect(propose('Answer.', [example(asked, 'x', 'Expected: 7 m')])).not.toContain('What to look up');
  });

  test('learns once, from whole statements, to answer with values', () => {
    const failure = example(asked, 'The keeper of Alder is Birk', 'Wrong.\nExpected: 12 m\nGiven: x');
    const once = propose('Answer {{facts}}', [failure]);
    expect(once).toContain('Answer {{facts}}\n\nGive what is found alone, and nothing else.\n\nWhat to look up');
    expect(propose(once, [failure]).match(/alone/g)).toHaveLength(1);
  });
});

describe('of graphs', () => {
  const single = singleStepGraph([{ role: 'system', content: 'Answer.' }], ['facts', 'question']);
  const failed = (question: string, feedback: string): FailedRun => ({
    ...example(JSON.stringify({ facts, question }), 'x', feedback),
    calls: 1,
    tokens: null,
    steps: [{ step: 'solve', value: 'x' }],
  });
  const two = failed('How high reaches the guard of Alder?', 'Expected: 2 m');
  const one = failed('How high is Birk?', 'Expected: 2 m');

  function edit(graph: Graph, failures: FailedRun[]): { names: string[]; graph: Graph } {
    const common = { maxEdits: 3, attempts: { now: 1, most: 72 }, models: ['local'] };
    const proposal = { ...common, graph: graphText(graph), failures };
    const answer = answerQuestion({ kind: 'edits', graph, proposal });
    const parsed = parseEdits(answer, { finishReason: 'stop', schema: editsSchema, maxEdits: 3 });
    if (!parsed.ok) throw new Error(parsed.reason);
    const applied = applyEdits(graph, parsed.edits, { models: ['local'], maxAttempts: 72 });
    if (!applied.ok) throw new Error(JSON.stringify(applied.problems));
    return { names: parsed.edits.map(({ edit }) => edit), graph: applied.graph };
  }

  test('splits a step if more lookups lead to the answer than there are steps', () => {
    const once = edit(single, [one, two]);
    expect(once.names).toEqual(['decompose']);
    expect(once.graph.steps.map(({ id }) => id)).toEqual(['solve_plan', 'solve']);
    expect(edit(once.graph, [two]).names).toEqual(['prompt', 'prompt']);
  });

  test('else writes lessons, or adds a check where no feedback teaches one', () => {
    const { names, graph } = edit(single, [one, one, two]);
    expect(names).toEqual(['prompt']);
    expect((graph.steps[0] as LlmStep).messages[0]!.content).toContain('- `height`: mostly high;');
    expect(edit(single, [failed('x', '')]).names).toEqual(['verify']);
  });
});
