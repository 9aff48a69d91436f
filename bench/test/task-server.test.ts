/**
 * Worlds with a task model over HTTP: a rollout calls the task model and answers by the setup.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorlds, type TaskRun, type Worlds } from '../worlds/client.js';
import { openTaskWorld } from '../worlds/tasks.js';

let worlds: Worlds;

beforeAll(async () => {
  worlds = await startWorlds();
});
afterAll(() => worlds.close());

const setup = { kind: 'examples', world: 1, rolloutMs: 0, proposerMs: 0 } as const;
const world = openTaskWorld('examples', 1);

async function rollout({ containerUrl, taskModel }: TaskRun, id: string, seed: number, text: string): Promise<object> {
  const sections = [{ role: 'system', content: text, order: 0 }];
  const config = { model: taskModel, inference_url: worlds.proposerUrl, prompt_template: { sections } };
  const body = JSON.stringify({ rollout_id: id, env: { seed }, policy: { config } });
  return (await (await fetch(`${containerUrl}/rollout`, { method: 'POST', body })).json()) as object;
}

test('a rollout calls the task model once; a repeated rollout id does not', async () => {
  const run = await worlds.openTask({ ...setup, feedback: true, labels: false });
  const expected = {
    rollout_id: 'a',
    reward_info: { outcome_reward: 1, details: { feedback: world.score(7, world.expected(7)).feedback } },
  };
  expect(await rollout(run, 'a', 7, world.perfect)).toEqual(expected);
  expect(await rollout(run, 'a', 7, world.perfect)).toEqual(expected);
  expect((await run.ledger()).map(({ kind }) => kind)).toEqual(['call', 'rollout']);
  expect(await run.lastMessages()).toEqual([
    { role: 'system', content: world.perfect },
    { role: 'user', content: world.input(7) },
  ]);
  expect(await run.trueReward([{ role: 'system', content: world.perfect }])).toBe(1);
});

test('answers with rewards only, or with expected answers, by the setup', async () => {
  const bare = await worlds.openTask({ ...setup, feedback: false, labels: false });
  expect(await rollout(bare, 'a', 7, world.perfect)).toEqual({ rollout_id: 'a', reward_info: { outcome_reward: 1 } });
  const labeled = await worlds.openTask({ ...setup, feedback: false, labels: true });
  expect(await rollout(labeled, 'a', 7, world.perfect)).toMatchObject({
    reward_info: { details: { feedback: `Expected: ${world.expected(7)}` } },
  });
  const inputs = async ({ containerUrl }: TaskRun) =>
    ((await (await fetch(`${containerUrl}/inputs`)).json()) as object[])[7];
  expect(await inputs(bare)).toEqual({ seed: 7, input: world.input(7) });
  expect(await inputs(labeled)).toEqual({ seed: 7, input: world.input(7), expected: world.expected(7) });
});
