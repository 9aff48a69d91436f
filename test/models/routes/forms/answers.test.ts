import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import OpenAI from 'openai';
import { StreamFold } from '../../../../src/models/client/answers/chat-stream.js';
import type { AnswerForm } from '../../../../src/models/routes/forms/form.js';
import { messageForm } from '../../../../src/models/routes/forms/messages/form.js';
import { responseForm } from '../../../../src/models/routes/forms/responses/form.js';

// Invariants: the events of a stream, folded by their documentation or by OpenAI's client, are the
// whole answer to the same completion, in whatever pieces it comes; no text and no call is lost.

type Json = Record<string, unknown>;
type Piece = { text: string } | { thoughts: string } | { refusal: string } | { call: number; args: string };

/** Cuts a text into pieces. */
const cut = (text: string, at: readonly number[]): string[] => {
  const places = [...new Set(at.map((place) => place % (text.length + 1)))].sort((left, right) => left - right);
  return [...places, text.length].map((end, n) => text.slice(n === 0 ? 0 : places[n - 1], end));
};
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const cuts = fc.array(fc.nat(20), { maxLength: 3 });
const lane = (make: (piece: string) => Piece, whole = text) =>
  fc.tuple(whole, cuts).map(([value, at]) => cut(value, at).map(make));
const args = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
const calls = fc.array(
  fc.tuple(args, cuts).map(([value, at]) => cut(JSON.stringify(value), at)),
  { maxLength: 3 },
);

/** The pieces of an answer: thoughts, text, a refusal and calls, one after the other. */
const inOrder: fc.Arbitrary<Piece[]> = fc
  .tuple(
    lane((thoughts) => ({ thoughts })),
    lane((piece) => ({ text: piece })),
    fc.oneof(
      lane((refusal) => ({ refusal })),
      fc.constant([]),
    ),
    calls,
  )
  .map(([thoughts, said, refusal, all]) => [
    ...thoughts,
    ...said,
    ...refusal,
    ...all.flatMap((pieces, call) => pieces.map((piece) => ({ call, args: piece }))),
  ]);
/** The same mixed, each part in its own order. */
const mixed: fc.Arbitrary<Piece[]> = fc.tuple(inOrder, fc.infiniteStream(fc.nat(1_000))).map(([pieces, draws]) => {
  const left = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const key = 'call' in piece ? `call ${piece.call}` : Object.keys(piece)[0]!;
    left.set(key, [...(left.get(key) ?? []), piece]);
  }
  const out: Piece[] = [];
  while (left.size > 0) {
    const keys = [...left.keys()];
    const key = keys[draws.next().value! % keys.length]!;
    const [next, ...rest] = left.get(key)!;
    out.push(next!);
    if (rest.length > 0) left.set(key, rest);
    else left.delete(key);
  }
  return out;
});
const finishes = fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls');
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, prompt_tokens_details: { cached_tokens: 2 } };

function chunksOf(pieces: readonly Piece[], finish: string): Json[] {
  const begun = new Set<number>();
  const deltas = pieces.map((piece): Json => {
    if ('text' in piece) return { content: piece.text };
    if ('thoughts' in piece) return { reasoning_content: piece.thoughts };
    if ('refusal' in piece) return { refusal: piece.refusal };
    const head = begun.has(piece.call) ? {} : { id: `call_${piece.call}`, type: 'function' };
    const name = begun.has(piece.call) ? {} : { name: `tool${piece.call}` };
    begun.add(piece.call);
    return { tool_calls: [{ index: piece.call, ...head, function: { ...name, arguments: piece.args } }] };
  });
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' };
  const chunk = (delta: Json, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    { ...head, choices: [], usage },
  ];
}

/** The events of a stream, and the whole answer to the same completion. */
function bothOf(form: AnswerForm, chunks: Json[]): { sse: string; events: Json[]; whole: Json } {
  const stream = form.stream('own-id');
  const fold = new StreamFold();
  let sse = '';
  for (const chunk of chunks) {
    sse += stream.add(chunk);
    fold.add(structuredClone(chunk));
  }
  sse += stream.end();
  const events = sse
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const [type, data] = block.split('\n') as [string, string];
      const event = JSON.parse(data.slice('data: '.length)) as Json;
      expect(type).toBe(`event: ${String(event['type'])}`);
      return event;
    });
  return { sse, events, whole: form.whole(fold.completion()!, 'own-id') };
}

const said = (pieces: readonly Piece[], name: string) =>
  pieces.map((piece) => (name in piece ? (piece as unknown as Record<string, string>)[name]! : '')).join('');
function callsIn(pieces: readonly Piece[]): Map<string, unknown> {
  const all = new Map<number, string>();
  for (const piece of pieces) if ('call' in piece) all.set(piece.call, (all.get(piece.call) ?? '') + piece.args);
  return new Map([...all].sort().map(([n, args]) => [`call_${n} tool${n}`, JSON.parse(args)]));
}

describe('a response', () => {
  const form = responseForm({ input: 'x', metadata: { a: 'b' } });
  interface Item extends Json {
    id: string;
    type: string;
    content: { type: string; text?: string; refusal?: string }[];
  }

  interface ResponseEvent {
    type: string;
    output_index: number;
    content_index: number;
    delta: string;
  }

  /** The items that the events describe. */
  function folded(events: readonly Json[]): Item[] {
    const items: Item[] = [];
    const done = new Map<unknown, unknown>();
    for (const event of events) {
      const { type, output_index: at, content_index: part, delta } = event as unknown as ResponseEvent;
      if (type === 'response.output_item.added')
        expect(items.push(structuredClone(event['item'] as Item)) - 1).toBe(at);
      const item = items[at]!;
      if (type === 'response.content_part.added') item.content[part] = structuredClone(event['part']) as never;
      if (type === 'response.output_text.delta' || type === 'response.reasoning_text.delta')
        item.content[part]!.text += delta;
      if (type === 'response.refusal.delta') item.content[part]!.refusal += delta;
      if (type === 'response.function_call_arguments.delta')
        item['arguments'] = `${item['arguments'] as string}${delta}`;
      if (type === 'response.content_part.done') expect(event['part']).toEqual(item.content[part]);
      if (type === 'response.output_item.done') done.set(at, event['item']);
    }
    expect([...done.values()]).toEqual(items.map((item) => ({ ...item, status: expect.anything() })));
    return [...done.values()] as Item[];
  }

  test('is the same from a stream as whole, whatever the pieces', () => {
    fc.assert(
      fc.property(inOrder, finishes, (pieces, finish) => {
        const { events, whole } = bothOf(form, chunksOf(pieces, finish));
        const last = events.at(-1) as { type: string; response: Json };
        expect(last.response).toEqual(whole);
        expect(folded(events)).toEqual(whole['output']);
        const isCut = finish === 'length' || finish === 'content_filter';
        expect([last.type, whole['status']]).toEqual(
          isCut ? ['response.incomplete', 'incomplete'] : ['response.completed', 'completed'],
        );
        expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, n) => n));
        expect(whole).toMatchObject({
          id: 'own-id',
          metadata: { a: 'b' },
          usage: { input_tokens: 7, output_tokens: 5 },
        });
      }),
    );
  });

  test('loses nothing where pieces come mixed', () => {
    fc.assert(
      fc.property(mixed, (pieces) => {
        const { events } = bothOf(form, chunksOf(pieces, 'stop'));
        const items = folded(events);
        const texts = items.flatMap(({ content = [] }) => content);
        const textOf = (type: string) =>
          texts.map((part) => (part.type === type ? (part.text ?? part.refusal!) : '')).join('');
        expect(textOf('output_text')).toBe(said(pieces, 'text'));
        expect(textOf('reasoning_text')).toBe(said(pieces, 'thoughts'));
        expect(textOf('refusal')).toBe(said(pieces, 'refusal'));
        const found = items.filter(({ type }) => type === 'function_call');
        const named = found.map(
          (item) =>
            [`${String(item['call_id'])} ${String(item['name'])}`, JSON.parse(item['arguments'] as string)] as const,
        );
        expect(new Map(named)).toEqual(callsIn(pieces));
      }),
    );
  });

  test('is read by OpenAI’s client as its events say', async () => {
    await fc.assert(
      fc.asyncProperty(inOrder, async (pieces) => {
        const { sse, whole } = bothOf(form, chunksOf(pieces, 'stop'));
        const answer = () => new Response(sse, { headers: { 'content-type': 'text/event-stream' } });
        const client = new OpenAI({
          apiKey: 'k',
          baseURL: 'http://127.0.0.1:9/v1',
          fetch: () => Promise.resolve(answer()),
        });
        const read = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
        expect(read.output_text).toBe(said(pieces, 'text'));
        expect(read.output.map(({ id, type }) => [id, type])).toEqual(
          (whole['output'] as Item[]).map(({ id, type }) => [id, type]),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('has the log-probabilities of its text', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] };
    const choices = [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: 'stop' }];
    const { events, whole } = bothOf(form, [{ id: 'c', choices }]);
    expect(whole['output']).toMatchObject([{ content: [{ text: 'a', logprobs: logprobs.content }] }]);
    expect(events.find(({ type }) => type === 'response.output_text.delta')).toMatchObject({
      logprobs: logprobs.content,
    });
    expect(whole['usage']).toBeNull();
  });
});

describe('a message', () => {
  const form = messageForm({ showsThoughts: true, stops: ['END'] });
  type Block = Record<string, string> & { type: string };

  interface BlockEvent {
    type: string;
    index: number;
    content_block: Block;
    delta: Record<string, string>;
  }

  /** The blocks that the events describe; each ends before the next begins. */
  function folded(events: readonly Json[]): Json[] {
    const blocks: Block[] = [];
    let open = false;
    for (const { type, index, content_block: start, delta } of events as unknown as BlockEvent[]) {
      if (type === 'content_block_start') {
        expect([open, index]).toEqual([false, blocks.length]);
        blocks.push(structuredClone(start));
        open = true;
      } else if (type === 'content_block_delta') {
        expect([open, index]).toEqual([true, blocks.length - 1]);
        const block = blocks.at(-1)!;
        const { text = '', thinking = '', partial_json: json = '' } = delta;
        if (block.type === 'text') block['text'] += text;
        if (block.type === 'thinking') block['thinking'] += thinking;
        if (block.type === 'tool_use') block['json'] = (block['json'] ?? '') + json;
      } else if (type === 'content_block_stop') {
        expect([open, index]).toEqual([true, blocks.length - 1]);
        open = false;
      }
    }
    expect(open).toBe(false);
    return blocks.map(({ json, ...block }) =>
      block['type'] === 'tool_use' ? { ...block, input: JSON.parse(json ?? '{}') as Json } : block,
    );
  }

  test('is the same from a stream as whole, whatever the pieces', () => {
    fc.assert(
      fc.property(inOrder, finishes, (pieces, finish) => {
        const { events, whole } = bothOf(form, chunksOf(pieces, finish));
        expect(folded(events)).toEqual(whole['content']);
        const [ending, last] = events.slice(-2) as [{ delta: Json; usage: Json }, Json];
        const { stop_reason, stop_sequence } = whole;
        expect([ending.delta, ending.usage, last['type']]).toEqual([
          { stop_reason, stop_sequence },
          whole['usage'],
          'message_stop',
        ]);
        expect(whole).toMatchObject({
          id: 'own-id',
          usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 5 },
        });
      }),
    );
  });

  test('loses nothing where pieces come mixed', () => {
    fc.assert(
      fc.property(mixed, (pieces) => {
        const blocks = folded(bothOf(form, chunksOf(pieces, 'stop')).events) as Block[];
        const textOf = (type: string, name: string) =>
          blocks.map((block) => (block.type === type ? block[name] : '')).join('');
        const words = (said(pieces, 'text') + said(pieces, 'refusal')).split('').sort().join('');
        expect(textOf('text', 'text').split('').sort().join('')).toBe(words);
        expect(textOf('thinking', 'thinking')).toBe(said(pieces, 'thoughts'));
        const named = blocks
          .filter(({ type }) => type === 'tool_use')
          .map(({ id, name, input }) => [`${id} ${name}`, input] as const);
        expect(new Map<string, unknown>(named)).toEqual(callsIn(pieces));
      }),
    );
  });

  test.each<[string, Json, object]>([
    ['stop', {}, { stop_reason: 'end_turn' }],
    ['length', {}, { stop_reason: 'max_tokens' }],
    ['content_filter', {}, { stop_reason: 'refusal' }],
    ['tool_calls', {}, { stop_reason: 'tool_use' }],
    ['stop', { stop_reason: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['stop', { stop_reason: 'other' }, { stop_reason: 'end_turn', stop_sequence: null }],
  ])('that ended with %s %j', (finish_reason, more, ending) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason, ...more }];
    expect(form.whole({ id: 'c', choices }, null)).toMatchObject({ id: 'c', ...ending });
  });

  test('shows thoughts only to a caller that asked for them, and keeps arguments that are no JSON', () => {
    const plain = messageForm({ showsThoughts: false, stops: [] });
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"cit' } };
    const message = { role: 'assistant', content: 'x', reasoning_content: 'Hm.', tool_calls: [call] };
    const completion = { id: 'c', choices: [{ index: 0, message, finish_reason: 'length' }] };
    expect(plain.whole(completion, null)['content']).toEqual([
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { INVALID_JSON: '{"cit' } },
    ]);
  });
});
