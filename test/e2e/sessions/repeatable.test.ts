/**
 * The same session twice, with answers delayed at random. Invariant: the same answers give the same
 * path in any order of arrival, even if the proposer answers the same question differently.
 */
import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { someOf } from '../../support/environment.js';
import { ended, eventsOf, resultsOf } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { propose } from '../../support/worlds/rules.js';
import { rulesServiceOfFile } from './rules-service.js';

const { on, create } = rulesServiceOfFile();

const decisionTypes = new Set([
  'candidate_proposed',
  'candidate_accepted',
  'candidate_rejected',
  'evaluation_complete',
  'generation_complete',
  'proposal_failed',
]);

/** The decisions of a session in order, with candidates numbered as they appear, and its winner. */
async function runOnce(populationSize: number): Promise<{ decisions: string[]; prompt: string }> {
  const times = new Map<string, number>();
  on.world.container.behave((call) => async (received, response) => {
    await delay(Math.random() * 15);
    await on.world.answer(call)(received, response);
  });
  on.world.model.reply(async (request) => {
    const question = JSON.stringify(request.body.messages);
    const earlier = times.get(question) ?? 0;
    times.set(question, earlier + 1);
    await delay(Math.random() * 30);
    return { text: propose(request).replace(/\n```$/, `\nVersion ${earlier}.\n\`\`\``) };
  });
  const gepa = { population_size: populationSize, generations: 6, minibatch_size: 2, train_seeds: range(100, 24) };
  const id = await create({ rng_seed: 7 }, gepa);
  await ended(on.service, id);
  const numbers = new Map<string, string>();
  const numbered = (text: string) =>
    text.replace(/cand_[0-9a-z_]+/g, (candidate) => {
      if (!numbers.has(candidate)) numbers.set(candidate, `candidate ${numbers.size}`);
      return numbers.get(candidate)!;
    });
  const decisions = (await eventsOf(on.service, id))
    .filter(({ type }) => decisionTypes.has(type))
    .map(({ type, data }) => numbered(`${type} ${JSON.stringify(data)}`));
  return { decisions, prompt: (await resultsOf(on.service, id)).best_prompt!.messages[0]!.content };
}

test.each(someOf([2, 1, 4], 1))('a session with population %i takes the same path twice', async (populationSize) => {
  const first = await runOnce(populationSize);
  expect(first.decisions.length).toBeGreaterThan(5);
  expect(await runOnce(populationSize)).toEqual(first);
});
