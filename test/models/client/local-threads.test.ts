import { afterEach, describe, expect, test } from '@jest/globals';
import { createLocalThreads, type LocalThreads } from '../../../src/models/client/local-threads.js';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

const { signal } = new AbortController();
const asking = (content: string) => ({ messages: [{ role: 'user', content }] });
const request = (content: string) => ({ json: JSON.stringify(asking(content)), question: null });
/** As long as any request that is read whole. */
const long = `Labels: ${Array.from({ length: 500 }, (_, at) => `l_${at}`).join(', ')}\n${'l_1x word '.repeat(9_000)}`;

let threads: LocalThreads | undefined;
let providers: Providers | undefined;
afterEach(async () => {
  await threads?.close();
  await providers?.close();
});

describe('a thread of the provider "local"', () => {
  test('answers as the provider does, one request after the other', async () => {
    threads = createLocalThreads({ threads: 1 });
    const both = await Promise.all(['Labels: a, b', 'Hello'].map((text) => threads!.answer(request(text), signal)));
    for (const answer of both) expect(answer).toHaveProperty('completion');
    expect(await threads.answer({ json: '{"messages":[]}', question: null }, signal)).toMatchObject({
      param: 'messages',
    });
  });

  test('ends at its time limit, and another one answers the next request', async () => {
    threads = createLocalThreads({ threads: 1, timeMs: 1 });
    await expect(threads.answer(request(long), signal)).rejects.toMatchObject({ name: 'TimeoutError' });
    await threads.close();
    threads = createLocalThreads({ threads: 1 });
    expect(await threads.answer(request('Hello'), signal)).toHaveProperty('completion');
  });

  test('ends when its caller leaves', async () => {
    threads = createLocalThreads({ threads: 1 });
    const caller = new AbortController();
    const asked = threads.answer(request(long), caller.signal);
    caller.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    const answer = await threads.answer(request('Hello'), signal);
    // Not the answer to the one that left.
    expect(answer).toEqual(await threads.answer(request('Hello'), signal));
  });
});

describe('the provider "local"', () => {
  test('judges from the data of the question', async () => {
    providers = createProviders({});
    const criteria = [{ name: 'c', weight: 1, description: 'says "noon"' }];
    const question = { kind: 'judgement' as const, request: { criteria, input: 'x', output: 'At noon.' } };
    const answer = await providers.send('local', asking('Hello'), signal, { question });
    const { choices } = JSON.parse(String(await answer.read())) as { choices: { message: { content: string } }[] };
    expect(JSON.parse(choices[0]!.message.content)).toMatchObject({ criteria: [{ name: 'c', score: 1 }] });
  });

  test('answers the largest request without holding the event loop', async () => {
    providers = createProviders({});
    // The first request starts the thread.
    await providers.send('local', asking('Hello'), signal);
    const body = asking(long);
    const held = await heldMs(() => providers!.send('local', body, signal));
    expect(held).toBeLessThan(maxHeldMs);
  });

  test('can be switched off', async () => {
    providers = createProviders({}, { allowLocal: false });
    expect(providers.check('local')).toContain('RATCHET_ALLOW_LOCAL_PROVIDER');
    expect(providers.list()).toContainEqual(expect.objectContaining({ name: 'local', usable: false }));
    await expect(providers.send('local', asking('Hello'), signal)).rejects.toMatchObject({
      code: 'provider_not_usable',
    });
  });
});
