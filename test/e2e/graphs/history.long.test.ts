import { afterEach, expect, test } from '@jest/globals';
import { chainOf, largestPayload, payloadsOf } from '../../support/chain.js';
import { startGraphWorld } from '../../support/worlds/graph.js';
import { createGraphJob, ended, type GraphJob } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// History carries indexes and rewards; texts of graphs, tasks and answers stay in Postgres, and so
// do keys.

const on = serviceOfFile(() => startGraphWorld());
afterEach(() => on.world.reset());

const filler = 'much to read '.repeat(2_000);

test('no text of a graph job enters its history, whose payloads stay small for large texts', async () => {
  on.world.model.reply((request) => {
    const { text, ...reply } = on.world.answer(request);
    // The longest allowed answer of a step.
    return { ...reply, text: request.body.model === 'task' ? `${text}\n${filler}` : text! };
  });
  const { dataset, ...job } = on.world.job(40, { rollout_budget: 200 });
  const given = dataset as { tasks: { id: string; input: { question: string } }[] };
  const tasks = given.tasks.map(({ id, input }) => ({ id, input: { ...input, context: filler } }));
  const id = await createGraphJob(on.service, {
    ...job,
    dataset: {
      ...given,
      tasks,
      initial_prompt: `Name the rule of the item. ${filler}`,
      verifier_config: { mode: 'contains' },
    },
  });
  expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  const [texts] = await on.service.query<{ graphs: number; edited: number }>(
    `select count(*) as graphs, count(*) filter (where json_array_length(graph->'steps') > 1) as edited
       from candidates where job_id = $1`,
    [id],
  );
  expect(texts!.graphs).toBeGreaterThan(3);
  expect(texts!.edited).toBeGreaterThan(0);

  const runs = await chainOf(on.service.temporal, on.service.workflow(id).workflowId);
  const said = runs.flatMap(payloadsOf).map((bytes) => Buffer.from(bytes).toString());
  expect(said.join()).toContain(id);
  for (const word of [
    'Name the rule',
    'much to read',
    'What is item',
    'There is rule',
    'rule-1',
    'sk-test',
    '"steps":[',
  ])
    expect([word, said.join().includes(word)]).toEqual([word, false]);
  expect(Math.max(...runs.map(largestPayload))).toBeLessThan(filler.length);
});
