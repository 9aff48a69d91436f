import { describe, expect, test } from '@jest/globals';
import { createGraphJob, ended, eventsOf, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { gate } from '../../support/gate.js';
import { graphServiceOfFile } from './support.js';
import { until } from '../../support/until.js';

const { on, read, calls } = graphServiceOfFile();

/** A job whose judge gives every output 0.875, and no score for items with a number below `shy`. */
function createShy(shy: number, more: object = {}) {
  on.world.model.reply((request) => {
    if (request.body.model !== 'judge') return on.world.answer(request);
    const [, item] = /item (\d+)\?/.exec(request.body.messages.map(({ content }) => content).join('\n'))!;
    if (Number(item) < shy) return { text: 'I would say it is good.' };
    return { text: on.world.answer(request).text!.replace(/"score":[01]/, '"score":0.875') };
  });
  const job = on.world.job(40, { rollout_budget: 120, ...more });
  const { gold_outputs: _, ...dataset } = job['dataset'] as Record<string, unknown>;
  const verifier_config = { mode: 'rubric', model: 'judge' };
  return createGraphJob(on.service, {
    ...job,
    dataset: { ...dataset, default_rubric: 'Is it a rule?', verifier_config },
  });
}

describe('a judge that cannot judge some outputs', () => {
  test('gives them no reward, and few of the tasks do not fail the job', async () => {
    const id = await createShy(14);
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', error: null, best_reward: 0.875 });
    expect(seen.history.map(({ best_reward: reward }) => reward)).toEqual(seen.history.map(() => 0.875));
    const headers = { authorization: `Bearer ${on.service.apiKey}` };
    const answer = await fetch(`${on.service.url}${pathOf(id)}/pareto`, { headers });
    const { seeds } = (await answer.json()) as { seeds: { best_reward: number | null }[] };
    const rewards = seeds.map(({ best_reward: reward }) => reward);
    expect(new Set(rewards)).toEqual(new Set([0.875, null]));
    const rows = await on.service.query<{ reward: number | null; stage: string; seed: number }>(
      `select reward, stage, seed from rollouts where job_id = $1 and status = 'failed'`,
      [id],
    );
    const unjudged = rows.flatMap(({ stage, seed }) => (stage === 'baseline' ? [seed] : []));
    expect(unjudged).toHaveLength(3 * new Set(unjudged).size);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ reward }) => reward !== null)).toEqual([]);
    // Three rollouts of each such task, with two questions each.
    const judged = calls('judge').length - 2 * rows.length;
    const [scored] = await on.service.query<{ n: number }>(
      `select count(*) as n from rollouts where job_id = $1 and status = 'succeeded'`,
      [id],
    );
    expect(judged).toBe(scored!.n);
  });

  test('fails the job when more than max_failure_rate of the tasks are without a reward', async () => {
    const id = await createShy(14, { max_failure_rate: 0.05 });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({
      status: 'failed',
      error_details: { code: 'too_many_failures' },
    });
  });

  test('fails the job when no output of the baseline has a reward', async () => {
    const id = await createShy(40, { max_failure_rate: 1 });
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'judgement_unusable' } });
    expect(seen.progress.rollouts_completed).toBe(3 * 12);
  });
});

test('counts rollouts in the progress as their events come, within a batch', async () => {
  const { opened, open } = gate();
  let answered = 0;
  on.world.model.reply(async (request) => {
    if (++answered > 3) await opened;
    return on.world.answer(request);
  });
  const id = await createGraphJob(on.service, on.world.job(20, { max_concurrent: 1 }));
  const completed = await until('three rollouts of the baseline are counted', async () => {
    const { progress } = await read(id);
    return progress.rollouts_completed === 3 && progress.rollouts_completed;
  });
  const finished = (await eventsOf(on.service, id)).filter(({ type }) => type === 'rollout_completed');
  open();
  expect(finished).toHaveLength(completed);
  await ended<GraphJob>(on.service, id);
});
