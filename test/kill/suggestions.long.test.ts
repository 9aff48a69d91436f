import { beforeAll, expect, test } from '@jest/globals';
import { gate } from '../support/gate.js';
import { createSession, ended, eventsOf, pathOf, readJob, type Session } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker around a person's prompt and hint: each that was taken counts once, and a
// hint given while no worker runs waits for the next one.

const held = gate();
const on = workerOfFile(async () => {
  const world = await startRowsWorld(6);
  const { answer } = world;
  world.model.reply(async (request) => {
    if (request.body.model === 'policy' && world.policyCalls().length > 4) await held.opened;
    return answer(request);
  });
  return world;
});
beforeAll(() => on.worker.start(), 60_000);

const suggest = (id: string, path: string, body: object) =>
  on.service.api.call<{ status: string; command_id: string }>('POST', `${pathOf(id)}/${path}`, body);

test('a prompt and a hint outlive the worker that took them', async () => {
  const id = await createSession(on.service, {
    ...on.world.job(30),
    gepa: { population_size: 1, generations: 4 },
    rng_seed: 3,
    max_concurrent: 2,
  });
  await until('calls are held', () => Promise.resolve(on.world.policyCalls().length === 6));
  const half = { messages: [{ role: 'system', content: 'rule-0. rule-1. rule-2.' }] };
  await suggest(id, 'candidates', half);
  const { command_id: first } = await suggest(id, 'hint', { hint: 'First hint.' });
  await on.worker.kill();
  const { command_id: late } = await suggest(id, 'hint', { hint: 'Name every rule.' });
  expect((await readJob<Session>(on.service, id)).hint).toBe('First hint.');
  await on.worker.start();
  await until('the late hint is taken', async () => {
    return (await readJob<Session>(on.service, id)).hint === 'Name every rule.';
  });
  held.open();

  expect(await ended<Session>(on.service, id, 120)).toMatchObject({ status: 'completed', hint: 'Name every rule.' });
  const events = await eventsOf(on.service, id);
  const proposed = events.filter(({ type, data }) => type === 'candidate_proposed' && 'is_given' in data);
  expect(proposed).toHaveLength(1);
  const hints = events.filter(({ type }) => type === 'hint_given');
  expect(hints.map(({ data }) => data)).toEqual([{ command_id: first }, { command_id: late }]);
  const prompts = on.world.model.requests.filter(({ body }) => body.model === 'proposer');
  expect(prompts.length).toBeGreaterThan(0);
  for (const { body } of prompts) expect(body.messages[0]!.content).toContain('> Name every rule.');
}, 180_000);
