import { afterAll, expect, test } from '@jest/globals';
import { judgeFrames } from '../support/frames.js';
import { gate } from '../support/gate.js';
import { createSession, pathOf, readJob, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { startModelWorld } from '../support/worlds/model.js';
import { propose } from '../support/worlds/rules.js';
import { callsShown, echo, guess, numberOf, startTraffic, type Traffic } from '../support/fakes/traffic.js';
import { until } from '../support/until.js';
import { SeededChoice } from '../harness/seeded-choice.js';
import { treeOfFile } from '../harness/worlds/processes.js';

// Live traffic of GEPA and MIPRO sessions across kill -9 of the whole `npm start` tree, at seeded
// moments and while MIPRO waits for a text. By the callers' records: a correlation id keeps its
// candidate, a reward answered with 200 is never lost and counts once, and the search ends as
// without a kill.

const seed = 20_261_122;
const kills = 3;

const running: Traffic[] = [];
/** Number of texts requested by MIPRO sessions, and the gate that holds them. */
let asked = 0;
const pen = gate();

const on = treeOfFile(async () => {
  const world = await startModelWorld();
  world.model.reply(async (request) => {
    const rules = /^guesses (\d+)$/.exec(request.body.model)?.[1];
    if (rules !== undefined) return guess(request, Number(rules));
    if (request.body.model !== 'writer') return echo(request);
    asked += 1;
    await pen.opened;
    return { text: propose(request) };
  });
  return world;
});
afterAll(() => Promise.all(running.map((traffic) => traffic.stop())), 60_000);

const gepa = { population_size: 2, generations: 12, minibatch_size: 3 };
const mipro = { num_candidates: 4, num_trials: 20 };

/**
 * Sessions of both algorithms, with and without named instances; n needs the rule n mod `rules`.
 */
const kinds = [
  { instances: 4, rules: 4, target: 0.7, search: { gepa: { ...gepa, evaluation: { seeds: range(0, 4) } } } },
  { instances: null, rules: 2, target: 0.9, search: { gepa: { ...gepa, evaluation: { seeds: range(0, 20) } } } },
  {
    instances: 24,
    rules: 4,
    target: 0.9,
    search: { mipro: { ...mipro, minibatch_size: 4, train_seeds: range(12, 12), evaluation: { seeds: range(0, 12) } } },
  },
  {
    instances: null,
    rules: 2,
    target: 0.9,
    search: { mipro: { ...mipro, num_trials: 60, minibatch_size: 8, evaluation: { seeds: range(0, 90) } } },
  },
];

const scoreBy = (rules: number) => (prompt: string, n: number) => ({
  reward: prompt.includes(`rule-${n % rules}.`) ? 1 : 0,
  feedback: `needs rule-${n % rules}.`,
});

const create = ({ rules, search, target }: (typeof kinds)[number]) =>
  createSession(on.tree, {
    ...search,
    algorithm: Object.keys(search)[0],
    rollouts: 'caller',
    policy: { provider: 'fake', model: 'mipro' in search ? `guesses ${rules}` : 'live' },
    proposer: { provider: 'fake', model: 'mipro' in search ? 'writer' : 'proposer' },
    preflight: false,
    initial_prompt: { messages: [{ role: 'system', content: 'Answer well.' }] },
    // Reassign slots soon that a kill left without a reward.
    rollout_timeout: 1,
    target_reward: target,
  });

const read = (id: string) => readJob<Session>(on.tree, id);

interface Evaluated {
  rollout_id: string;
  reward: number;
  status: string;
}

/** Compares the callers' records with the service's. */
async function judge(id: string, traffic: Traffic, { target, rules, search }: (typeof kinds)[number]): Promise<void> {
  const session = await read(id);
  expect(session).toMatchObject({ status: 'completed' });
  expect(session.best_reward).toBeGreaterThanOrEqual(target);

  const callOf = new Map(traffic.calls.map((call) => [call.rolloutId, call]));
  const rewardOf = new Map(traffic.rewards.map((reward) => [reward.correlationId, reward]));
  let counted = 0;
  for (const { candidate_id: candidate, rollout_count: count } of session.candidates) {
    const { data } = await on.tree.api.call<{ data: Evaluated[] }>(
      'GET',
      `${pathOf(id)}/candidates/${candidate}/seed-evals?limit=1000`,
    );
    const ended = data.filter(({ status }) => status === 'succeeded');
    expect([candidate, ended.length]).toEqual([candidate, count]);
    counted += ended.length;
    for (const { rollout_id: rollout, reward } of ended) {
      const call = callOf.get(rollout);
      // A kill can take the answer to a claim; the next try then gets the same rollout.
      expect(call).toMatchObject({ candidateId: candidate });
      expect(rewardOf.get(call!.correlationId)?.reward).toBe(reward);
    }
  }
  expect(counted).toBe(session.progress.rollouts_completed);
  await judgeFrames(on.tree.api, id, { live: true });
  const conflicts = traffic.rewards.filter(({ status }) => status !== 200 && status !== 409);
  expect(conflicts).toEqual([]);
  if ('mipro' in search) await judgeDemos(id, traffic, rules);
}

/** Demonstrations are well scored calls of the session's own traffic. */
async function judgeDemos(id: string, traffic: Traffic, rules: number): Promise<void> {
  const levers = await on.tree.api.call<{ data: { lever_id: string; component: string | null }[] }>(
    'GET',
    `${pathOf(id)}/levers`,
  );
  const lever = levers.data.find(({ component }) => component === '_demos')!;
  const path = `${pathOf(id)}/levers/${lever.lever_id}/versions`;
  const { data } = await on.tree.api.call<{ data: { version: number }[] }>('GET', path);
  expect(data.length).toBeGreaterThan(0);
  for (const { version } of data) {
    const { messages } = await on.tree.api.call<{ messages: { content: string }[] }>('GET', `${path}/${version}`);
    const demos = range(0, messages.length / 2).map((pair) => {
      return { input: messages[2 * pair]!.content, output: messages[2 * pair + 1]!.content };
    });
    callsShown(demos, traffic, scoreBy(rules));
  }
}

test('a correlation id keeps its candidate, and no reward is lost or counted twice', async () => {
  const ids = await Promise.all(kinds.map(create));
  const traffics = kinds.map(({ instances, rules }, index) =>
    startTraffic({
      urls: () => [on.tree.url],
      apiKey: on.tree.apiKey,
      sessionId: ids[index]!,
      inFlight: 6,
      score: scoreBy(rules),
      ...(instances && { seed: (n) => n % instances }),
      fate: (n) => ({ after: n % 5 === 0 ? 200 : 0, never: n % 11 === 10, twice: n % 7 === 3 }),
    }),
  );
  running.push(...traffics);
  const rewarded = () => traffics.reduce((sum, { rewards }) => sum + rewards.length, 0);
  const isOver = async () => {
    return (await Promise.all(ids.map(read))).every(({ status }) => status !== 'running');
  };
  const areTried = async () =>
    (await Promise.all(ids.map(read))).every(({ status, candidates }) => status !== 'running' || candidates.length > 1);
  const choice = new SeededChoice(seed);
  for (let kill = 0; kill < kills; kill += 1) {
    const more = choice.between(0, 59);
    if (kill === 1) {
      await until('MIPRO waits for a text', () => asked > 0, 60);
    } else {
      if (kill === 2) await until('each has candidates of its own, or is over', areTried, 60);
      const at = rewarded() + 20 + more;
      await until(`${at} rewards are reported`, async () => rewarded() >= at || (await isOver()), 60);
    }
    await on.tree.kill();
    if (kill === 1) pen.open();
    await on.tree.start();
    // Correlation ids with an earlier answer keep their candidate.
    for (const [i, { calls }] of traffics.entries()) {
      const last = calls.at(-1)!;
      const { correlationId, candidateId, rolloutId } = last;
      const response = await fetch(`${on.tree.url}/api/gepa/v1/${ids[i]}/${correlationId}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${on.tree.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: `question ${numberOf(last)}` }] }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gepa-candidate-id')).toBe(candidateId);
      expect(response.headers.get('x-gepa-rollout-id')).toBe(rolloutId);
    }
  }
  await until('all sessions are over', isOver, 120);
  await Promise.all(traffics.map((traffic) => traffic.stop()));
  for (const [i, id] of ids.entries()) await judge(id, traffics[i]!, kinds[i]!);
}, 360_000);
