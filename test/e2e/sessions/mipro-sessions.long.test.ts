import { afterEach, describe, expect, test } from '@jest/globals';
import type { Demo } from '../../../src/core/prompts/demos.js';
import { usableDemos } from '../../../src/candidates/store/demos.js';
import { chainOf } from '../../support/chain.js';
import { answerTo, demosBaseline, isQuestion, startDemosWorld, wordOf } from '../../support/worlds/demos.js';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import type { ModelRequest } from '../../support/fakes/model.js';
import { gate } from '../../support/gate.js';
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
} from '../../support/jobs-over-http.js';
import { pricedPolicy, startPricedWorld } from '../../support/worlds/priced.js';
import { range } from '../../support/range.js';
import { startTestService, type TestService } from '../../support/service.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startShortHistories } from '../../support/servers/short-histories.js';
import { signalWhileRunning } from '../../support/many-runs.js';
import { until } from '../../support/until.js';
import { uselessText } from '../../support/worlds/asked.js';

// MIPRO sessions: commands, budgets, a failing proposer, prompts of several components.

const topics = 5;

/** The demonstrations world and containers with two components; one marks its texts. */
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
      await Promise.all([demos, priced, parts, marking].map((server) => server.close()));
    },
  };
}
const on = serviceOfFile(startWorld);
const asTheWorldHasIt = (request: ModelRequest) => ({ text: answerTo(request) });
/** Texts bring nothing, so that demonstrations are tested: each question gets another text. */
const textsBringNothing = () =>
  on.world.model.reply((request) => {
    return isQuestion(request) ? { text: uselessText(demosBaseline, request.body.messages) } : asTheWorldHasIt(request);
  });
afterEach(() => {
  on.world.model.reply(asTheWorldHasIt);
  on.world.container.behave(() => on.world.ask);
});

const evaluation = { seeds: range(0, 6) };
const small = { num_candidates: 5, num_trials: 10, minibatch_size: 3, train_seeds: range(100, 8), evaluation };
const create = (mipro: object = {}, more: object = {}) =>
  createSession(on.service, { ...on.world.job, algorithm: 'mipro', mipro: { ...small, ...mipro }, ...more });
const read = (id: string) => readJob<Session>(on.service, id);

/** One question at a time, so that the first generation cannot learn everything. */
const slow = { num_candidates: 1, max_bootstrapped_demos: 1, max_labeled_demos: 0 };

/** Holds proposer requests from the n-th on: 1 describes the task, n begins generation n - 1. */
function holdQuestion(n: number) {
  const { opened, open } = gate();
  let asked = 0;
  on.world.model.reply(async (request) => {
    if (isQuestion(request) && ++asked >= n) await opened;
    return { text: answerTo(request) };
  });
  return { open, asked: () => asked, reached: () => until(`question ${n} is asked`, () => asked >= n) };
}
/** Waits until the workflow has seen the end of everything it started; it acts on commands only. */
const isAtRest = (id: string) =>
  until('nothing is pending', async () => {
    const { raw } = await on.service.workflow(id).describe();
    return (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask;
  });

/** Rewards of a candidate on each seed, ascending, in request order. */
async function rewardsOf(id: string, candidate: string, stages: string[]): Promise<Map<number, number[]>> {
  const rows = await on.service.query<{ seed: number; rewards: number[] }>(
    `select seed, array_agg(reward order by ordinal) as rewards from rollouts
      where job_id = $1 and candidate_id = $2 and stage = any($3) group by seed order by seed`,
    [id, candidate, stages],
  );
  return new Map(rows.map(({ seed, rewards }) => [seed, rewards]));
}
const meanOf = (rewards: readonly number[]) => rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;

describe('commands during a search', () => {
  test('starts nothing while paused during the task description and during trials, and completes after a resume', async () => {
    const { container } = on.world;
    const question = holdQuestion(1);
    const id = await create(slow, { max_concurrent: 2 });
    await question.reached();
    const before = container.callsOf(id).length;
    expect(await command(on.service, id, 'pause')).toMatchObject({ status: 'paused' });
    question.open();
    await isAtRest(id);
    expect([question.asked(), container.callsOf(id).length]).toEqual([1, before]);

    const { opened, open } = gate();
    container.behave(() => answers.held(opened, on.world.ask));
    expect(await command(on.service, id, 'resume')).toMatchObject({ status: 'running' });
    await until('trials have all slots', () => container.callsOf(id).length === before + 2);
    const asked = question.asked();
    expect(await command(on.service, id, 'pause')).toMatchObject({ status: 'paused' });
    open();
    await isAtRest(id);
    expect([question.asked(), container.callsOf(id).length]).toEqual([asked, before + 2]);
    expect(await read(id)).toMatchObject({ status: 'paused', progress: { generation: 1 } });
    await command(on.service, id, 'resume');
    const session = await ended<Session>(on.service, id);
    expect(session).toMatchObject({ status: 'completed', error: null });
    expect(session.best_reward).toBeGreaterThan(0.5);
    expect(container.callsOf(id)).toHaveLength(session.progress.rollouts_completed);
    expect(question.asked()).toBeGreaterThan(asked);
  });

  test('keeps its candidates and its best when cancelled', async () => {
    const question = holdQuestion(5);
    const id = await create(slow, { max_concurrent: 1 });
    await question.reached();
    const before = await read(id);
    expect(before.best_reward).toBeGreaterThan(0.5);
    expect(await command(on.service, id, 'cancel')).toMatchObject({ status: 'cancelled' });
    const session = await read(id);
    expect(session).toMatchObject({ status: 'cancelled', best_reward: before.best_reward });
    expect(session.candidates).toEqual(before.candidates);
    const { best_prompt: best, history } = await resultsOf(on.service, id);
    expect(best!.reward).toBe(before.best_reward);
    expect(history).toHaveLength(4);
    expect((await eventsOf(on.service, id)).at(-1)!.type).toBe('job_cancelled');
    question.open();
  });

  test('completes with its best, including demonstrations, after a reward with stop', async () => {
    const question = holdQuestion(5);
    const id = await create(slow, { max_concurrent: 1 });
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
  test('never exceeds max_rollouts, and does not spend it on rollouts that are sent twice', async () => {
    const budgets = [18, 21, 33];
    const heldout = { evaluation: { ...evaluation, heldout_seeds: range(200, 3) } };
    const ids = await Promise.all([
      ...budgets.map((most) => create({}, { budget: { max_rollouts: most } })),
      ...budgets.map((most) => create(heldout, { budget: { max_rollouts: most + 6 }, rng_seed: most })),
    ]);
    for (const [index, id] of ids.entries()) {
      const most = index < budgets.length ? budgets[index]! : budgets[index - budgets.length]! + 6;
      const session = await ended<Session>(on.service, id);
      expect(session).toMatchObject({ status: 'completed', progress: { max_rollouts: most } });
      const calls = on.world.container.callsOf(id);
      expect(calls.length).toBeLessThanOrEqual(most);
      expect(new Set(calls.map(({ rolloutId }) => rolloutId)).size).toBe(calls.length);
      expect(session.progress.rollouts_completed).toBe(calls.length);
      expect(session.candidates.length).toBeGreaterThan(1);
      // The held-out seeds are measured whenever there is a winner.
      if (index >= budgets.length && !session.best_candidate!.is_baseline) {
        expect(await resultsOf(on.service, id)).toMatchObject({ comparison: { basis: 'heldout', seeds: 3 } });
      }
    }
  });

  test('never exceeds max_cost_usd, and ends the session with its best', async () => {
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

  test('max_minutes ends the session while it waits for a proposal, with a fully evaluated best', async () => {
    const endsAfter = async (seconds: number): Promise<Session> => {
      const question = holdQuestion(5);
      const more = { budget: { max_minutes: seconds / 60 }, max_concurrent: 1 };
      const session = await ended<Session>(on.service, await create(slow, more));
      question.open();
      // Progress within the time depends on the machine; the wait is certain.
      return question.asked() < 5 ? endsAfter(2 * seconds) : session;
    };
    const session = await endsAfter(4);
    const id = session.session_id;
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'max_minutes', error: null });
    expect(session.best_candidate).toMatchObject({ is_baseline: false, status: 'evaluated' });
    expect(session.best_reward).toBeGreaterThan(0.5);
    const rewards = await rewardsOf(id, session.best_candidate!.candidate_id, ['evaluation']);
    expect([...rewards.keys()]).toEqual(evaluation.seeds);
    expect(meanOf([...rewards.values()].map((own) => own.at(-1)!))).toBeCloseTo(session.best_reward!, 9);
    expect((await resultsOf(on.service, id)).best_prompt).toMatchObject({ reward: session.best_reward });
    expect((await eventsOf(on.service, id)).at(-1)).toMatchObject({
      type: 'job_complete',
      data: { stopped_by: 'max_minutes' },
    });
  });
});

test('with repeats each evaluation runs every seed that often, and the mean is the reward', async () => {
  const { container } = on.world;
  container.behave(() =>
    answers.askModel(
      ({ seed, body }) => ({
        system: body.policy.config.prompt_template?.sections[0]?.content ?? demosBaseline,
        user: `Question ${seed} on topic-${seed % topics}.`,
      }),
      (said, { seed, rolloutId }) => {
        const noise = (Number(rolloutId.split('_').at(-1)) % 4) / 10;
        return { reward: said === wordOf(seed % topics) ? 1 - noise : noise };
      },
    ),
  );
  const id = await create({ evaluation: { ...evaluation, repeats: 3 } });
  const session = await ended<Session>(on.service, id);
  expect(session).toMatchObject({ status: 'completed', error: null });
  expect(session.best_candidate!.is_baseline).toBe(false);
  expect(container.callsOf(id)).toHaveLength(session.progress.rollouts_completed);
  const evaluated = session.candidates.filter(({ status }) => status === 'evaluated');
  expect(evaluated.length).toBeGreaterThan(1);
  for (const { candidate_id: candidate, reward } of evaluated) {
    const rewards = await rewardsOf(id, candidate, ['baseline', 'evaluation']);
    expect([...rewards].map(([seed, own]) => [seed, own.length])).toEqual(evaluation.seeds.map((seed) => [seed, 3]));
    expect([...rewards.values()].some((own) => new Set(own).size > 1)).toBe(true);
    expect(meanOf([...rewards.values()].flat())).toBeCloseTo(reward!, 9);
  }
});

test('fails the session with a reason when the proposer never works, and keeps the baseline', async () => {
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

test('writes instructions with a task description from the second try', async () => {
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

describe('prompts of several components', () => {
  test('in a container without model calls: no demonstrations, only instructions are searched', async () => {
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

  test('in a container with marks: demonstrations belong to the first marked component, and each call gets all but its own', async () => {
    const { marking, model } = on.world;
    textsBringNothing();
    const from = model.requests.length;
    // Without train seeds the demonstrations come from the evaluation seeds.
    const id = await create({ train_seeds: undefined, num_trials: 16 }, { container_url: marking.url });
    const session = await ended<Session>(on.service, id);
    expect(session).toMatchObject({ status: 'completed', error: null });
    const rollouts = await on.service.query<{ ordinal: number; seed: number; demos: Demo[] }>(
      `select r.ordinal, r.seed, coalesce(c.demos, '[]') as demos
         from rollouts r join candidates c on c.id = r.candidate_id where r.job_id = $1 order by r.ordinal`,
      [id],
    );
    expect([...new Set(rollouts.flatMap(({ demos }) => demos.map(({ component }) => component)))]).toEqual(['style']);
    const questionOf = (seed: number) => `Question ${seed} on topic-${seed % topics}.`;
    expect(rollouts.filter(({ seed, demos }) => demos.some((demo) => demo.seed === seed)).length).toBeGreaterThan(5);
    const shown = rollouts.map(({ seed, demos }) => [
      ...demos.filter((demo) => demo.seed !== seed).flatMap(({ input, output }) => [input, output]),
      questionOf(seed),
    ]);
    const asked = model.requests.slice(from).filter((request) => !isQuestion(request));
    for (const { body } of asked) {
      const { messages } = body;
      expect(JSON.stringify(messages)).not.toContain('lever');
      expect(messages.map(({ role }) => role)).toEqual(
        range(0, messages.length).map((index) => (index === 0 ? 'system' : index % 2 === 1 ? 'user' : 'assistant')),
      );
    }
    const said = asked.map(({ body }) => body.messages.slice(1).map(({ content }) => content));
    expect(said.map(String).sort()).toEqual(shown.map(String).sort());
    // A call without its own demonstration remains a complete demonstration for others.
    const ordinals = rollouts.map(({ ordinal }) => ordinal);
    const prompt = { components: ['style', 'plan'], marked: true, ordinals, open: [] };
    const [slot] = await on.service.db.org('default', (tx) => usableDemos(tx, id, prompt));
    expect(slot!.component).toBe('style');
    expect(slot!.bootstrapped.toSorted((left, right) => left - right)).toEqual(ordinals);
  });
});

test('an evaluation of the winner equals the session’s reward: on its own seeds each call gets the other demonstrations', async () => {
  textsBringNothing();
  const id = await create({
    train_seeds: undefined,
    evaluation: { seeds: range(0, 9) },
    num_candidates: 3,
    num_trials: 16,
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

describe('the same rng_seed and answers give the same candidates, demonstrations and history', () => {
  async function found(service: TestService, maxConcurrent: number, mipro: object = {}, inManyRuns = false) {
    const id = await createSession(service, {
      ...on.world.job,
      algorithm: 'mipro',
      mipro: { ...small, ...mipro },
      rng_seed: 7,
      max_concurrent: maxConcurrent,
    });
    if (inManyRuns) await signalWhileRunning(service, id);
    expect(await ended(service, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    const candidates = await service.query(
      `select lever_version, generation, parent_ids, status, messages, demos, reward, rollouts_counted
         from candidates where job_id = $1 order by lever_version`,
      [id],
    );
    const rollouts = await service.query(
      'select ordinal, stage, candidate_id, seed, reward from rollouts where job_id = $1 order by ordinal',
      [id],
    );
    const { history } = await resultsOf(service, id);
    const bare = JSON.stringify({ candidates, rollouts, history }).replaceAll(id.slice(4), 'JOB');
    return { id, found: JSON.parse(bare) as { candidates: { demos: unknown[] | null }[]; history: unknown[] } };
  }

  test('with any concurrency', async () => {
    textsBringNothing();
    const [two, many] = await Promise.all([2, 16].map((most) => found(on.service, most, { num_trials: 16 })));
    expect(two!.found).toEqual(many!.found);
    expect(two!.found.candidates.some(({ demos }) => (demos ?? []).length > 0)).toBe(true);
  });

  test('over several workflow runs', async () => {
    const temporal = await startShortHistories(25);
    const short = await startTestService({ ...on.world.env, TEMPORAL_ADDRESS: temporal.address });
    try {
      const [whole, parts] = await Promise.all(
        [on.service, short].map((service) => found(service, 2, { num_candidates: 2 }, service === short)),
      );
      expect(parts!.found).toEqual(whole!.found);
      expect(parts!.found.history.length).toBeGreaterThan(2);
      expect((await chainOf(short.temporal, short.workflow(parts!.id).workflowId)).length).toBeGreaterThan(1);
    } finally {
      await short.stop();
      await temporal.stop();
    }
  }, 90_000);
});
