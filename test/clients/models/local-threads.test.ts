import { afterEach, describe, expect, test } from '@jest/globals';
import { createLocalThreads, type LocalThreads } from '../../../src/clients/models/local-threads.js';
import { createProviders, type Providers } from '../../../src/clients/models/providers.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

const { signal } = new AbortController();
const asking = (content: string) => ({ messages: [{ role: 'user', content }] });
const json = (content: string) => JSON.stringify(asking(content));
const criterion = (at: number) => `# Criterion ${at}\nName:\n> c${at}\nDescription:\n> five words of the output\n\n`;
const judging = (words: number, criteria: number) =>
  `# Task\n> x\n\n# Output to judge\n> ${Array.from({ length: words }, (_, at) => `w${at}ing`).join(' ')}\n\n${Array.from({ length: criteria }, (_, at) => criterion(at + 1)).join('')}`;

let threads: LocalThreads | undefined;
let providers: Providers | undefined;
afterEach(async () => {
  await threads?.close();
  await providers?.close();
});

describe('a thread of the provider "local"', () => {
  test('answers as the provider does, one request after the other', async () => {
    threads = createLocalThreads({ threads: 1 });
    const both = await Promise.all(['Labels: a, b', 'Hello'].map((text) => threads!.answer(json(text), signal)));
    for (const answer of both) expect(answer).toHaveProperty('completion');
    expect(await threads.answer('{"messages":[]}', signal)).toMatchObject({ param: 'messages' });
  });

  test('ends at its time limit, and another one answers the next request', async () => {
    threads = createLocalThreads({ threads: 1, timeMs: 1 });
    await expect(threads.answer(json(judging(90_000, 20)), signal)).rejects.toMatchObject({ name: 'TimeoutError' });
    await threads.close();
    threads = createLocalThreads({ threads: 1 });
    expect(await threads.answer(json('Hello'), signal)).toHaveProperty('completion');
  });

  test('ends when its caller leaves', async () => {
    threads = createLocalThreads({ threads: 1 });
    const caller = new AbortController();
    const asked = threads.answer(json(judging(90_000, 20)), caller.signal);
    caller.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    const answer = await threads.answer(json('Hello'), signal);
    // Not the answer to the one that left.
    expect(answer).toEqual(await threads.answer(json('Hello'), signal));
  });
});

describe('the provider "local"', () => {
  test.each([
    ['too many criteria', judging(10, 21)],
    ['an output of too many words', judging(1, 1).replace('w0ing', 'x '.repeat(200_001))],
  ])('refuses a judgement with %s', async (_what, content) => {
    providers = createProviders({});
    const answer = await providers.send('local', asking(content), signal);
    expect(answer.status).toBe(400);
    const body = await answer.read();
    expect(JSON.parse(String(body))).toMatchObject({ error: { code: 'invalid_request', param: 'messages' } });
  });

  test('judges the largest request without holding the event loop', async () => {
    providers = createProviders({});
    // The first request starts the thread.
    await providers.send('local', asking('Hello'), signal);
    const body = asking(judging(90_000, 20));
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
