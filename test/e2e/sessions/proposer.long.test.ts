import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ModelReply } from '../../support/fakes/model.js';
import { createSession, ended, pathOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { propose, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// A proposer with an unusable first answer learns the reason; one that never succeeds fails the
// session.

const on = serviceOfFile(startRulesWorld);
beforeEach(() => void (on.world.model.requests.length = 0));

const parent = 'Answer {name} well.';

/** Runs a session with this answer to its proposer's n-th request; null: the rules' answer. */
async function run(reply: (n: number) => ModelReply | null, generations = 1): Promise<Session> {
  const { model, job } = on.world;
  model.reply((request) => reply(model.requests.length) ?? { text: propose(request) });
  const id = await createSession(on.service, {
    ...job,
    initial_prompt: { messages: [{ role: 'system', content: parent }] },
    gepa: { population_size: 1, generations, evaluation: { seeds: [0, 1, 2, 3] } },
  });
  return ended<Session>(on.service, id);
}
const fenced = (text: string) => `\`\`\`\n${text}\n\`\`\``;
const choice = (content: string | null, finish_reason: string) => ({
  fields: { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] },
});

describe('an unusable first answer', () => {
  test.each<[string, ModelReply, RegExp]>([
    ['empty', { text: '' }, /no ``` fence/],
    ['without content', choice(null, 'stop'), /no ``` fence/],
    ['with an empty fence', { text: fenced('  ') }, /the new instruction is empty/],
    [
      'cut off, as it says',
      choice(fenced(`${parent} And`), 'length'),
      /cut off \(finish_reason "length"\); be briefer/,
    ],
    ['with a fence that is not closed', { text: `\`\`\`\n${parent} And` }, /fence .* is not closed/],
    ['without a fence', { text: 'I would add a sentence.' }, /no ``` fence/],
    ['too long', { text: fenced(`${parent} ${'x'.repeat(40_000)}`) }, /has 400\d\d characters; at most 32000/],
    ['without the placeholder', { text: fenced('Be precise.') }, /lacks the placeholder \{name\}/],
  ])('%s: the second try gets the reason, and its answer counts', async (_name, bad, fault) => {
    const session = await run((n) => (n === 1 ? bad : null));
    expect(session).toMatchObject({ status: 'completed', error: null, best_reward: 0.25 });
    expect(session.candidates.map(({ status }) => status)).toEqual(['evaluated', 'evaluated']);
    const [first, second, ...more] = on.world.model.requests.map(({ body }) => body.messages);
    expect(more).toEqual([]);
    expect(second!.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(second![0]).toEqual(first![0]);
    expect(second![1]!.content).not.toBe('');
    expect(second![1]!.content.length).toBeLessThanOrEqual(16_000);
    expect(second![2]!.content).toMatch(/^Your answer cannot be used: /);
    expect(second![2]!.content).toMatch(fault);
  });

  test('without a change is requested three times, then asked otherwise; it is no failure', async () => {
    const session = await run(() => ({ text: fenced(parent) }));
    expect(session).toMatchObject({ status: 'completed', error: null });
    // Three questions, until nothing is left to ask about.
    expect(on.world.model.requests).toHaveLength(3 * 3);
  });

  test('each later try gets the previous answer', async () => {
    const session = await run((n) => [{ text: 'no fence' }, { text: fenced('Be precise.') }][n - 1] ?? null);
    expect(session).toMatchObject({ status: 'completed', best_reward: 0.25 });
    const third = on.world.model.requests[2]!.body.messages;
    expect(third).toHaveLength(3);
    expect(third[1]!.content).toBe(fenced('Be precise.'));
    expect(third[2]!.content).toMatch(/lacks the placeholder/);
  });
});

describe('a proposer that never works', () => {
  test.each<[string, ModelReply, RegExp, number]>([
    ['gives no usable text', { text: 'I would rather not.' }, /3 unusable answers; the last: .*no ``` fence/, 6],
    ['breaks off', { cutBody: true }, /connection to the provider "fake" broke/, 6],
  ])('%s: fails the session with the reason, and keeps the baseline', async (_name, reply, why, requests) => {
    const session = await run(() => reply, 5);
    expect(session).toMatchObject({
      status: 'failed',
      error_details: { code: 'proposer_failed' },
      error: expect.stringMatching(why) as unknown,
      best_reward: 0,
    });
    expect(on.world.model.requests).toHaveLength(requests);
    const messages = [{ role: 'system', content: parent }];
    expect(await resultsOf(on.service, session.session_id)).toMatchObject({
      best_prompt: { messages, reward: 0 },
      history: [0, 1].map((generation) => ({ generation, best_reward: 0 })),
    });
    expect(await on.service.api.call('GET', `${pathOf(session.session_id)}/prompt`)).toMatchObject({ messages });
  });

  test('refuses its key: one request ends the session', async () => {
    const session = await run(() => ({ status: 401, raw: '{"error":{"message":"no such key"}}' }), 5);
    expect(session).toMatchObject({
      status: 'failed',
      error_details: { code: 'provider_refused_key' },
      best_reward: 0,
    });
    expect(on.world.model.requests).toHaveLength(1);
  });
});
