import { afterEach, describe, expect, test } from '@jest/globals';
import { unzip } from '../../support/unzip.js';
import { answers } from '../../support/fakes/container.js';
import { judgeFrames, totalsOf } from '../../support/frames.js';
import { command, createSession, ended, eventsOf, pathOf, type Session } from '../../support/jobs-over-http.js';
import { pricedPolicy, startPricedWorld } from '../../support/worlds/priced.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

// Frames of real sessions, compared with their rollouts, traces and calls.

const on = serviceOfFile(() => startPricedWorld(1));
const wanted = () => ({ container_url: on.world.container.url, policy: pricedPolicy });

afterEach(() => on.world.container.behave(() => on.world.ask));

describe('sensor frames of a session', () => {
  test('contain each finished rollout once, and add up to the usage together with the proposer and the preflight', async () => {
    const id = await createSession(on.service, {
      ...wanted(),
      max_concurrent: 4,
      gepa: {
        population_size: 2,
        generations: 4,
        minibatch_size: 3,
        train_seeds: range(100, 20),
        evaluation: { seeds: range(0, 12), heldout_seeds: range(40, 6) },
      },
    });
    const session = await ended<Session>(on.service, id);
    expect(session).toMatchObject({ status: 'completed' });
    const frames = await judgeFrames(on.service.api, id);
    expect(new Set(frames.map(({ stage }) => stage))).toEqual(
      new Set(['baseline', 'minibatch', 'gate', 'evaluation', 'heldout']),
    );
    expect(frames[0]).toMatchObject({ stage: 'baseline', generation: 0, sensors: { rollout: { count: 12 } } });
    expect(frames.at(-1)).toMatchObject({ stage: 'heldout' });
    expect(frames.every(({ sensors }) => sensors.resource!.concurrency === 4)).toBe(true);

    const totals = totalsOf(frames);
    expect(totals.count).toBe(session.progress.rollouts_completed);
    const [others] = await on.service.query<{ prompt: number; completion: number; cost: number }>(
      `select sum(prompt_tokens)::float8 as prompt, sum(completion_tokens)::float8 as completion, sum(cost_usd) as cost
         from model_calls where job_id = $1 and purpose in ('proposer', 'preflight')`,
      [id],
    );
    expect(totals.promptTokens + others!.prompt).toBe(session.usage.prompt_tokens);
    expect(totals.completionTokens + others!.completion).toBe(session.usage.completion_tokens);
    expect(totals.costUsd + others!.cost).toBeCloseTo(session.usage.total_cost_usd!, 9);

    // Also as an archive.
    const zip = await fetch(`${on.service.url}${pathOf(id)}/traces`, {
      headers: { authorization: `Bearer ${on.service.apiKey}` },
    });
    const entries = new Set((await unzip(Buffer.from(await zip.arrayBuffer()))).map(({ name }) => name));
    expect(frames.flatMap(({ trace_ids }) => trace_ids).filter((trace) => !entries.has(`${trace}.json`))).toEqual([]);
  });

  test('separate the batches of infrastructure failures and their repetitions', async () => {
    const failed = new Set<number>();
    on.world.container.behave((call) => {
      if (call.seed >= 2 || failed.has(call.seed)) return on.world.ask;
      if (call.attempt === 3) failed.add(call.seed);
      return answers.status(502);
    });
    const id = await createSession(on.service, {
      ...wanted(),
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: range(0, 4) } },
    });
    await ended<Session>(on.service, id);
    const frames = await judgeFrames(on.service.api, id);
    expect(frames.slice(0, 2).map(({ stage, sensors }) => [stage, sensors.rollout])).toEqual([
      ['baseline', { count: 4, succeeded: 2, failed: 2, resent: 0 }],
      ['baseline', { count: 2, succeeded: 2, failed: 0, resent: 0 }],
    ]);
  });

  test.each(['cancel', 'stop'] as const)('contain the finished rollouts of a batch ended by a %s', async (how) => {
    on.world.container.behave((call) => (call.seed < 3 ? on.world.ask : answers.hang()));
    const id = await createSession(on.service, {
      ...wanted(),
      max_concurrent: 8,
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: range(0, 8) } },
    });
    const finished = async () =>
      (await eventsOf(on.service, id)).filter(({ type }) => type === 'rollout_completed').length === 3;
    await until('three are finished', finished);
    if (how === 'cancel') await command(on.service, id, 'cancel');
    else await command(on.service, id, 'reward', { reward: 1, stop: true });
    await ended<Session>(on.service, id);
    const frames = await judgeFrames(on.service.api, id);
    expect(frames).toMatchObject([{ stage: 'baseline', sensors: { rollout: { count: 3 }, reward: { count: 3 } } }]);
  });

  test('contain the finished rollouts of a batch that runs out of budget', async () => {
    const id = await createSession(on.service, {
      ...wanted(),
      max_concurrent: 8,
      gepa: { population_size: 4, generations: 100, minibatch_size: 4, evaluation: { seeds: range(0, 24) } },
      budget: { max_cost_usd: 0.03 },
    });
    expect(await ended<Session>(on.service, id)).toMatchObject({ stopped_by: 'max_cost_usd' });
    const frames = await judgeFrames(on.service.api, id);
    expect(frames.length).toBeGreaterThan(1);
  });
});
