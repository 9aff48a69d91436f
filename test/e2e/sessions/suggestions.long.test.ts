import { afterEach, describe, expect, test } from '@jest/globals';
import { gate } from '../../support/gate.js';
import {
  command,
  createSession,
  ended,
  eventsOf,
  pathOf,
  readJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld(6));
afterEach(() => on.world.reset());

const gepa = { population_size: 1, generations: 4 };
const prompt = (content: string, name?: string) => ({
  messages: [{ role: 'system', content, ...(name !== undefined && { name }) }],
});
const allRules = prompt(Array.from({ length: 6 }, (_, rule) => `rule-${rule}.`).join(' '));

interface Answer {
  status: number;
  body: { status: string; command_id: string; code: string; errors: { pointer: string }[]; current_status: string };
}

async function post(id: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${on.service.url}${pathOf(id)}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** Holds the policy from its 5th call on; returns the session and what lets it go on. */
async function heldSession(fields: object = {}): Promise<{ id: string; release(): void }> {
  const held = gate();
  const { answer } = on.world;
  const before = on.world.policyCalls().length;
  on.world.model.reply(async (request) => {
    if (request.body.model === 'policy' && on.world.policyCalls().length > before + 4) await held.opened;
    return answer(request);
  });
  const id = await createSession(on.service, {
    ...on.world.job(30),
    gepa,
    rng_seed: 3,
    max_concurrent: 2,
    ...fields,
  });
  await until('calls are held', () => Promise.resolve(on.world.policyCalls().length === before + 6));
  return { id, release: () => held.open() };
}

const proposerPrompts = () =>
  on.world.model.requests.filter(({ body }) => body.model === 'proposer').map(({ body }) => body.messages[0]!.content);

describe("a person's prompt", () => {
  test.each<[string, Record<string, unknown> & { algorithm?: string }]>([
    ['gepa', {}],
    ['mipro', { algorithm: 'mipro', gepa: undefined, mipro: { num_candidates: 3, num_trials: 10 } }],
  ])('is tested as proposals are, and wins where it is better: %s', async (_, fields) => {
    const { id, release } = await heldSession(fields);
    const first = await post(id, 'candidates', allRules, { 'idempotency-key': `try-${id}` });
    expect(first).toMatchObject({ status: 200, body: { status: 'running' } });
    const again = await post(id, 'candidates', allRules, { 'idempotency-key': `try-${id}` });
    expect(again.body.command_id).toBe(first.body.command_id);
    release();
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const events = await eventsOf(on.service, id);
    const given = events.filter(({ type, data }) => type === 'candidate_proposed' && 'is_given' in data);
    expect(given).toHaveLength(1);
    const { candidate_id: candidate } = given[0]!.data as { candidate_id: string };
    // MIPRO adds demonstrations to it.
    if (fields.algorithm === undefined) expect(seen.best_candidate!.candidate_id).toBe(candidate);
    const tested = events.filter(({ type, data }) => {
      return type === 'candidate_accepted' && (data as { candidate_id: string }).candidate_id === candidate;
    });
    expect(tested).toHaveLength(1);
    const path = (of: string) => `${pathOf(id)}/candidates/${of}`;
    const detail = await on.service.api.call<{ is_given: boolean; messages: { content: string }[] }>(
      'GET',
      path(candidate),
    );
    expect(detail.is_given).toBe(true);
    expect(detail.messages.map(({ content }) => content)).toEqual([allRules.messages[0]!.content, '{{input}}']);
    const baseline = await on.service.api.call<{ is_given: boolean }>('GET', path(seen.candidates[0]!.candidate_id));
    expect(baseline.is_given).toBe(false);
  });

  test('that is known already is reported', async () => {
    const { id, release } = await heldSession();
    expect((await post(id, 'candidates', prompt('Answer well.'))).status).toBe(200);
    release();
    await ended<Session>(on.service, id);
    const failed = (await eventsOf(on.service, id)).filter(({ type }) => type === 'proposal_failed');
    expect(failed[0]!.message).toContain('duplicate');
  });

  test('that no candidate can be is 422; of a closed session 409', async () => {
    const messages = [
      { role: 'system', content: 'Answer well.' },
      { role: 'user', content: 'Q: {{question}}' },
    ];
    const { id, release } = await heldSession({ initial_prompt: { messages } });
    const pointers = async (body: object) => {
      const answer = await post(id, 'candidates', body);
      return [answer.status, ...(answer.body.errors ?? []).map(({ pointer }) => pointer)];
    };
    expect(await pointers({ messages: [{ role: 'user', content: 'Q?' }] })).toEqual([422, '/messages/0/content']);
    expect(await pointers(prompt('Answer {{other}}.'))).toEqual([422, '/messages/0/content']);
    expect(await pointers(prompt('Answer.', 'judge'))).toEqual([422, '/messages/0/name']);
    expect(await pointers({})).toEqual([422, '/messages']);
    release();
    await command(on.service, id, 'cancel');
    expect(await post(id, 'candidates', prompt('Other.'))).toMatchObject({
      status: 409,
      body: { code: 'invalid_state', current_status: 'cancelled' },
    });
  });

  test('given to a session that is then cancelled is tested when it goes on', async () => {
    const { id, release } = await heldSession();
    expect((await post(id, 'candidates', allRules)).status).toBe(200);
    expect((await post(id, 'hint', { hint: 'Mind the rules.' })).status).toBe(200);
    await command(on.service, id, 'cancel');
    await ended<Session>(on.service, id);
    release();
    await on.service.api.call('POST', `${pathOf(id)}/extend`);
    expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  });
});

describe('a hint', () => {
  test("stands in the proposer's prompts from then on, until another replaces it", async () => {
    const { id, release } = await heldSession();
    const before = proposerPrompts().length;
    expect((await post(id, 'hint', { hint: 'First hint.' })).status).toBe(200);
    const { body } = await post(id, 'hint', { hint: 'Name the rule.\nIn full.' });
    expect((await readJob<Session>(on.service, id)).hint).toBe('Name the rule.\nIn full.');
    release();
    await ended<Session>(on.service, id);
    const prompts = proposerPrompts().slice(before);
    expect(prompts.length).toBeGreaterThan(0);
    for (const text of prompts) expect(text).toContain('> Name the rule.\n> In full.');
    expect(prompts.join()).not.toContain('First hint.');
    const hints = (await eventsOf(on.service, id)).filter(({ type }) => type === 'hint_given');
    expect(hints).toHaveLength(2);
    expect(hints[1]!.data).toEqual({ command_id: body.command_id });
  });

  test('is removed with null', async () => {
    const { id, release } = await heldSession();
    const before = proposerPrompts().length;
    await post(id, 'hint', { hint: 'First hint.' });
    await post(id, 'hint', { hint: null });
    release();
    await ended<Session>(on.service, id);
    expect(proposerPrompts().slice(before).join()).not.toContain('hint');
    expect(await readJob<Session>(on.service, id)).toMatchObject({ status: 'completed', hint: null });
  });
});
