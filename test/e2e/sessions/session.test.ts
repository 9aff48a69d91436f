import { afterEach, describe, expect, test } from '@jest/globals';
import { gepaLimits } from '../../../src/core/algorithms/gepa/config.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { answers } from '../../support/fakes/container.js';
import {
  command,
  createSession,
  ended,
  eventsOf,
  pathOf,
  readJob,
  resultsOf,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { baseline, propose, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

const on = serviceOfFile(startRulesWorld);
afterEach(() => on.world.reset());

const create = (more: object = {}, gepa: object = {}) =>
  createSession(on.service, {
    ...on.world.job,
    gepa: {
      population_size: 2,
      generations: 6,
      minibatch_size: 3,
      train_seeds: range(100, 40),
      evaluation: { seeds: range(0, 12) },
      ...gepa,
    },
    ...more,
  });
const container = containersOfEachTest();
const read = (id: string) => readJob<Session>(on.service, id);

describe('a GEPA session', () => {
  test('finds the prompt with all rules, and everything it says about itself adds up', async () => {
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', error: null, stopped_by: 'solved', best_reward: 1 });
    const { best_prompt: best, history } = await resultsOf(on.service, id);
    for (let rule = 0; rule < on.world.rules; rule += 1) expect(best!.messages[0]!.content).toContain(`rule-${rule}.`);
    expect(best).toMatchObject({ reward: 1, messages: [{ role: 'system' }] });
    expect(best!.messages[0]!.content.startsWith(baseline)).toBe(true);

    expect(history[0]).toEqual({ generation: 0, best_reward: 0 });
    expect(history.map((entry) => entry.generation)).toEqual(range(0, history.length));
    expect(history.map((entry) => entry.best_reward)).toEqual([...history.map((entry) => entry.best_reward)].sort());

    const base = seen.candidates.find((candidate) => candidate.is_baseline)!;
    expect(base).toMatchObject({ generation: 0, parent_ids: [], lever_version: 0, status: 'evaluated', reward: 0 });
    const ids = new Set(seen.candidates.map((candidate) => candidate.candidate_id));
    for (const candidate of seen.candidates) {
      expect(candidate.parent_ids.every((parent) => ids.has(parent))).toBe(true);
      if (candidate.status === 'evaluated') expect(candidate.reward).not.toBeNull();
    }
    const mine = on.world.container.callsOf(id);
    expect(seen.progress.rollouts_completed).toBe(mine.length);
    expect(new Set(mine.map((entry) => entry.rolloutId)).size).toBe(mine.length);
    expect(Math.max(...mine.map((entry) => entry.concurrency))).toBeLessThanOrEqual(5);
  });

  test('its events are 1..N, one for each decision, and end with job_complete', async () => {
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    const all = await eventsOf(on.service, id);
    expect(all.map((event) => event.seq)).toEqual(range(1, all.length));
    const of = (type: string) => all.filter((event) => event.type === type);
    expect(all[0]!.type).toBe('session_started');
    expect(all.at(-1)).toMatchObject({ type: 'job_complete', data: { best_reward: seen.best_reward } });
    expect(of('rollout_completed')).toHaveLength(seen.progress.rollouts_completed);
    expect(of('candidate_proposed')).toHaveLength(seen.candidates.length - 1);
    expect(of('generation_complete').map((event) => event.data['generation'])).toEqual(
      range(0, of('generation_complete').length),
    );
    const evaluated = seen.candidates
      .filter((candidate) => candidate.status === 'evaluated')
      .map((candidate) => candidate.candidate_id);
    expect(
      of('evaluation_complete')
        .map((event) => event.data['candidate_id'])
        .sort(),
    ).toEqual([...evaluated].sort());
    expect(of('evaluation_complete')[0]!.data).toMatchObject({ generation: 0, reward: 0, seeds_evaluated: 12 });

    // What was decided stands before what follows from it.
    for (const [at, { type, data }] of all.entries()) {
      if (type !== 'rollout_completed') continue;
      const before = all.slice(0, at);
      const decided = (what: string, field: string, value: unknown) =>
        before.some((event) => event.type === what && event.data[field] === value);
      const { generation, candidate_id: candidate } = data;
      if (Number(generation) > 0)
        expect(decided('generation_complete', 'generation', Number(generation) - 1)).toBe(true);
      if (data['stage'] === 'gate') expect(decided('candidate_proposed', 'candidate_id', candidate)).toBe(true);
    }
  });

  test('is the same for the same rng_seed and answers, and another for another seed', async () => {
    const run = async (rngSeed: number, maxConcurrent: number) => {
      const id = await create({ rng_seed: rngSeed, max_concurrent: maxConcurrent });
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
    const first = await run(0, 1);
    // The second time several are under way and every answer takes its own time; the path must not depend on it.
    on.world.container.behave((call) => answers.after((call.seed * 7) % 13, on.world.answer(call)));
    expect(await run(0, 9)).toEqual(first);
    expect(await run(5, 9)).not.toEqual(first);
  });

  test.each([40, 55, 71])('never goes over budget.max_rollouts = %i', async (maxRollouts) => {
    // There is always something left to learn.
    on.world.container.behave((call) => on.world.answer(call, 0.9 * on.world.scoreOf(call)));
    const id = await create({ budget: { max_rollouts: maxRollouts } }, { generations: 40 });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_rollouts' });
    const mine = on.world.container.callsOf(id);
    expect(mine.length).toBeLessThanOrEqual(maxRollouts);
    // A proposal takes six, and what is reserved for the evaluation of a winner is spent only where there is one.
    expect(mine.length).toBeGreaterThan(maxRollouts - 6 - 12);
  });

  test('takes the baseline from initial_prompt, before the container’s own', async () => {
    const id = await create(
      { initial_prompt: { messages: [{ role: 'system', content: 'Mine. rule-0.' }] } },
      { generations: 1 },
    );
    const seen = await ended<Session>(on.service, id);
    expect(seen.candidates[0]!.reward).toBe(0.25);
    const prompt = await on.service.api.call<{ messages: { content: string }[] }>(
      'GET',
      `${pathOf(id)}/prompt?correlation_id=rol_${id.slice(4)}_0`,
    );
    expect(prompt.messages).toEqual([{ role: 'system', content: 'Mine. rule-0.' }]);
  });

  test('or from the system message that the baseline’s calls carry; fails when they differ', async () => {
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

  test('rollouts get their candidate’s system message through the proxy; other calls get the best so far', async () => {
    const seenSystems = new Map<string, string>();
    const box = await container({
      prompt: [{ role: 'system', content: baseline }],
      behave: () =>
        answers.askModel(
          () => ({ system: 'whatever the container has', user: 'hello' }),
          (text, call) => {
            seenSystems.set(call.rolloutId, text);
            return { reward: on.world.score(text, call.seed), feedback: `needs rule-${call.seed % on.world.rules}.` };
          },
        ),
    });
    // The model says back which system message it was given.
    on.world.model.reply((request) => ({
      text: request.body.messages[0]!.role === 'system' ? request.body.messages[0]!.content : propose(request),
    }));
    const id = await create({ container_url: box.url });
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const rows = await on.service.query<{ id: string; system: string }>(
      `select r.id, c.messages->0->>'content' as system from rollouts r join candidates c on c.id = r.candidate_id where r.job_id = $1`,
      [id],
    );
    for (const row of rows) expect(seenSystems.get(row.id)).toBe(row.system);

    const best = (await resultsOf(on.service, id)).best_prompt!.messages[0]!.content;
    const ask = (path: string) =>
      fetch(`${on.service.url}/api/gepa/v1/${id}${path}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          messages: [
            { role: 'system', content: 'mine' },
            { role: 'user', content: 'hi' },
          ],
        }),
      });
    for (const path of ['', '/a-user-of-mine', '/another/v1']) {
      const answer = await ask(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-gepa-candidate-id')).toBe(seen.best_candidate!.candidate_id);
      expect(Number.isInteger(Number(answer.headers.get('x-gepa-rollout-idx')))).toBe(true);
      expect(answer.headers.get('x-gepa-rollout-id')).toBeTruthy();
      expect(answer.headers.get('x-gepa-correlation-id')).toBeTruthy();
      const body = (await answer.json()) as { choices: { message: { content: string } }[] };
      expect(body.choices[0]!.message.content).toBe(best);
    }
    const after = await read(id);
    expect(after.usage.total_tokens).toBeGreaterThan(seen.usage.total_tokens);
    expect(after.progress.rollouts_completed).toBe(seen.progress.rollouts_completed);

    const trace = await on.service.api.call<{ calls: unknown[] }>('GET', `${pathOf(id)}/traces/rol_${id.slice(4)}_0`);
    expect(JSON.stringify(trace)).toContain('hello');
  });

  test('a proposer that never works fails the session with the reason; the baseline is kept', async () => {
    on.world.model.reply(() => ({ text: 'I would rather not.' }));
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'proposer_failed' }, best_reward: 0 });
    expect((await resultsOf(on.service, id)).best_prompt!.messages).toEqual([{ role: 'system', content: baseline }]);
    expect((await eventsOf(on.service, id)).slice(-2).map((event) => event.type)).toEqual(['error', 'job_failed']);
  });

  test('what is read of each candidate is what its rollouts say: paused within a batch, and at the end', async () => {
    const id = await create({ max_concurrent: 2 });
    await until('some have ended', async () => (await read(id)).candidates.some((one) => one.rollout_count > 3));
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

  test('why a proposal failed is told in one short line, whatever the provider said', async () => {
    on.world.model.reply(() => ({ status: 400, raw: 'no\n\u0007'.repeat(5_000) }));
    const id = await create();
    await ended(on.service, id);
    const failures = (await eventsOf(on.service, id)).filter((event) => event.type === 'proposal_failed');
    expect(failures.length).toBeGreaterThan(0);
    for (const { data } of failures) {
      const { reason } = data as { reason: string };
      expect(reason).toMatch(/answered the proposer with 400: no no /);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(gepaLimits.reasonBytes);
    }
  });

  test('a proposer that answers at the second try is asked twice, and both answers are recorded', async () => {
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

  test('a failed rollout counts as reward 0; one that was the infrastructure’s fault is asked for again, at most twice', async () => {
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

  test('stop: true with a reward completes it with the best so far', async () => {
    on.world.container.behave(() => answers.hang());
    const id = await create();
    await until('it runs', () => on.world.container.callsOf(id).length > 0);
    await command(on.service, id, 'reward', { reward_info: { score: 1 }, stop: true });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', stopped_by: 'reward_stop' });
  });

  test('a graceful restart in the middle loses nothing and runs nothing twice', async () => {
    on.world.container.behave((call) => answers.after(20, on.world.answer(call)));
    const id = await create();
    await until('some are recorded', async () => (await read(id)).progress.rollouts_completed > 15);
    await on.service.restart();
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
    const mine = on.world.container.callsOf(id);
    expect(new Set(mine.map((entry) => entry.rolloutId)).size).toBe(mine.length);
  });
});
