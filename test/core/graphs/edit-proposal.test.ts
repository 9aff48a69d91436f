import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editSchema, editsSchema } from '../../../src/kinds/graph/contract/graph.js';
import { buildEditProposal, parseEdits, type EditProposal } from '../../../src/core/graphs/edits/proposal.js';
import { graphText } from '../../../src/core/graphs/text.js';
import { oneStep, user } from './cases.js';

const failure = {
  input: 'in',
  output: 'out',
  feedback: 'fb',
  reward: 0.25,
  steps: [{ step: 'solve', value: 'a\nb' }],
  calls: 2,
  tokens: 300,
};
const given: EditProposal = {
  graph: graphText(oneStep),
  failures: [failure],
  models: ['big', 'small'],
  maxEdits: 3,
  attempts: { now: 3, most: 72 },
};
const shown = (changes: Partial<EditProposal> = {}) => buildEditProposal({ ...given, ...changes })[0]!.content;

describe('buildEditProposal', () => {
  test('shows the graph, the runs and the rules', () => {
    const content = shown({ task: 'Sums.', problems: ['edits[0].step: there is no\nstep "x"'] });
    expect(content).toContain(`\n\`\`\`\n${graphText(oneStep)}\n\`\`\`\n`);
    expect(content).toContain(
      '# Run 1\n## Input\n> in\n## Steps\n> solve: a\n> b\n## Output\n> out\n## Feedback\n> fb\n## Reward\n0.25\n' +
        '## What it took\n2 model calls, 300 tokens',
    );
    expect(content).toContain('\n> Sums.\n');
    expect(content).toContain('MODEL is one of: "big", "small"');
    expect(content).toContain('\n> edits[0].step: there is no\n> step "x"\n');
    expect(content).toContain(
      'of this graph makes at most 3 model calls, of the edited graph at most 72: a graph that',
    );
    expect(content).toContain('Edits set no "tries" and no "timeout_s".');
    expect(content).toContain('Give 1 to 3 edits as one JSON list');
    expect(shown()).not.toContain('could not be taken');
  });

  test('documents every edit', () => {
    const content = shown();
    const names = editSchema.options.map((option) => option.shape.edit.value);
    expect(names).toHaveLength(10);
    for (const name of names) expect(content).toContain(`{"edit": "${name}"`);
  });

  test('quotes every line of untrusted text', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r\n',
      '\r',
      '\u2028',
      '\u0085',
      '```',
      '````',
      '# Run 2',
      '## Feedback',
      'x',
      ' ',
    );
    const hostile = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
    const framing = (content: string) =>
      content.split(/[\n\v\f\r\u0085\u2028\u2029]/).filter((line) => !line.startsWith('> ') && line !== '');
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (input, output, feedback, value) => {
        const failures = [
          { input, output, feedback, reward: 0.25, steps: [{ step: value, value }], calls: 2, tokens: 300 },
        ];
        expect(framing(shown({ failures, task: input, problems: [output] }))).toEqual(
          framing(shown({ task: 'x', problems: ['x'] })),
        );
        const step = { ...oneStep.steps[0]!, messages: user(`${value}{{question}}`) };
        const graph = graphText({ ...oneStep, steps: [step as (typeof oneStep.steps)[number]] });
        const longest = Math.max(0, ...(graph.match(/`+/g) ?? []).map((run) => run.length));
        const fence = '`'.repeat(Math.max(3, longest + 1));
        expect(shown({ graph })).toContain(`\n${fence}\n${graph}\n${fence}\n`);
      }),
    );
  });

  test('cuts long texts', () => {
    const long = 'x'.repeat(200_000);
    const failures = [
      {
        input: long,
        output: long,
        feedback: long,
        reward: 0,
        steps: Array.from({ length: 99 }, () => ({ step: 's', value: long })),
        calls: 1,
        tokens: null,
      },
    ];
    expect(shown({ graph: long, failures, task: long }).length).toBeLessThan(250_000);
  });
});

const rules = { finishReason: 'stop', schema: editsSchema, maxEdits: 2 };
const fenced = (value: unknown) =>
  `So:\n\`\`\`json\n${typeof value === 'string' ? value : JSON.stringify(value, null, 1)}\n\`\`\`\n`;
const remove = { edit: 'remove', step: 'solve' };
const reason = (answer: string, changes: Partial<typeof rules> = {}) => {
  const parsed = parseEdits(answer, { ...rules, ...changes });
  return parsed.ok ? 'taken' : parsed.reason;
};

describe('parseEdits', () => {
  test('parses the last fenced block', () => {
    expect(parseEdits(fenced([remove]), rules)).toEqual({ ok: true, edits: [remove] });
    expect(parseEdits(`\`\`\`\nfirst\n\`\`\`\n${fenced([remove, remove])}`, rules)).toMatchObject({ ok: true });
    expect(parseEdits(fenced([remove]).replaceAll('\n', '\r\n'), rules)).toMatchObject({ ok: true });
    const verify = { edit: 'verify', step: 'solve', prompt: 'a\n```\n{{draft}}\n```' };
    expect(parseEdits(fenced([verify]), rules)).toEqual({ ok: true, edits: [verify] });
  });

  test('accepts the JSON names of fields', () => {
    const prompt = { inputs: { q: 'input' }, messages: user('{{q}}'), timeout_s: 5 };
    const step = { id: 'm', type: 'map', ...prompt, output: { field: 'a' }, over: 'input', as: 'one', max_items: 3 };
    const vote = { edit: 'vote', step: 'solve', samples: 2, by: { judge: prompt } };
    expect(parseEdits(fenced([{ edit: 'add', step }, vote]), rules)).toMatchObject({
      edits: [{ step: { timeoutS: 5, maxItems: 3 } }, { by: { judge: { timeoutS: 5 } } }],
    });
  });

  test.each<[string, string]>([
    ['', 'the answer has no complete JSON list of edits'],
    [fenced([remove]).replace(/\n```\n$/, ''), 'no complete JSON list of edits: it may have been cut off'],
    [`${fenced([remove])}\n\`\`\`json\n[`, 'no complete JSON list'],
    [fenced('[{]'), 'no complete JSON list'],
    [fenced(remove), 'the edits are not a JSON list'],
    [fenced([]), 'there are 0 edits; 1 to 2 are wanted'],
    [fenced([remove, remove, remove]), 'there are 3 edits; 1 to 2 are wanted'],
    [fenced([remove, { edit: 'verify' }]), 'the edits are not of the form wanted: edits[1].step: '],
    [fenced([{ edit: 'python', code: 'x' }]), 'edits[0].edit: '],
    [fenced([{ ...remove, why: 'x' }]), 'edits[0]: '],
    [fenced([{ edit: 'verify', step: 'a', prompt: '\0' }]), 'the edits contain a NUL character'],
    [fenced(['remove']), 'edits[0]: '],
    [fenced(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 'the list of edits is nested deeper than 50 levels'],
  ])('rejects malformed edits (%#)', (answer, expected) => {
    expect(reason(answer)).toContain(expected);
  });

  test('rejects an answer that was cut off', () => {
    expect(reason(fenced([remove]), { finishReason: 'length' })).toContain('the answer was cut off');
  });

  test('never throws', () => {
    const piece = fc.constantFrom(
      '```',
      '\n',
      '```json',
      '[',
      ']',
      '{"edit": "remove", "step": "a"}',
      ',',
      'null',
      '"',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const parsed = parseEdits(pieces.join(''), rules);
        if (parsed.ok) expect(parsed.edits.every(({ edit }) => edit === 'remove')).toBe(true);
        else expect(parsed.reason).not.toBe('');
      }),
    );
  });
});
