import { afterEach, describe, expect, test } from '@jest/globals';
import { judgeFrames, totalsOf } from '../../support/frames.js';
import { ended, pathOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { isRising, liveServiceOfFile, rewardsOf, rules, score } from './live-service.js';
import { uselessText } from '../../support/worlds/asked.js';
import { callsShown, echo, guess } from '../../support/fakes/traffic.js';

// Caller-driven sessions: rollouts are live traffic through the proxy; rewards come by POST.

const { on, create, send } = liveServiceOfFile();

interface Evaluated {
  rollout_id: string;
  seed: number | null;
  reward: number;
}

describe('live traffic without instances', () => {
  test('succeeds with a hundred calls in flight at two replicas, and rewards in any order, twice, or never', async () => {
    const other = await on.service.another({ serve: true, work: false });
    const id = await create({
      gepa: {
        population_size: 3,
        generations: 12,
        minibatch_size: 3,
        evaluation: { seeds: range(0, 90), heldout_seeds: range(300, 50) },
      },
      budget: { max_rollouts: 5_000 },
      target_reward: 0.9,
      // A slot without a reward is soon reassigned.
      rollout_timeout: 2,
    });
    const traffic = send(id, {
      urls: () => [on.service.url, other.url!],
      inFlight: 100,
      // The search has one rule to find: the test is about rewards.
      score: (prompt) => score(prompt, 0),
      // Some are late: their slot may be reassigned by then.
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

    // Every counted rollout is a call served by that candidate, with its reported reward, once.
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

    // One signal for each stage, not for each reward.
    const { events } = await on.service.workflow(id).fetchHistory();
    const signals = events!.filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
    const exchanges = events!.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'drive',
    ).length;
    expect(signals).toBeGreaterThan(0);
    expect(signals).toBeLessThanOrEqual(exchanges);
    expect(exchanges).toBeLessThan(seen.size / 10);
  }, 300_000);

  test('does not accept a child that is not better', async () => {
    on.world.model.reply((request) =>
      request.body.model === 'proposer'
        ? { text: `\`\`\`\nAnswer well, variant ${request.n}.\n\`\`\`` }
        : { text: request.body.messages[0]!.content },
    );
    const id = await create({
      gepa: { population_size: 2, generations: 9, minibatch_size: 3, evaluation: { seeds: range(0, 20) } },
      patience: 2,
    });
    // A third of each candidate's calls, so that chance makes none better.
    const callsOf = new Map<string, number>();
    const traffic = send(id, {
      score(prompt, n) {
        const earlier = callsOf.get(prompt) ?? 0;
        callsOf.set(prompt, earlier + 1);
        return { reward: earlier % 3 === 0 ? 1 : 0, feedback: `of ${n}` };
      },
      inFlight: 12,
    });
    const session = await ended<Session>(on.service, id, 240);
    await traffic.stop();
    on.world.model.reply(echo);
    expect(session).toMatchObject({ status: 'completed', stopped_by: 'patience' });
    expect(session.best_candidate?.candidate_id).toMatch(/_0$/);
    expect((await resultsOf(on.service, id)).verdict).toBe('inconclusive');
  }, 300_000);
});

describe('live traffic and MIPRO', () => {
  const instances = 24;
  afterEach(() => on.world.model.reply(echo));

  async function search(mipro: object, traffic: Parameters<typeof send>[1]) {
    const id = await create({ gepa: undefined, algorithm: 'mipro', mipro });
    const sent = send(id, { ...traffic, inFlight: 16 });
    const session = await ended<Session>(on.service, id, 240);
    await sent.stop();
    expect(session).toMatchObject({ status: 'completed', error: null });
    const found = await resultsOf(on.service, id);
    expect(isRising(rewardsOf(found))).toBe(true);
    await judgeFrames(on.service.api, id, { live: true });
    return { id, session, found, traffic: sent };
  }

  const paired = {
    num_candidates: 4,
    num_trials: 10,
    minibatch_size: 4,
    train_seeds: range(12, 12),
    evaluation: { seeds: range(0, 12) },
  };
  const byInstance = { seed: (n: number) => n % instances };

  test('shows well scored calls of its own traffic as demonstrations, once texts bring nothing', async () => {
    on.world.model.reply((request) => {
      if (request.body.model !== 'proposer') return guess(request, rules);
      return { text: uselessText('Answer well.', request.body.messages) };
    });
    const { id, traffic } = await search({ ...paired, num_candidates: 1, num_trials: 14 }, byInstance);
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
  }, 300_000);

  test('searches by the seeds that calls name', async () => {
    on.world.model.reply((request) => guess(request, rules));
    const { session, found } = await search(paired, byInstance);
    expect(found.verdict).toBe('better');
    expect(session.traffic).toEqual({ compared: 'paired', wanted: 0, claimed: 0 });
    expect(found.history[0]!.best_reward).toBeCloseTo(1 / 3);
    expect(session.best_reward).toBeGreaterThan(0.8);
  }, 300_000);

  test('searches without seeds', async () => {
    const mipro = {
      num_candidates: 4,
      num_trials: 24,
      minibatch_size: 8,
      evaluation: { seeds: range(0, 30), heldout_seeds: range(100, 30) },
    };
    // One rule is to be found.
    const { session, found } = await search(mipro, { score: (prompt) => score(prompt, 0) });
    expect(found.verdict).toBe('better');
    expect(session.traffic).toEqual({ compared: 'unpaired', wanted: 0, claimed: 0 });
    expect(found.comparison).toMatchObject({ basis: 'heldout', seeds: 30 });
    expect(session.best_candidate!.is_baseline).toBe(false);
  }, 300_000);
});
