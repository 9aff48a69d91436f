import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readMessage } from '../../../../src/models/routes/forms/messages/request.js';
import { readResponse } from '../../../../src/models/routes/forms/responses/request.js';
import type { ApiError } from '../../../../src/platform/http/server/errors.js';

// Invariants: a request in another form loses no text, picture, call or result, whatever the mix;
// results follow their calls at once; what has no counterpart is refused by its field.

type Json = Record<string, unknown>;
interface Call {
  id: string;
  name: string;
  args: Json;
  result: string;
}
/** What a conversation says, one after the other. */
type Turn =
  | { kind: 'user'; texts: string[]; image: string | null }
  | { kind: 'assistant'; text: string | null; calls: Call[] }
  | { kind: 'system'; text: string };

let named = 0;
/** A text that no other place of the request has. */
const word = fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => `<${(named += 1)}>${text}`);
const call: fc.Arbitrary<Call> = fc.record({
  id: word,
  name: word,
  args: fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Json>,
  result: word,
});
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({
    kind: fc.constant('user' as const),
    texts: fc.array(word, { minLength: 1, maxLength: 3 }),
    image: fc.option(word),
  }),
  fc.record({
    kind: fc.constant('assistant' as const),
    text: fc.option(word),
    calls: fc.array(call, { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('system' as const), text: word }),
);
const talk = fc
  .array(turn, { maxLength: 6 })
  .map((turns) => [...turns, { kind: 'user' as const, texts: [`<${(named += 1)}>last`], image: null }]);

const responseInput = (turns: readonly Turn[]): Json[] =>
  turns.flatMap((said): Json[] => {
    if (said.kind === 'system') return [{ role: 'developer', content: said.text }];
    if (said.kind === 'user') {
      const image = said.image === null ? [] : [{ type: 'input_image', image_url: said.image, detail: 'low' }];
      return [
        {
          type: 'message',
          role: 'user',
          content: [...said.texts.map((text) => ({ type: 'input_text', text })), ...image],
        },
      ];
    }
    const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said.text }] };
    return [
      { type: 'reasoning', summary: [], id: 'rs_1' },
      ...(said.text === null ? [] : [answer]),
      ...said.calls.map(({ id, name, args }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: JSON.stringify(args),
      })),
      ...said.calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
    ];
  });

const messageInput = (turns: readonly Turn[]): Json[] =>
  turns.flatMap((said): Json[] => {
    if (said.kind === 'system') return [{ role: 'system', content: said.text }];
    if (said.kind === 'user') {
      const image = said.image === null ? [] : [{ type: 'image', source: { type: 'url', url: said.image } }];
      return [{ role: 'user', content: [...said.texts.map((text) => ({ type: 'text', text })), ...image] }];
    }
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      ...(said.text === null ? [] : [{ type: 'text', text: said.text }]),
      ...said.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    ];
    const results = said.calls.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result }));
    return [{ role: 'assistant', content }, ...(results.length > 0 ? [{ role: 'user', content: results }] : [])];
  });

interface Message extends Json {
  role: string;
  content: string | { type: string; text?: string; image_url?: { url: string } }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** The texts, pictures, calls and results of chat messages, one after the other. */
function saidIn(messages: readonly Message[]): string[] {
  return messages.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
    const texts = parts.map((part) => ('image_url' in part ? part.image_url!.url : part.text!));
    const named = calls.map(({ id, function: { name, arguments: args } }) => `${id} ${name} ${args}`);
    return [...texts.map((text) => `${role} ${String(id ?? '')} ${text}`), ...named];
  });
}

function saidBy(turns: readonly Turn[], system: string): string[] {
  return turns.flatMap((said) => {
    if (said.kind === 'system') return [`${system}  ${said.text}`];
    if (said.kind === 'user') {
      return [...said.texts, ...(said.image === null ? [] : [said.image])].map((text) => `user  ${text}`);
    }
    return [
      ...(said.text === null ? [] : [`assistant  ${said.text}`]),
      ...said.calls.map(({ id, name, args }) => `${id} ${name} ${JSON.stringify(args)}`),
      ...said.calls.map(({ id, result }) => `tool ${id} ${result}`),
    ];
  });
}

/** Whether each result stands behind its calls with nothing but results between. */
function resultsFollow(messages: readonly Message[]): boolean {
  return messages.every((message, at) => {
    if (message.role !== 'tool') return true;
    const before = messages.slice(0, at).findLast(({ role }) => role !== 'tool');
    return before?.tool_calls?.some(({ id }) => id === message['tool_call_id']) === true;
  });
}

describe('a request', () => {
  test.each<[string, string, (turns: readonly Turn[]) => Json]>([
    ['of a response', 'developer', (turns) => readResponse({ input: responseInput(turns) }).chat],
    ['of a message', 'system', (turns) => readMessage({ messages: messageInput(turns) }).chat],
  ])('%s loses nothing that is said', (_, system, chatOf) => {
    fc.assert(
      fc.property(talk, (turns) => {
        const messages = chatOf(turns)['messages'] as Message[];
        expect(saidIn(messages)).toEqual(saidBy(turns, system));
        expect(resultsFollow(messages)).toBe(true);
      }),
    );
  });

  test('keeps the pictures of results, behind all results', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AA==' };
    const content = ['a', 'b'].map((id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'image', source }],
    }));
    const asked = {
      role: 'assistant',
      content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'see', input: {} })),
    };
    const { messages } = readMessage({ messages: [asked, { role: 'user', content }] }).chat as { messages: Message[] };
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user']);
    const pictures = (messages[3]!.content as Json[]).filter(({ type }) => type === 'image_url');
    expect(pictures).toEqual(
      [1, 2].map(() => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } })),
    );
  });

  test('of a response has its other fields under the names of chat completions', () => {
    const schema = { type: 'object', properties: {} };
    const tool = { type: 'function', name: 'look', description: 'Looks.', parameters: schema, strict: true };
    const { chat } = readResponse({
      model: 'm',
      stream: true,
      stream_options: { include_obfuscation: false },
      instructions: 'Be brief.',
      input: 'Hi.',
      tools: [tool],
      tool_choice: { type: 'function', name: 'look' },
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 5,
      temperature: 0.5,
      top_p: null,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      top_logprobs: 2,
      store: true,
      metadata: { a: 'b' },
      truncation: 'auto',
      'x-own': 1,
    });
    expect(chat).toEqual({
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi.' },
      ],
      tools: [
        { type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      verbosity: 'low',
      reasoning_effort: 'low',
      max_completion_tokens: 5,
      temperature: 0.5,
      logprobs: true,
      top_logprobs: 2,
      'x-own': 1,
    });
  });

  test('of a message has its other fields under the names of chat completions', () => {
    const schema = { type: 'object', properties: {} };
    const { chat } = readMessage({
      model: 'm',
      max_tokens: 5,
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [{ role: 'user', content: 'Hi.' }],
      tools: [{ name: 'look', description: 'Looks.', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      thinking: { type: 'enabled', budget_tokens: 1024 },
      metadata: { user_id: 'u' },
      top_k: 3,
    });
    expect(chat).toEqual({
      model: 'm',
      max_completion_tokens: 5,
      messages: [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        { role: 'user', content: 'Hi.' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      stop: ['END'],
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      top_k: 3,
    });
  });

  test('without tools has no field about them', () => {
    const none = { tools: [], tool_choice: 'auto', parallel_tool_calls: true };
    expect(Object.keys(readResponse({ input: 'x', ...none }).chat)).toEqual(['messages']);
    const messages = [{ role: 'user', content: 'x' }];
    expect(Object.keys(readMessage({ messages, tools: [], tool_choice: { type: 'auto' } }).chat)).toEqual(['messages']);
  });
});

const user = { role: 'user', content: 'x' };
const pointerOf = (read: () => unknown): string | undefined => {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as ApiError).errors[0]?.pointer;
  }
};

describe('what has no counterpart is refused by its field', () => {
  test.each<[string, Json]>([
    ['/previous_response_id', { previous_response_id: 'resp_1' }],
    ['/conversation', { conversation: 'conv_1' }],
    ['/prompt', { prompt: { id: 'pmpt_1' } }],
    ['/background', { background: true }],
    ['/tools/0/type', { tools: [{ type: 'web_search' }] }],
    ['/tools/0/name', { tools: [{ type: 'function' }] }],
    ['/tool_choice', { tool_choice: { type: 'file_search' } }],
    ['/include/0', { include: ['other'] }],
    ['/text/format/type', { text: { format: { type: 'grammar' } } }],
    ['/instructions', { instructions: [user] }],
    ['/input', { input: undefined }],
    ['/input', { input: [] }],
    ['/input', { input: [{ type: 'reasoning', summary: [] }] }],
    ['/input/0', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['/input/0/type', { input: [{ type: 'web_search_call', id: 'ws_1' }] }],
    ['/input/0/role', { input: [{ role: 'critic', content: 'x' }] }],
    ['/input/0/content/0/type', { input: [{ role: 'user', content: [{ type: 'video' }] }] }],
    ['/input/0/content/0/image_url', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
    ['/input/0/content/0/file_data', { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'u' }] }] }],
  ])('%s of a response', (pointer, body) => {
    expect(pointerOf(() => readResponse({ input: 'x', ...body }))).toBe(pointer);
  });

  test.each<[string, Json]>([
    ['/max_tokens', { max_tokens: 0 }],
    ['/mcp_servers', { mcp_servers: [{ url: 'u' }] }],
    ['/container', { container: 'c' }],
    ['/tools/0/type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['/tool_choice/type', { tools: [{ name: 'a' }], tool_choice: { type: 'some' } }],
    ['/output_config/format/type', { output_config: { format: { type: 'xml' } } }],
    ['/stop_sequences/0', { stop_sequences: [1] }],
    ['/system', { system: 1 }],
    ['/messages', { messages: [] }],
    ['/messages', { messages: undefined }],
    ['/messages', { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }] }] }],
    ['/messages/0/role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['/messages/0/content/0/type', { messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] }],
    ['/messages/0/content/0/type', { messages: [{ role: 'assistant', content: [{ type: 'server_tool_use' }] }] }],
    [
      '/messages/0/content/0/source',
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] },
    ],
  ])('%s of a message', (pointer, body) => {
    expect(pointerOf(() => readMessage({ messages: [user], ...body }))).toBe(pointer);
  });
});
