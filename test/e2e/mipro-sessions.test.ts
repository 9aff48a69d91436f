import { afterEach, describe, expect, test } from '@jest/globals';
import { answerTo, isQuestion, startDemosWorld, wordOf } from '../support/demos-world.js';
import { answers, startFakeContainer } from '../support/fake-container.js';
import type { ModelRequest } from '../support/fake-model.js';
import { gate } from '../support/gate.js';
import {
  command,
  createEvaluation,
  createSession,
  ended,
  eventsOf,
  pathOf,
  readJob,
  resultsOf,
  type Evaluation,
  type Session,
} from '../support/jobs-over-http.js';
import { pricedPolicy, startPricedWorld } from '../support/priced-world.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';

// What every session is promised holds for MIPRO's: commands, budgets, a proposer that does not work, prompts of several parts.

const topics = 5;

/** The demonstrations' world, with containers whose prompt has two parts: one asks no model, one marks its texts in its calls. */
async function startWorld() {
  const [demos, priced] = await Promise.all([startDemosWorld({ topics }), startPricedWorld(5)]);
  const parts = await startFakeContainer({
    prompt: [
      { role: 'system', content: 'Plan first.', name: 'plan' },
      { role: 'user', content: 'Then answer.', name: 'answer' },
    ],
    behave: (call) => {
      const topic = call.seed % topics;
      const lesson = `topic-${topic} is ${wordOf(topic)}.`;
      const texts = call.body.policy.config.prompt_template?.sections.map(({ content }) => content) ?? [];
      return answers.reward(texts.some((text) => text.includes(lesson)) ? 1 : 0, lesson);
    },
  });
  const marking = await startFakeContainer({
    behave: () =>
      answers.askModel(
        ({ seed }) => ({
          system: '<lever name="style">Be brief.</lever> <lever name="plan">Say the word on the topic.</lever>',
          user: `Question ${seed} on topic-${seed % topics}.`,
        }),
        (said, { seed }) => ({
          reward: said === wordOf(seed % topics) ? 1 : 0,
          feedback: `topic-${seed % topics} is ${wordOf(seed % topics)}.`,
        }),
      ),
  });
  return {
    ...demos,
    priced,
    parts,
    marking,
    env: { ...demos.env, ...priced.env },
    async close() {
      await Promise.all([demos, priced, parts, marking].map((one) => one.close()));
    },
  };
}
const on = serviceOfFile(startWorld);
const asTheWorldHasIt = (request: ModelRequest) => ({ text: answerTo(request) });
afterEach(() => on.world.model.reply(asTheWorldHasIt));

const evaluation = { seeds: range(0, 6) };
const small = { num_candidates: 5, num_trials: 10, minibatch_size: 3, train_seeds: range(100, 8), evaluation };
const create = (mipro: object = {}, more: object = {}) =>
  createSession(on.service, { ...on.world.job, algorithm: 'mipro', mipro: { ...small, ...mipro }, ...more });
const read = (id: string) => readJob<Session>(on.service, id);

/** With one demonstration at most there is something left to learn after the first generation. */
const slow = { max_bootstrapped_demos: 1, max_labeled_demos: 0 };

/** Has the search's questions wait from the n-th on: the first is what the task is about, the fourth the second generation's first. */
function holdQuestion(n: number) {
  const { opened, open } = gate();
  let asked = 0;
  on.world.model.reply(async (request) => {
    if (isQuestion(request) && ++asked >= n) await opened;
    return { text: answerTo(request) };
  });
  return { open, asked: () => asked, reached: () => until(`question ${n} is asked`, () => asked >= n) };
}
const isIdle = (id: string) =>
  until('no activity is pending', async () => {
    const { raw } = await on.service.workflow(id).describe();
    return (raw.pendingActivities ?? []).length === 0;
  });

describe('commands in the middle', () => {
  test('paused while the task is described it asks nothing more; paused in trials it runs nothing more; resumed it completes', async () => {
    const { container } = on.world;
    const question = holdQuestion(1);
    const id = await create(slow);
    await question.reached();
    expect(await command(on.service, id, 'pause')).toMatchObject({ status: 'paused' });
    question.open();
    await isIdle(id);
    expect(question.asked()).toBe(1);
    const before = container.callsOf(id).length;

    const { opened, open } = gate();
    container.behave(() => answers.held(opened, on.world.ask));
    expect(await command(on.service, id, 'resume')).toMatchObject({ status: 'running' });
    await until('trials are under way', () => container.callsOf(id).length > before);
    expect(await command(on.service, id, 'pause')).toMatchObject({ status: 'paused' });
    open();
    await isIdle(id);
    const ran = container.callsOf(id).length;
    const asked = question.asked();
    expect((await read(id)).progress).toMatchObject({ generation: 1 });
    await command(on.service, id, 'resume');
    const session = await ended<Session>(on.service, id);
    container.behave(() => on.world.ask);
    expect(session).toMatchObject({ status: 'completed', error: null });
    expect(session.best_reward).toBeGreaterThan(0.5);
    expect(container.callsOf(id).length).toBeGreaterThan(ran);
    expect(container.callsOf(id)).toHaveLength(session.progress.rollouts_completed);
    expect(question.asked()).toBeGreaterThan(asked);
  });

  test('cancelled it keeps its candidates and its best so far', async () => {
    const question = holdQuestion(4);
    const id = await create(slow);
    await question.reached();
    const before = await read(id);
    expect(before.best_reward).toBeGreaterThan(0.5);
    expect(await command(on.service, id, 'cancel')).toMatchObject({ status: 'cancelled' });
    const session = await read(id);
    expect(session).toMatchObject({ status: 'cancelled', best_reward: before.best_reward });
    expect(session.candidates).toEqual(before.candidates);
    const { best_prompt: best, history } = await resultsOf(on.service, id);
    expect(best!.reward).toBe(before.best_reward);
    expect(history).toHaveLength(2);
    expect((await eventsOf(on.service, id)).at(-1)!.type).toBe('job_cancelled');
    question.open();
  });

  test('a reward with stop completes it with the best so far, demonstrations included', async () => {
    const question = holdQuestion(4);
    const id = await create(slow);
    await question.reached();
    const before = await read(id);
    const stopped = await command(on.service, id, 'reward', { reward: 1, stop: true });
    question.open();
    expect(stopped).toMatchObject({ status: 'completed' });
    const session = await read(id);
    expect(session).toMatchObject({ status: 'completed', best_reward: before.best_reward, error: null });
    const { best_prompt: best } = await resultsOf(on.service, id);
    expect(best!.reward).toBe(before.best_reward);
    const shown = await on.service.api.call<{ messages: object[] }>('GET', `${pathOf(id)}/prompt`);
    expect(shown.messages).toEqual(best!.messages);
  });
});

describe('budgets', () => {
  test('max_rollouts is never overshot, nor is it wasted on rollouts that are sent twice', async () => {
    const budgets = [15, 20, 33];
    const heldout = { evaluation: { ...evaluation, heldout_seeds: range(200, 3) } };
    const ids = await Promise.all([
      ...budgets.map((most) => create({}, { budget: { max_rollouts: most } })),
      ...budgets.map((most) => create(heldout, { budget: { max_rollouts: most + 6 }, rng_seed: most })),
    ]);
    for (const [place, id] of ids.entries()) {
      const most = place < budgets.length ? budgets[place]! : budgets[place - budgets.length]! + 6;
      const session = await ended<Session>(on.service, id);
      expect(session).toMatchObject({ status: 'completed', progress: { max_rollouts: most } });
      const calls = on.world.container.callsOf(id);
      expect(calls.length).toBeLessThanOrEqual(most);
      expect(new Set(calls.map(({ rolloutId }) => rolloutId)).size).toBe(calls.length);
      expect(session.progress.rollouts_completed).toBe(calls.length);
      expect(session.candidates.length).toBeGreaterThan(1);
      // What is held out is measured whenever there is a winner.
      if (place >= budgets.length && !session.best_candidate!.is_baseline) {
        expect(await resultsOf(on.service, id)).toMatchObject({ comparison: { basis: 'heldout', seeds: 3 } });
      }
    }
  });

  test('max_cost_usd is never exceeded, and ends the session with its best', async () => {
    const { priced } = on.world;
    const before = priced.answeredUsd();
    const id = await createSession(on.service, {
      container_url: priced.container.url,
      policy: pricedPolicy,
      max_concurrent: 16,
      algorithm: 'mipro',
      mipro: { num_candidates: 10, num_trials: 60, minibatch_size: 6, evaluation: { seeds: range(0, 12) } },
      budget: { max_cost_usd: 0.04 },
    });
    await ended(on.service, id);
    const session = await until('calls under way are counted', async () => {
      const seen = await read(id);
      return seen.budget.reserved_usd === 0 && seen;
    });
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_cost_usd', error: null });
    expect(session.candidates.length).toBeGreaterThan(1);
    const answered = priced.answeredUsd() - before;
    expect(answered).toBeLessThanOrEqual(0.04);
    expect(answered).toBeGreaterThan(0.02);
    expect(session.budget.spent_usd).toBeCloseTo(answered, 9);
    const rows = await on.service.query(`select 1 from rollouts where job_id = $1 and status = 'failed'`, [id]);
    expect(rows).toEqual([]);
  });
});

test('a proposer that never works fails the session, says why, and the baseline is there', async () => {
  on.world.model.reply((request) => ({
    text: isQuestion(request) ? 'I would rather not.' : answerTo(request),
  }));
  const id = await create({ max_bootstrapped_demos: 0, max_labeled_demos: 0 });
  expect(await ended<Session>(on.service, id)).toMatchObject({
    status: 'failed',
    error_details: { code: 'proposer_failed' },
    error: expect.stringMatching(/no ``` fence/) as unknown,
    best_reward: 0.5,
  });
  expect(await resultsOf(on.service, id)).toMatchObject({
    best_prompt: { messages: [{ role: 'system', content: 'Say the word on the topic.' }], reward: 0.5 },
    history: [0, 1].map((generation) => ({ generation, best_reward: 0.5 })),
  });
});

test('a description of the task that takes two tries is what instructions are written with', async () => {
  let asked = 0;
  on.world.model.reply((request) => ({ text: isQuestion(request) && ++asked === 1 ? '' : answerTo(request) }));
  const from = on.world.model.requests.length;
  expect(await ended<Session>(on.service, await create(slow))).toMatchObject({ status: 'completed' });
  const questions = on.world.model.requests.slice(from).filter(isQuestion);
  const [, again, ...writing] = questions.map(({ body }) => body.messages);
  expect(again).toHaveLength(3);
  expect(writing.length).toBeGreaterThan(1);
  for (const [first] of writing) expect(first!.content).toContain('Questions on topics, each of which has a word.');
});

describe('prompts of several parts', () => {
  test('of a container that asks no model: there is nothing to show, the instructions are what is searched', async () => {
    const id = await create({}, { container_url: on.world.parts.url });
    const session = await ended<Session>(on.service, id);
    expect(session).toMatchObject({ status: 'completed', error: null });
    expect(session.best_reward).toBeGreaterThan(0);
    const messages = (await resultsOf(on.service, id)).best_prompt!.messages;
    expect(messages.map(({ role, name }) => [role, name])).toEqual([
      ['system', 'plan'],
      ['user', 'answer'],
    ]);
    const rows = await on.service.query<{ demos: unknown[] | null }>('select demos from candidates where job_id = $1', [
      id,
    ]);
    expect(rows.every(({ demos }) => (demos ?? []).length === 0)).toBe(true);
    expect(rows.length).toBeGreaterThan(5);
  });

  test('of a container that marks them: demonstrations are the first marked one’s, and each call is shown them', async () => {
    const { marking, model } = on.world;
    const from = model.requests.length;
    const id = await create({}, { container_url: marking.url });
    const session = await ended<Session>(on.service, id);
    expect(session).toMatchObject({ status: 'completed', error: null });
    expect(session.best_reward).toBeGreaterThan(0.5);
    const rows = await on.service.query<{ demos: { component: string | null; seed: number }[] }>(
      `select demos from candidates where job_id = $1 and jsonb_array_length(demos) > 0`,
      [id],
    );
    const named = new Set(rows.flatMap(({ demos }) => demos.map(({ component }) => component)));
    expect([...named]).toEqual(['style']);
    const asked = model.requests.slice(from).filter((request) => !isQuestion(request));
    expect(asked.some(({ body }) => body.messages.length > 2)).toBe(true);
    for (const { body } of asked) {
      const { messages } = body;
      expect(JSON.stringify(messages)).not.toContain('lever');
      expect(messages.map(({ role }) => role)).toEqual(
        range(0, messages.length).map((place) => (place === 0 ? 'system' : place % 2 === 1 ? 'user' : 'assistant')),
      );
      // No rollout is shown its own answer.
      expect(messages.slice(0, -1).map(({ content }) => content)).not.toContain(messages.at(-1)!.content);
    }
  });
});

test('an evaluation of the winner comes to the session’s reward: on its own seeds each is shown the others', async () => {
  const id = await create({
    train_seeds: undefined,
    evaluation: { seeds: range(0, 9) },
    num_candidates: 3,
    num_trials: 5,
  });
  const session = await ended<Session>(on.service, id);
  const shown = await on.service.query<{ demos: unknown[] }>('select demos from candidates where id = $1', [
    session.best_candidate!.candidate_id,
  ]);
  expect(shown[0]!.demos.length).toBeGreaterThan(0);
  const from = on.world.model.requests.length;
  const job = await createEvaluation(on.service, {
    ...on.world.job,
    candidate: { session_id: id },
    seeds: range(0, 9),
  });
  const evaluated = await ended<Evaluation>(on.service, job);
  expect(evaluated).toMatchObject({ status: 'completed' });
  expect(evaluated.summary!.mean_reward).toBeCloseTo(session.best_reward!, 9);
  const asked = on.world.model.requests.slice(from).map(({ body }) => body.messages.map(({ content }) => content));
  expect(asked).toHaveLength(9);
  expect(asked.filter((contents) => contents.length > 2).length).toBeGreaterThan(0);
  for (const contents of asked) expect(contents.slice(0, -1)).not.toContain(contents.at(-1));
});

test('the same rng_seed and answers give the same candidates, demonstrations and history, however many run at once', async () => {
  const ids = await Promise.all([2, 16].map((most) => create({}, { rng_seed: 7, max_concurrent: most })));
  const found = await Promise.all(
    ids.map(async (id) => {
      await ended(on.service, id);
      const candidates = await on.service.query(
        `select lever_version, generation, parent_ids, status, messages, demos, reward, rollout_count
           from candidates where job_id = $1 order by lever_version`,
        [id],
      );
      const { history } = await resultsOf(on.service, id);
      return JSON.parse(JSON.stringify({ candidates, history }).replaceAll(id.slice(4), 'JOB')) as {
        candidates: { demos: unknown[] | null }[];
      };
    }),
  );
  expect(found[0]).toEqual(found[1]);
  expect(found[0]!.candidates.some(({ demos }) => (demos ?? []).length > 0)).toBe(true);
});
