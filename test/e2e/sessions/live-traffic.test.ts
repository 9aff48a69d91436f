import { afterEach, describe, expect, test } from '@jest/globals';
import { recordReward } from '../../../src/storage/rollouts/rewards.js';
import { judgeFrames, totalsOf } from '../../support/frames.js';
import {
  command,
  createSession,
  ended,
  pathOf,
  readJob,
  resultsOf,
  type Session,
  type SessionResults,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { callsShown, echo, guess, startLiveWorld, startTraffic, type Traffic } from '../../support/fakes/traffic.js';
import { until } from '../../support/until.js';

// Caller-driven sessions: the rollouts are live traffic through the proxy, and rewards are reported by POST.

const on = serviceOfFile(startLiveWorld);
const running: Traffic[] = [];
// Before the service is stopped, whatever failed.
afterEach(async () => {
  await Promise.all(running.splice(0).map((traffic) => traffic.stop()));
});

interface Evaluated {
  rollout_id: string;
  seed: number | null;
  reward: number;
}

const rules = 4;
const baseline = 'Answer well.';
const isRising = (values: number[]) => values.every((value, at) => at === 0 || value >= values[at - 1]!);
const rewardsOf = ({ history }: SessionResults) => history.map(({ best_reward }) => best_reward);

/** Instance n needs the rule n mod `rules`. */
const score = (prompt: string, n: number) => ({
  reward: prompt.includes(`rule-${n % rules}.`) ? 1 : 0,
  feedback: `needs rule-${n % rules}.`,
});

const create = (more: Record<string, unknown> = {}) =>
  createSession(on.service, {
    rollouts: 'caller',
    policy: { provider: 'fake', model: 'live' },
    proposer: { provider: 'fake', model: 'proposer' },
    initial_prompt: { messages: [{ role: 'system', content: baseline }] },
    gepa: { population_size: 2, generations: 12, minibatch_size: 3, evaluation: { seeds: [0, 1, 2, 3] } },
    ...more,
  });
const read = (id: string) => readJob<Session>(on.service, id);
/** One call of live traffic; answers who served it. */
async function call(id: string, correlationId: string): Promise<string | null> {
  const response = await fetch(`${on.service.url}/api/gepa/v1/${id}/${correlationId}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect(response.status).toBe(200);
  return response.headers.get('x-gepa-candidate-id');
}
const reward = (id: string, body: object) => command(on.service, id, 'reward', body);
function send(id: string, more: Partial<Parameters<typeof startTraffic>[0]> = {}): Traffic {
  const traffic = startTraffic({
    urls: () => [on.service.url],
    apiKey: on.service.apiKey,
    sessionId: id,
    inFlight: 8,
    score,
    ...more,
  });
  running.push(traffic);
  return traffic;
}

describe('live traffic that names its instances', () => {
  test('is searched as a container is: pair by pair, to the prompt that has all the rules', async () => {
    const id = await create();
    const traffic = send(id, { seed: (n) => n % rules });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    expect(session).toMatchObject({ status: 'completed', best_reward: 1, container_url: null });
    expect(session.traffic).toEqual({ compared: 'paired', wanted: 0, claimed: 0 });
    const found = await resultsOf(on.service, id);
    for (let rule = 0; rule < rules; rule++) expect(found.best_prompt!.messages[0]!.content).toContain(`rule-${rule}.`);
    expect(isRising(rewardsOf(found))).toBe(true);
    await judgeFrames(on.service.api, id, { live: true });
    // Those that came when it was over are refused.
    const taken = traffic.rewards.filter(({ status }) => status === 200);
    expect(taken.length).toBeGreaterThanOrEqual(session.progress.rollouts_completed);
    expect(traffic.rewards.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  }, 300_000);
});

describe('live traffic that names nothing', () => {
  test('with a hundred in flight at two replicas; rewards come in any order, twice, or never', async () => {
    const other = await on.service.another({ serve: true, work: false });
    const id = await create({
      gepa: {
        ...{ population_size: 3, generations: 12, minibatch_size: 3 },
        evaluation: { seeds: range(0, 90), heldout_seeds: range(300, 50) },
      },
      budget: { max_rollouts: 5_000 },
      target_reward: 0.9,
      // What never gets a reward is soon another call's.
      rollout_timeout: 2,
    });
    const traffic = send(id, {
      urls: () => [on.service.url, other.url!],
      inFlight: 100,
      // One rule is all there is to find: what is tried here are the rewards.
      score: (prompt) => score(prompt, 0),
      // Some are late: their place may be taken by then.
      fate: (n) => ({
        after: n % 50 === 0 ? 2_500 : 400 + ((n * 137) % 1_200),
        never: n % 10 === 9,
        twice: n % 5 === 0,
      }),
    });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'target_reward' });
    expect(session.traffic).toEqual({ compared: 'unpaired', wanted: 0, claimed: 0 });
    const found = await resultsOf(on.service, id);
    expect(found).toMatchObject({
      verdict: 'better',
      comparison: { basis: 'heldout', seeds: 50 },
      stopped_by: 'target_reward',
    });
    expect(isRising(rewardsOf(found))).toBe(true);

    // Every rollout that the search counted is a call that was served that candidate, with the reward reported for it, once.
    const callOf = new Map(traffic.calls.map((call) => [call.rolloutId, call]));
    const rewardOf = new Map(traffic.rewards.map(({ correlationId, reward }) => [correlationId, reward]));
    const seen = new Set<string>();
    for (const { candidate_id: candidate, rollout_count: count } of session.candidates) {
      const { data } = await on.service.api.call<{ data: Evaluated[] }>(
        'GET',
        `${pathOf(id)}/candidates/${candidate}/seed-evals?limit=1000`,
      );
      expect([candidate, data.length]).toEqual([candidate, count]);
      for (const { rollout_id: rollout, reward, seed } of data) {
        const call = callOf.get(rollout);
        expect(call?.candidateId).toBe(candidate);
        expect([seed, reward]).toEqual([null, rewardOf.get(call!.correlationId)]);
        seen.add(rollout);
      }
    }
    expect(seen.size).toBe(session.progress.rollouts_completed);
    expect(seen.size).toBeLessThanOrEqual(5_000);
    expect(totalsOf(await judgeFrames(on.service.api, id, { live: true })).count).toBe(seen.size);

    // One signal a stage, not one a reward.
    const { events } = await on.service.workflow(id).fetchHistory();
    const signals = events!.filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
    const exchanges = events!.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'exchangeSlots',
    ).length;
    expect(signals).toBeGreaterThan(0);
    expect(signals).toBeLessThanOrEqual(exchanges);
    expect(exchanges).toBeLessThan(seen.size / 10);
  }, 300_000);

  test('a child that is no better is not taken', async () => {
    on.world.model.reply((request) =>
      request.body.model === 'proposer'
        ? { text: `\`\`\`\nAnswer well, variant ${request.n}.\n\`\`\`` }
        : { text: request.body.messages[0]!.content },
    );
    const id = await create({
      gepa: { population_size: 2, generations: 9, minibatch_size: 3, evaluation: { seeds: range(0, 20) } },
      patience: 2,
    });
    // A third of all calls, whoever serves them.
    const traffic = send(id, { score: (_, n) => ({ reward: n % 3 === 0 ? 1 : 0, feedback: `of ${n}` }), inFlight: 12 });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    on.world.model.reply(echo);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'patience' });
    expect(session.best_candidate?.candidate_id).toMatch(/_0$/);
    expect((await resultsOf(on.service, id)).verdict).toBe('not_significantly_better');
  }, 300_000);
});

describe('live traffic and MIPRO', () => {
  const instances = 24;
  afterEach(() => on.world.model.reply(echo));

  async function search(mipro: object, seed?: (n: number) => number) {
    on.world.model.reply((request) => guess(request, rules));
    const id = await create({ gepa: undefined, algorithm: 'mipro', mipro });
    const traffic = send(id, { ...(seed && { seed }), inFlight: 16 });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    expect(session).toMatchObject({ status: 'completed', error: null });
    const found = await resultsOf(on.service, id);
    expect(found.verdict).toBe('better');
    expect(isRising(rewardsOf(found))).toBe(true);
    await judgeFrames(on.service.api, id, { live: true });

    // What is shown was asked and answered in calls of its own traffic, and scored well.
    const rows = await on.service.query<{ demos: { ordinal: number; input: string; output: string }[] }>(
      `select demos from candidates where job_id = $1 and jsonb_array_length(demos) > 0`,
      [id],
    );
    const demos = rows.flatMap((row) => row.demos);
    expect(demos.length).toBeGreaterThan(0);
    const slots = await on.service.query<{ id: string; ordinal: number }>(
      'select id, ordinal from rollouts where job_id = $1 and ordinal is not null',
      [id],
    );
    const ordinalOf = new Map(slots.map((slot) => [slot.id, slot.ordinal]));
    const shown = callsShown(demos, traffic, score).map(({ rolloutId }) => ordinalOf.get(rolloutId));
    expect(shown).toEqual(demos.map(({ ordinal }) => ordinal));
    return { session, found };
  }

  test('by the seeds that calls name', async () => {
    const { session, found } = await search(
      {
        ...{ num_candidates: 4, num_trials: 10, minibatch_size: 4 },
        train_seeds: range(12, 12),
        evaluation: { seeds: range(0, 12) },
      },
      (n) => n % instances,
    );
    expect(session.traffic).toEqual({ compared: 'paired', wanted: 0, claimed: 0 });
    expect(found.history[0]!.best_reward).toBeCloseTo(1 / 3);
    expect(session.best_reward).toBeGreaterThan(0.8);
  }, 300_000);

  test('without', async () => {
    const { session, found } = await search({
      ...{ num_candidates: 4, num_trials: 10, minibatch_size: 8 },
      evaluation: { seeds: range(0, 30), heldout_seeds: range(100, 30) },
    });
    expect(session.traffic).toEqual({ compared: 'unpaired', wanted: 0, claimed: 0 });
    expect(found.comparison).toMatchObject({ basis: 'heldout', seeds: 30 });
    expect(session.best_candidate!.is_baseline).toBe(false);
  }, 300_000);
});

describe('control of live traffic', () => {
  test('paused it serves the best and counts what is under way; a reward with stop completes it with the best', async () => {
    const id = await create({ gepa: { population_size: 1, generations: 5, evaluation: { seeds: range(0, 6) } } });
    await until('slots are wanted', async () => (await read(id)).traffic?.wanted === 6);
    for (const name of ['a', 'b']) await call(id, name);
    expect((await read(id)).traffic).toEqual({ compared: 'unpaired', wanted: 6, claimed: 2 });
    await command(on.service, id, 'pause');
    await reward(id, { correlation_id: 'a', reward: 1 });
    await call(id, 'while-paused');
    expect((await read(id)).traffic).toEqual({ compared: 'unpaired', wanted: 5, claimed: 1 });
    await command(on.service, id, 'resume');
    for (const name of ['c', 'd', 'e', 'f']) await call(id, name);
    await command(on.service, id, 'pause');
    for (const name of ['b', 'c', 'd', 'e', 'f']) await reward(id, { correlation_id: name, reward: 0 });
    // The workflow is told of the last one while it is paused, and goes on when it is resumed.
    expect(await read(id)).toMatchObject({ traffic: { wanted: 0 }, best_reward: null });
    await command(on.service, id, 'resume');
    await until('the baseline is evaluated', async () => (await read(id)).best_reward !== null);

    const stopped = await reward(id, { reward: 1, correlation_id: 'none-of-them', stop: true });
    expect(stopped).toMatchObject({ status: 'completed' });
    const session = await read(id);
    expect(session).toMatchObject({ status: 'completed', traffic: { wanted: 0, claimed: 0 } });
    expect(session.best_reward).toBeCloseTo(1 / 6);
    expect(await judgeFrames(on.service.api, id, { live: true })).toMatchObject([
      { stage: 'baseline', sensors: { rollout: { count: 6 }, resource: { concurrency: null, latency_ms_max: null } } },
    ]);
    expect(await call(id, 'afterwards')).toBe(session.best_candidate!.candidate_id);
  }, 60_000);

  test('a reward whose word to the workflow was lost is told of by the reconciler', async () => {
    const id = await create({ gepa: { population_size: 1, generations: 5, evaluation: { seeds: [0] } } });
    await until('a slot is wanted', async () => (await read(id)).traffic?.wanted === 1);
    await call(id, 'only');
    // As an API that is killed after it has recorded the reward.
    await on.service.db.org('default', (tx) =>
      recordReward(
        tx,
        { orgId: 'default', jobId: id },
        { reward: 0.5, correlationId: 'only', rolloutId: null, candidateId: null, details: null, body: {} },
      ),
    );
    await until('the baseline is evaluated', async () => (await read(id)).best_reward === 0.5);
    await command(on.service, id, 'cancel');
    expect(await read(id)).toMatchObject({ status: 'cancelled' });
  }, 60_000);

  test('where nobody names a prompt, the baseline is what the calls carry', async () => {
    const id = await create({
      initial_prompt: undefined,
      gepa: { population_size: 1, generations: 2, evaluation: { seeds: [0, 1] } },
    });
    const traffic = send(id, { prompt: baseline, inFlight: 2, score: () => ({ reward: 1, feedback: 'fine' }) });
    expect(await ended<Session>(on.service, id, 240)).toMatchObject({
      status: 'completed',
      stopped_by: 'solved',
      best_reward: 1,
    });
    await traffic.stop();
    expect((await resultsOf(on.service, id)).best_prompt!.messages).toEqual([{ role: 'system', content: baseline }]);
  }, 60_000);
});
