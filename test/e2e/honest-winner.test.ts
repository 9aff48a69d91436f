import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { answers, type ReceivedRollout } from '../support/fake-container.js';
import { startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// What a session says of its winner: measured on seeds that the search never saw, with an interval, and how noisy it is.

let service: TestService;
let world: RulesWorld;
beforeAll(async () => {
  world = await startRulesWorld();
  service = await startTestService(world.env);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);
afterEach(() => world.container.behave((call) => answers.reward(scoreOf(call), feedbackOf(call))));

const promptOf = (call: ReceivedRollout) => call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
const scoreOf = (call: ReceivedRollout) => world.score(promptOf(call), call.seed);
const feedbackOf = (call: ReceivedRollout) => `needs rule-${call.seed % world.rules}.`;
const range = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const sessions = '/api/v1/online/sessions';
const heldout = range(500, 12);

interface State {
  status: string;
  stopped_by: string | null;
  best_reward: number;
  best_candidate: { candidate_id: string };
  estimated_reward: number | null;
  estimated_reward_interval: { low: number; high: number } | null;
  estimated_candidate_id: string | null;
}
interface Results {
  verdict: string | null;
  comparison: {
    basis: string;
    seeds: number;
    baseline_reward: number;
    winner_reward: number;
    difference: number;
    interval: { low: number; high: number };
  } | null;
  noise_floor: { rollout_sd: number; comparisons: number; reward_se: number } | null;
  history: { generation: number; best_reward: number }[];
}

async function create(evaluation: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<string> {
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', sessions, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy: { provider: 'fake', model: 'any' },
      gepa: {
        population_size: 2,
        generations: 8,
        train_seeds: range(100, 40),
        evaluation: { seeds: range(0, 12), ...evaluation },
      },
      ...more,
    },
  });
  return id;
}
const ended = (id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const seen = await service.api.call<State>('GET', `${sessions}/${id}`);
      return ['completed', 'failed', 'cancelled'].includes(seen.status) && seen;
    },
    60,
  );
const results = (id: string) => service.api.call<Results>('GET', `${sessions}/${id}/results`);
const ledgerOf = (id: string) => world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));

describe('a session with heldout_seeds', () => {
  test('compares baseline and winner on them when all is decided, and never before', async () => {
    const id = await create({ heldout_seeds: heldout });
    const seen = await ended(id);
    const { verdict, comparison } = await results(id);
    expect(verdict).toBe('better');
    expect(comparison).toMatchObject({ basis: 'heldout', seeds: 12, baseline_reward: 0, winner_reward: 1 });
    expect(comparison!.interval.low).toBeGreaterThan(0);
    const ledger = ledgerOf(id);
    const onHeldout = ledger.filter((entry) => heldout.includes(entry.seed));
    expect(onHeldout).toHaveLength(24);
    expect(ledger.slice(-24)).toEqual(onHeldout);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
  });

  test('says where the winner is not better there than by chance', async () => {
    // What the search sees it can learn; on the held-out seeds nothing helps, and nothing hurts.
    world.container.behave((call) =>
      answers.reward(heldout.includes(call.seed) ? (call.seed % 2) / 2 : scoreOf(call), feedbackOf(call)),
    );
    const id = await create({ heldout_seeds: heldout });
    expect(await ended(id)).toMatchObject({ best_reward: 1 });
    const { verdict, comparison } = await results(id);
    expect(verdict).toBe('not_significantly_better');
    expect(comparison).toMatchObject({ basis: 'heldout', difference: 0 });
  });

  test('says where it is worse', async () => {
    world.container.behave((call) => {
      const isWinner = promptOf(call).includes('rule-');
      return answers.reward(heldout.includes(call.seed) ? (isWinner ? 0.1 : 0.6) : scoreOf(call), feedbackOf(call));
    });
    const id = await create({ heldout_seeds: heldout });
    await ended(id);
    expect((await results(id)).verdict).toBe('worse');
  });

  test('refuses seeds that the search sees', async () => {
    await expect(create({ heldout_seeds: [5, 500] })).rejects.toThrow(/heldout_seeds.*5 is among the others/s);
  });
});

describe('a session', () => {
  test('without held-out seeds says that its comparison is on the seeds it chose by', async () => {
    const id = await create({});
    await ended(id);
    expect((await results(id)).comparison).toMatchObject({ basis: 'evaluation', seeds: 12, winner_reward: 1 });
  });

  test('shows what it expects of its most promising candidate, and at the end that is what was measured', async () => {
    const { estimated_reward: reward, ...seen } = await ended(await create({}));
    expect(reward).toBe(seen.best_reward);
    expect(seen.estimated_candidate_id).toBe(seen.best_candidate.candidate_id);
    expect(seen.estimated_reward_interval).toEqual({ low: reward, high: reward });
  });

  test('runs each evaluation seed repeats times, and says how far equal rollouts lie apart', async () => {
    const times = new Map<string, number>();
    world.container.behave((call) => {
      const key = `${promptOf(call)} ${call.seed}`;
      const nth = times.get(key) ?? 0;
      times.set(key, nth + 1);
      return answers.reward(0.9 * scoreOf(call) + (nth % 2 ? 0.1 : 0), feedbackOf(call));
    });
    const id = await create({ repeats: 2 });
    const seen = await ended(id);
    const evaluations = await service.db.org('default', (tx) =>
      tx.query<{ candidate: string; n: number; seeds: number }>(
        `select candidate_id as candidate, count(*)::int as n, count(distinct seed)::int as seeds
           from rollouts where job_id = $1 and stage in ('baseline', 'evaluation') group by 1`,
        [id],
      ),
    );
    expect(evaluations.length).toBeGreaterThan(1);
    for (const { n, seeds } of evaluations) expect([n, seeds]).toEqual([24, 12]);
    const { noise_floor: noise } = await results(id);
    // Pairs that lie 0.1 apart have a standard deviation of 0.07; a third rollout of a few makes it a little less.
    expect(noise!.rollout_sd).toBeGreaterThan(0.05);
    expect(noise!.rollout_sd).toBeLessThan(0.08);
    expect(noise!.reward_se).toBeCloseTo(noise!.rollout_sd / Math.sqrt(24), 10);
    expect(seen.best_reward).toBeGreaterThan(0.5);
  });

  test('ends when target_reward is reached, and after patience generations without an accepted proposal', async () => {
    const early = await ended(await create({}, { target_reward: 0.5 }));
    expect(early).toMatchObject({ status: 'completed', stopped_by: 'target_reward' });
    expect(early.best_reward).toBeGreaterThanOrEqual(0.5);

    world.container.behave((call) => answers.reward(0.5, `needs rule-${call.seed % world.rules}.`));
    const idle = await create({}, { patience: 3 });
    expect(await ended(idle)).toMatchObject({ status: 'completed', stopped_by: 'patience', best_reward: 0.5 });
    const { history } = await results(idle);
    expect(history).toHaveLength(4);
    expect((await results(idle)).verdict).toBe('not_significantly_better');
  });
});
