import { describe, expect, test } from '@jest/globals';
import { gepaLimits } from '../../../src/core/algorithms/gepa/config.js';
import { answers } from '../../support/fakes/container.js';
import { command, ended, eventsOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { baseline, propose } from '../../support/worlds/rules.js';
import { rulesServiceOfFile } from './rules-service.js';
import { until } from '../../support/until.js';

const { on, create, container, read } = rulesServiceOfFile();

describe('a GEPA session', () => {
  test('is equal for equal rng_seed and answers, and differs for another seed', async () => {
    const run = async (rngSeed: number) => {
      const id = await create({ rng_seed: rngSeed, max_concurrent: 9 });
      const { candidates } = await ended<Session>(on.service, id);
      const shape = candidates.map(({ lever_version, generation, status, reward, parent_ids }) => ({
        lever_version,
        generation,
        status,
        reward,
        parents: parent_ids.map((parent) => parent.split('_').at(-1)),
      }));
      const prompts = await on.service.query(
        'select lever_version, messages from candidates where job_id = $1 order by lever_version',
        [id],
      );
      return { shape, prompts, history: (await resultsOf(on.service, id)).history };
    };
    const first = await run(0);
    // The second run has varying delays; the path must not depend on timing.
    on.world.container.behave((call) => answers.after((call.seed * 7) % 13, on.world.answer(call)));
    expect(await run(0)).toEqual(first);
    expect(await run(5)).not.toEqual(first);
  });

  test.each([40, 55, 71])('never goes over budget.max_rollouts = %i', async (maxRollouts) => {
    // The search never runs out of rules.
    on.world.container.behave((call) => on.world.answer(call, 0.9 * on.world.scoreOf(call)));
    const id = await create({ budget: { max_rollouts: maxRollouts } }, { generations: 40 });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_rollouts' });
    const mine = on.world.container.callsOf(id);
    expect(mine.length).toBeLessThanOrEqual(maxRollouts);
    // A proposal takes six; the reserve for a winner's evaluation serves only a winner.
    expect(mine.length).toBeGreaterThan(maxRollouts - 6 - 12);
  });

  test('takes the baseline from the calls’ system message, and fails when they differ', async () => {
    let system: (seed: number) => string = () => 'From the container’s own code.';
    const box = await container({
      behave: (call) =>
        answers.askModel(
          () => ({ system: system(call.seed), user: 'hello' }),
          () => ({ reward: 0.5, feedback: 'meh' }),
        ),
    });
    on.world.model.reply((request) => ({
      text: JSON.stringify(request.body.messages).includes('```') ? propose(request) : 'hi',
    }));
    const first = await create({ container_url: box.url }, { generations: 1, evaluation: { seeds: [0, 1, 2] } });
    expect(await ended(on.service, first)).toMatchObject({ status: 'completed' });
    const [row] = await on.service.query('select messages from candidates where job_id = $1 and lever_version = 0', [
      first,
    ]);
    expect(row).toEqual({ messages: [{ role: 'system', content: 'From the container’s own code.' }] });

    system = (seed) => `Another for each seed: ${seed}`;
    const second = await create({ container_url: box.url }, { generations: 1, evaluation: { seeds: [0, 1, 2] } });
    const seen = await ended<Session>(on.service, second);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'initial_prompt_needed' } });
    expect(seen.error).toContain('initial_prompt');
  });

  test('the view of each candidate matches its rollouts: paused within a batch, and at the end', async () => {
    const id = await create({ max_concurrent: 2 });
    await until('some have ended', async () =>
      (await read(id)).candidates.some((candidate) => candidate.rollout_count > 3),
    );
    await command(on.service, id, 'pause');
    const truth = () =>
      on.service.query(
        `select c.id as candidate_id, count(r.id) as rollout_count, avg(r.reward) as avg_reward
           from candidates c left join rollouts r on r.candidate_id = c.id and r.status in ('succeeded', 'failed')
          where c.job_id = $1 group by c.id, c.lever_version order by c.lever_version`,
        [id],
      );
    const seen = async () =>
      (await read(id)).candidates.map(({ candidate_id, rollout_count, avg_reward }) => {
        return { candidate_id, rollout_count, avg_reward };
      });
    await until('it rests', async () => {
      const { raw } = await on.service.workflow(id).describe();
      return (raw.pendingActivities ?? []).length === 0;
    });
    expect(await seen()).toEqual(await truth());
    await command(on.service, id, 'resume');
    await ended(on.service, id);
    expect(await seen()).toEqual(await truth());
    const [left] = await on.service.query(
      `select count(*) as n from rollouts r join jobs j on j.id = r.job_id where j.id = $1 and r.ordinal >= j.rollouts_counted`,
      [id],
    );
    expect(left).toEqual({ n: 0 });
  });

  test('the reason of a failed proposal is one short line, whatever the provider answered', async () => {
    on.world.model.reply(() => ({ status: 400, raw: 'no\n\u0007'.repeat(5_000) }));
    const id = await create();
    await ended(on.service, id);
    const failures = (await eventsOf(on.service, id)).filter((event) => event.type === 'proposal_failed');
    expect(failures.length).toBeGreaterThan(0);
    for (const { data } of failures) {
      const { reason } = data as { reason: string };
      expect(reason).toMatch(/400: no no /);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(gepaLimits.reasonBytes);
    }
  });

  test('a proposer that succeeds at the second try gets two requests, and both answers are recorded', async () => {
    const before = on.world.model.requests.length;
    on.world.model.reply((request) => ({
      text: on.world.model.requests.length - before === 1 ? '```\nnot closed' : propose(request),
    }));
    const id = await create({}, { generations: 1, population_size: 1 });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed' });
    expect(on.world.model.requests.length - before).toBe(2);
    const calls = await on.service.query(
      `select occurrence from model_calls where job_id = $1 and purpose = 'proposer' order by occurrence`,
      [id],
    );
    expect(calls).toEqual([{ occurrence: 0 }, { occurrence: 1 }]);
  });

  test('counts a failed rollout as reward 0, and repeats an infrastructure failure at most twice', async () => {
    const box = await container({
      prompt: [{ role: 'system', content: baseline }],
      behave: (call) => {
        if (call.seed === 1) return answers.raw('{}');
        return call.seed === 2 ? answers.reset() : answers.reward(1);
      },
    });
    const id = await create(
      { container_url: box.url, max_failure_rate: 1 },
      { generations: 1, evaluation: { seeds: [0, 1, 2, 3] }, train_seeds: [0] },
    );
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 0.5 });
    const asked = new Set(box.ledger.filter((entry) => entry.seed === 2).map((entry) => entry.rolloutId));
    expect(asked.size).toBe(3);
    expect(new Set(box.ledger.filter((entry) => entry.seed === 1).map((entry) => entry.rolloutId)).size).toBe(1);
  });
});
