import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chunksOf, isUsageChunk, sseData, StreamFold } from '../../../src/models/client/answers/chat-stream.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { sseBlocks, type SseBlock } from '../../../src/clients/net/sse.js';

async function split(pieces: Uint8Array[]): Promise<SseBlock[]> {
  async function* bytes() {
    yield* pieces;
  }
  const blocks: SseBlock[] = [];
  for await (const block of sseBlocks(bytes())) blocks.push(block);
  return blocks;
}

describe('server-sent events', () => {
  const text =
    ': hello\n\ndata: {"a":"é😀"}\n\nevent: x\ndata: one\ndata:two\n\n\r\ndata: crlf\r\n\r\ndata: [DONE]\n\ndata: rest';

  test('separates events at any line ending', async () => {
    const blocks = await split([Buffer.from(text)]);
    expect(blocks.map(({ data }) => data).filter((data) => data !== null)).toEqual([
      '{"a":"é😀"}',
      'one\ntwo',
      'crlf',
      '[DONE]',
      'rest',
    ]);
  });

  test('parses the same events from any chunks of bytes', async () => {
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        const blocks = await split(pieces);
        expect(blocks.map(({ raw }) => raw).join('')).toBe(text);
        expect(blocks.map(({ data }) => data)).toEqual((await split([bytes])).map(({ data }) => data));
      }),
    );
  });
});

function fold(chunks: Record<string, unknown>[]): Record<string, unknown> | null {
  const state = new StreamFold();
  for (const chunk of chunks) state.add(chunk);
  return state.completion();
}
const choice = (delta: object, finish: string | null = null, index = 0, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index, delta, finish_reason: finish, ...more }],
});

describe('folding a stream', () => {
  test('joins texts and keeps finish reason, usage and unknown fields', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const folded = fold([
      { ...choice({ role: 'assistant', content: '' }), x_custom: 1 },
      choice({ content: 'Hel', reasoning_content: 'hm' }),
      choice({ content: 'lo', reasoning_content: 'm' }, null, 0, { logprobs: { content: [{ token: 'lo' }] } }),
      choice({}, 'stop'),
      { id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [], usage },
    ]);
    expect(folded).toEqual({
      id: 'c1',
      object: 'chat.completion',
      model: 'm',
      x_custom: 1,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', reasoning_content: 'hmm' },
          logprobs: { content: [{ token: 'lo' }] },
          finish_reason: 'stop',
        },
      ],
      usage,
    });
  });

  test('merges tool calls by index without joining repeated fields', () => {
    const call = (args: string, index = 0) => ({
      tool_calls: [{ index, id: `t${index}`, type: 'function', function: { name: 'f', arguments: args } }],
    });
    const folded = fold([choice(call('{"a"')), choice(call(':1}')), choice(call('{}', 1)), choice({}, 'tool_calls')]);
    expect(folded).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [
              { index: 0, id: 't0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { index: 1, id: 't1', function: { arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  test('folds many tool calls and wide heads in linear time', async () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x_${at}`, at]));
    const chunks: Record<string, unknown>[] = [{ ...wide, choices: [] }];
    for (let index = 0; index < 20_000; index += 1) {
      chunks.push(choice({ tool_calls: [{ index, function: { arguments: '{' } }] }));
    }
    chunks.push(choice({ tool_calls: [{ index: 19_999, function: { arguments: '}' } }] }));
    let folded: Record<string, unknown> | null = null;
    const held = await heldMs(() => (folded = fold(chunks)));
    expect(folded).toHaveProperty('choices.0.message.tool_calls.length', 20_000);
    expect(folded).toHaveProperty('choices.0.message.tool_calls.19999.function.arguments', '{}');
    expect(held).toBeLessThan(maxHeldMs);
  });

  test('keeps the order of several choices', () => {
    const folded = fold([
      choice({ content: 'b' }, null, 1),
      choice({ content: 'a' }),
      choice({ content: 'B' }, 'stop', 1),
    ]);
    expect(folded).toMatchObject({
      choices: [{ message: { content: 'a' } }, { message: { content: 'bB' }, finish_reason: 'stop' }],
    });
  });

  test('accepts an empty stream', () => expect(fold([])).toBeNull());

  test('does not change a prototype for a hostile stream', () => {
    fold([
      JSON.parse('{"choices":[{"delta":{"__proto__":{"bad":1}}}]}'),
      JSON.parse('{"choices":[{"delta":{"__proto__":{"bad":2}}}]}'),
    ]);
    expect(({} as { bad?: number }).bad).toBeUndefined();
  });

  test('restores a streamed completion', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (content, withUsage) => {
        const completion = {
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'length' }],
          usage: { prompt_tokens: 1 },
        };
        const chunks = [...chunksOf(completion, withUsage)];
        expect(chunks.some(isUsageChunk)).toBe(withUsage);
        const { usage, choices, ...rest } = completion;
        const [{ logprobs: _none, ...only }] = choices as [(typeof choices)[0]];
        expect(fold(chunks)).toEqual({ ...rest, choices: [only], ...(withUsage && { usage }) });
        // Pieces do not split surrogate pairs, which JSON in other languages would not keep.
        expect(chunks.map(sseData).join('')).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });
});
