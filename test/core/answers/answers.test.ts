import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { blocksOf } from '../../../src/core/answers/blocks.js';
import { emptyReason, isCut } from '../../../src/core/answers/ending.js';
import { readJson, readTolerantJson } from '../../../src/core/answers/json.js';
import { readPromptText } from '../../../src/core/answers/prompt-text.js';
import { passAnswer } from '../../../src/core/answers/streamed.js';
import { splitThoughts } from '../../../src/core/answers/thoughts.js';
import { isObject } from '../../../src/util/json.js';
import { pureRuns } from '../../support/runs.js';
import { markedText, thought, wrapping } from './texts.js';

const f = '```';

describe('splitThoughts', () => {
  test('reads to the final text in all wrappings, and sets nothing more apart', () => {
    const final = fc.constantFrom('4', 'A text.', '{"a": 1}', `${f}\nFinal.\n${f}`, 'a < b', 'The thinking is done.');
    fc.assert(
      fc.property(wrapping, thought, final, (wrap, thoughts, answer) => {
        const split = splitThoughts(wrap(thoughts, answer));
        expect(split.answer).toBe(answer);
        expect(split.thoughts).not.toBeNull();
        expect(splitThoughts(answer)).toEqual({ thoughts: null, answer });
      }),
    );
  });

  test.each([
    ['', null, ''],
    [' no thoughts ', null, ' no thoughts '],
    ...['think', 'thinking', 'reasoning', 'thought', 'antml:thinking', 'seed:think'].map(
      (tag): [string, string, string] => [`<${tag}>cut off among`, `<${tag}>cut off among`, ''],
    ),
    ['<|channel|>analysis<|message|>cut off', 'cut off', ''],
    ['analysisWe add.assistantfinalfour', 'We add.', 'four'],
    ['<|channel|>final<|message|>five<|end|><|start|>assistant<|channel|>final<|message|>four<|return|>', '', 'four'],
    ['<think>a<think>b</think>c</think>d', '<think>a<think>b</think>c</think>', 'd'],
    ['Write `</think>` behind your thoughts.', null, 'Write `</think>` behind your thoughts.'],
    [
      `${f}\nThink inside <think> tags, then </think>.\n${f}`,
      null,
      `${f}\nThink inside <think> tags, then </think>.\n${f}`,
    ],
    [`${f}\nClose with\n</think>\n${f}`, null, `${f}\nClose with\n</think>\n${f}`],
    ['<thinker>x</thinker>', null, '<thinker>x</thinker>'],
    ['The answer is <answer>4</answer>', null, 'The answer is <answer>4</answer>'],
    ['<|channel|>commentary to=functions.x<|message|>{"a":1}<|call|>', '{"a":1}', ''],
  ])('%j', (text, thoughts, answer) => {
    expect(splitThoughts(text)).toEqual({ thoughts, answer });
  });
});

describe('readJson', () => {
  const jsonWraps: readonly ((json: string) => string)[] = [
    (json) => json,
    (json) => ` \n${json}\n`,
    (json) => `${f}json\n${json}${f}`,
    (json) => `${f}json\n${json}\n${f}`,
    (json) => `${f}\r\n${json}\r\n${f}\r\nDone.`,
    (json) => `${f}\`json\n${json}\n${f}\``,
    (json) => `~~~json\n${json}\n~~~`,
    (json) => `${f}json ${json} ${f}`,
    (json) => `Here is my judgement:\n${json}`,
    (json) => `Here it is:\n${f}JSON\n${json}\n${f}\nSee [docs] and [1].`,
    (json) => `Result: ${json}. Note [1].`,
    (json) => `${json}\n\nReferences: [1]`,
    (json) => `First I thought {x: 2} or {"a": 0}, and now: ${json}`,
    (json) => `${f}json\n{"a": 0}\n${f}\nNo:\n${f}json\n${json}\n${f}`,
    (json) => `${f}json\n{"a": 0}\n${f}\nFinal answer: ${json}`,
    (json) => `${f}bash\nls\n${f}\n${f}json\n${json}\n${f}`,
  ];

  test('reads the last whole value in its usual wrappings, after thoughts', () => {
    const value = fc.dictionary(
      fc.constantFrom('a', 'b c', '`', '{'),
      fc.jsonValue({ maxDepth: 2 }).filter((inner) => !/<|\[THINK|◁/.test(JSON.stringify(inner))),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(
        value,
        fc.constantFrom(...jsonWraps),
        fc.option(fc.tuple(wrapping, thought)),
        (given, wrap, before) => {
          const text = wrap(JSON.stringify(given));
          const whole = before ? before[0](before[1], text) : text;
          expect(readJson(whole, isObject)).toEqual({ value: JSON.parse(JSON.stringify(given)) as unknown });
        },
      ),
    );
  });

  test.each([
    '',
    'no',
    '{"a": 1',
    `${f}\n{"a": 1`,
    '{"a": NaN}',
    'So: {"a": {"b": 1}, "c": ',
    '{"a": {"b": 1}, "c": [',
    '{"a": {"b": 1},}',
    '<think>{"a": 1}',
    '{"a": {"b": 1}, "c": NaN}',
    'First {"a": {"b": 1}}, now: {"a": {"b": 2}, "c": ',
    `${f}json\n{"a": 1}\n${f}\nNo:\n${f}json\n{"a": `,
    '{"a": {"b": 1}, "t": "one\ntwo"}',
  ])('finds no value in %j', (text) => {
    expect(readJson(text)).toBeNull();
  });

  test.each([JSON.stringify('{"a": 1}'), `${f}json\n${JSON.stringify('{"a": 1}')}\n${f}`, '{"a": 1}<|im_end|>'])(
    'reads the object in %j',
    (text) => expect(readJson(text, isObject)).toEqual({ value: { a: 1 } }),
  );

  test('forgives for the service itself what JSON does not', () => {
    expect(readTolerantJson('{"a": {"b": 1,},}')).toEqual({ value: { a: { b: 1 } } });
    expect(readTolerantJson('Here: {"t": "one\ntwo, }"}')).toEqual({ value: { t: 'one\ntwo, }' } });
    expect(readJson('The list is [1, 2].')).toEqual({ value: [1, 2] });
    expect(readJson('{"a": 1}\n\nReferences: [1]')).toEqual({ value: { a: 1 } });
    expect(readJson('So {"a": 1}, unlike `{"b": 2}` and {}.')).toEqual({ value: { a: 1 } });
    expect(readJson(`Two:\n${f}\n2\n${f}`)).toEqual({ value: 2 });
    expect(readJson('null')).toEqual({ value: null });
    expect(readJson(JSON.stringify({ a: `\n${f}\n` }))).toEqual({ value: { a: `\n${f}\n` } });
  });
});

describe('readPromptText', () => {
  const text = 'Answer {question} with a letter.';
  const textOf = (answer: string, parent = 'Answer {question}.') => {
    const read = readPromptText(answer, parent);
    return read.ok ? read.text : null;
  };
  const finals: readonly string[] = [
    `${f}\n${text}\n${f}`,
    `${f}markdown\n${text}\n${f}\nThis is better.`,
    `${f}\`\n${text}\n${f}\``,
    `~~~\n${text}\n~~~`,
    `${f}\n${text}${f}`,
    `Here it is: ${f}\n${text}\n${f}`,
    `So: ${f}${text}${f}.`,
    text,
    `Here's the new instruction for the assistant:\n\n${text}`,
    `**New prompt:**\n${text}`,
    `**New prompt**: ${text}`,
    `# Improved Prompt\n\n${text}`,
    `**Improved Prompt:**\n\n___\n\n${text}`,
    `**New prompt:\n**\n${text}`,
    `New prompt:\n***\n${text}\n***`,
    `Sure! Here is the improved prompt:\n---\n${text}`,
    `New instruction: ${text}`,
    `"${text}"`,
    `“${text}”`,
    `<prompt>\n${text}\n</prompt>`,
    JSON.stringify({ prompt: text }),
    JSON.stringify({ extract_number: text }),
    `${f}json\n${JSON.stringify({ instruction: text })}\n${f}`,
    `${f}json\n${JSON.stringify({ reasoning: 'It lacked a rule.', new_instruction: text })}\n${f}`,
    JSON.stringify([{ role: 'system', content: text }]),
    `${f}json\n${JSON.stringify({ messages: [{ role: 'system', content: text }] })}\n${f}`,
    `${f}\n# Improved Prompt\n\n${text}\n${f}`,
    `${f}\nHere's the new instruction:\n"${text}"\n${f}`,
    `${f}\`markdown\n${f}\n${text}\n${f}\n${f}\``,
    `${f}\n${text}\n${f}\nUse it so:\n${f}python\nask(prompt)\n${f}`,
    ...['Prompt: ', 'System: ', 'Instruction: ', '**Prompt:** ', '**System prompt**: ', 'Revised prompt — '].map(
      (title) => `${title}${text}`,
    ),
    ...['# Prompt', '**Instruction**', '[SYSTEM]', 'Final answer:', 'Revised Prompt\n=====', 'prompt: |'].map(
      (title) => `${title}\n${title.endsWith('|') ? '  ' : ''}${text}`,
    ),
    `${f}\nPrompt: ${text}\n${f}`,
    `${f}yaml\nprompt: ${text}\n${f}`,
    `> ${f}\n> ${text}\n> ${f}`,
    `<reflection>It lacked a rule.</reflection>\n<output>\n${text}\n</output>`,
    `Here it is:\n<improved_prompt>\n${text}\n</improved_prompt>\nI added a rule.`,
    `<prompt version="2">${text}</prompt>`,
    `<optimized_prompt>${text}</optimized_prompt>`,
    `[[ ## reasoning ## ]]\nIt lacked a rule.\n\n[[ ## instruction ## ]]\n${text}\n\n[[ ## completed ## ]]\n`,
    `‘${text}’`,
    `「${text}」`,
    ...['<|im_end|>', '<|eot_id|>\n', '<end_of_turn>'].map((mark) => `${f}\n${text}\n${f}${mark}`),
  ];
  const drafts = ['', `First attempt:\n${f}\nDRAFT one.\n${f}\nFinal version:\n`, `${f}\nDRAFT.\n${f}\nNo, shorter.\n`];

  test('reads to the final text, after thoughts and drafts, in all wrappings', () => {
    for (const final of finals) expect([final, textOf(final)]).toEqual([final, text]);
    fc.assert(
      fc.property(
        fc.constantFrom(...finals),
        fc.constantFrom(...drafts),
        fc.option(fc.tuple(wrapping, thought)),
        (final, draft, before) => {
          fc.pre(draft === '' || /^(?:`{3}|~~~)/.test(final));
          const answer = draft + final;
          expect(textOf(before ? before[0](before[1], answer) : answer)).toBe(text);
        },
      ),
    );
  });

  test.each([
    `Answer {question} so:\n${f}json\n{"a": 1}\n${f}\nand no more.`,
    `Answer {question} so:\n${f}\n{"a": 1}\n${f}\nand no more.`,
    `Use:\n${f}python\nf()\n${f}\nor\n${f}js\ng()\n${f}`,
    'Question: {question}\nAnswer:',
    'Say "yes" or "no" to {question}.',
    'Think inside <think> and </think>, then answer {question}.',
    '# Task\nAnswer {question}.\n\n## Rules\n- be brief',
    '# Instructions\nAnswer {question}.\n\n# Format\nA letter.',
    'Answer {question}.\nWrite <prompt> before it.\n- one\n- two',
    'System: answer {question}.\nUser: ask.',
    'I will ask {question}. Put the answer in <answer>x</answer> tags.',
    'Answer {question} as {"answer": "…"}',
  ])('keeps %j whole inside a block', (whole) => {
    expect(textOf(`${f}\n${whole}\n${f}`)).toBe(whole);
    expect(textOf(`<think>\n${f}\nDRAFT\n${f}\n</think>\n${f}\n${whole}\n${f}`)).toBe(whole);
    expect(textOf(`${f}\`\`\n${whole}\n${f}\`\``)).toBe(whole);
  });

  test('reads the text of an assignment', () => {
    expect(textOf(`${f}python\nprompt = """${text}"""\n${f}`)).toBe(text);
  });

  test('keeps what the parent has', () => {
    expect(textOf(`${f}\n"B"\n${f}`, '"A"')).toBe('"B"');
    expect(textOf(`${f}\n{"rule": "B"}\n${f}`, '{"rule": "A"}')).toBe('{"rule": "B"}');
    expect(textOf(`${f}\n# New instruction\nB\n${f}`, '# New instruction\nA')).toBe('# New instruction\nB');
  });

  test.each([
    '',
    'no idea',
    "I'm sorry, but I can't help with that.",
    'I think that the prompt should be shorter.',
    'see ``` there',
    `${f}\nDo it and`,
    `${f}\nDRAFT\n${f}\nFinal version:\n${f}\nDo it and`,
    '<think>Let me see.',
    `${f}json\n${JSON.stringify([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
    ])}\n${f}`,
    `${f}json\n{"rule_1": "a", "rule_2": "b"}\n${f}`,
    `${f}\n{'prompt': 'a', 'why': 'b'}\n${f}`,
    `${f}json\n{"answer": "a number"}\n${f}`,
    `${f}json\n["Answer {question}.", "Answer it."]\n${f}`,
    `${f}\n{"title": "Letters", "description": "Answer {question} with a letter."}\n${f}`,
    `${f}\n...\n${f}`,
    `${f}\n<new instruction here>\n${f}`,
    `${f}\nI'm sorry, I can't help with that.\n${f}`,
    `${f}diff\n-Answer {question}.\n+Answer {question} with a letter.\n${f}`,
    'The new instruction should be shorter and name the letters.',
  ])('refuses %j', (answer) => {
    expect(textOf(answer)).toBeNull();
  });
});

test('blocks do not overlap, and end where they began at the earliest', () => {
  const piece = fc.constantFrom(f, '\n', `${f}\``, 'text:', ' ', `${f}json\n`, '\r\n', '~~~');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      let at = 0;
      for (const { start, end } of blocksOf(text)) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThanOrEqual(start);
        at = end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    }),
  );
});

describe('any text', () => {
  const opening = /^\s*(?:<(?:think|thinking|reasoning|seed:think)(?:\s[^<>\n]*)?>|\[THINK\]|◁think▷)/i;
  /** Long texts of one piece, on which a reader could take the square of the time. */
  const hostile = [
    '```\n',
    '{"a":',
    '[[1',
    '<think>',
    '</think>',
    '"',
    'x:\n```\n',
    '<think></think>',
    '<|channel|>',
    '{"a":1,}',
    '`</think>`',
    '```\n</think>\n',
    '<think>a</think>\n',
    'analysis',
    '[1]',
    '{"a":"',
    '\\"',
    '~~~x\n',
    '<|im_end|>',
    ' <eos>\n',
  ].map((piece) => piece.repeat(Math.ceil(200_000 / piece.length)));
  const check = (text: string) => {
    const { answer, thoughts } = splitThoughts(text);
    // The answer is a part of the text: all of it without thoughts, but for marks of the end.
    expect(text.includes(answer)).toBe(true);
    if (thoughts === null) expect(text.startsWith(answer)).toBe(true);
    if (thoughts === null && answer !== text) expect(text.slice(answer.length)).toMatch(/^(?:\s*<\S+>)+\s*$/);
    if (thoughts !== null) expect(answer).toBe(answer.trim());
    expect(thoughts?.length ?? 0).toBeLessThanOrEqual(text.length + 20_000);
    const json = readJson(text);
    expect(readJson(answer)).toEqual(json);
    // What is read is read again, alone and in a fence.
    if (json) expect(readJson(JSON.stringify(json.value))).toEqual({ value: again(json.value) });
    if (json) expect(readTolerantJson(text)).toEqual(json);
    const prompt = readPromptText(text, '');
    if (prompt.ok) expect(prompt.text.length).toBeLessThanOrEqual(text.length);
  };
  const again = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

  test.each(hostile)('%#: keeps to the text', (text) => check(text));

  test('keeps to the text, and reads to the same when it is read again', () => {
    fc.assert(
      fc.property(markedText, (text) => {
        check(text);
        const { answer } = splitThoughts(text);
        expect(splitThoughts(answer)).toEqual({ thoughts: null, answer });
        expect(answer).not.toMatch(opening);
      }),
      { numRuns: pureRuns(500) },
    );
  });
});

describe('passAnswer', () => {
  const passed = (text: string, cuts: readonly number[], lacksOpening: boolean) => {
    const pieces: string[] = [];
    const push = passAnswer((piece) => pieces.push(piece), lacksOpening);
    const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((left, right) => left - right);
    for (const [at, end] of [...ends, text.length].entries()) push(text.slice(at === 0 ? 0 : ends[at - 1], end));
    return pieces.join('');
  };
  const cuts = fc.array(fc.nat(), { maxLength: 12 });
  const final = fc.constantFrom(
    'The answer is 4.',
    'a < b, <b>so</b> it is',
    `${f}js\nf()\n${f}\nis it.`,
    '{"a": 1}, then',
  );

  test('passes the answer or nothing, however the text is cut', () => {
    fc.assert(
      fc.property(wrapping, thought, final, cuts, (wrap, thoughts, answer, at) => {
        const text = wrap(thoughts, answer);
        expect(['', answer]).toContain(passed(text, at, true).trimEnd());
      }),
    );
  });

  test('passes the end of any text, and all of a text that has no thought', () => {
    fc.assert(
      fc.property(markedText, cuts, fc.boolean(), (text, at, lacksOpening) => {
        const given = passed(text, at, lacksOpening);
        expect(text.endsWith(given)).toBe(true);
        if (splitThoughts(text).thoughts === null) expect(['', text]).toContain(given);
      }),
      { numRuns: pureRuns(500) },
    );
  });

  test.each([
    ['The answer', false, 'The answer'],
    [' \nAn answer', false, ' \nAn answer'],
    ['<b>4</b>', false, '<b>4</b>'],
    ['<think>Hm.</think>\n\nFour it is.', false, 'Four it is.'],
    ['<think>a <think>b</think> c</think>Four it is.', false, 'Four it is.'],
    ['<think>\n</think>\n[THINK]x[/THINK] Four it is.', false, 'Four it is.'],
    ['Hm.\n</think>\nFour it is.', true, 'Four it is.'],
    // Unknown to the end.
    ['Four it is.', true, ''],
    ['<think>Hm', false, ''],
    ['<think>Hm.</think>', false, ''],
    ['<think>a <think>b</think>Four it is.', false, ''],
    [`<think>\n${f}\n</think>\nFour it is.`, false, ''],
    ['<|channel|>final<|message|>Four it is.', false, ''],
    ['analysisHm.assistantfinalFour', false, ''],
  ])('%j (%j): %j', (text, lacksOpening, answer) => {
    for (const size of [1, 3, 1_000]) {
      const at = [...Array(Math.ceil(text.length / size)).keys()].map((n) => n * size);
      expect(passed(text, at, lacksOpening)).toBe(answer);
    }
  });
});

test('emptyReason names why there is no answer', () => {
  const ended = { text: ' ', thoughts: null, finishReason: 'stop', refusal: null };
  expect(emptyReason(ended)).toBe('nothing');
  expect(emptyReason({ ...ended, finishReason: null })).toBe('nothing');
  expect(emptyReason({ ...ended, text: 'x', finishReason: 'length' })).toBeNull();
  expect(emptyReason({ ...ended, finishReason: 'MAX_TOKENS' })).toBe('length');
  expect(emptyReason({ ...ended, finishReason: 'SAFETY' })).toBe('content_filter');
  expect(emptyReason({ ...ended, refusal: 'I cannot.' })).toBe('refusal');
  expect(emptyReason({ ...ended, thoughts: 'Hm.' })).toBe('thoughts');
  expect(isCut(null)).toBe(false);
});
