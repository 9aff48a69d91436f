import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { gepaLimits } from '../../src/core/gepa/config.js';
import { answers, startFakeContainer } from '../support/fake-container.js';
import { baseline, propose, startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

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
afterEach(() => {
  world.model.reply((request) => ({ text: propose(request) }));
  world.container.behave((call) => {
    const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
    return answers.reward(world.score(prompt, call.seed), `needs rule-${call.seed % world.rules}.`);
  });
});

interface State {
  status: string;
  error: string | null;
  error_details: { code: string } | null;
  stopped_by: string | null;
  best_reward: number | null;
  best_candidate: { candidate_id: string } | null;
  progress: { generation: number; total_generations: number; best_reward: number | null; rollouts_completed: number };
  candidates: {
    candidate_id: string;
    parent_ids: string[];
    generation: number;
    status: string;
    reward: number | null;
    avg_reward: number | null;
    rollout_count: number;
    is_baseline: boolean;
    lever_version: number;
  }[];
  usage: { total_tokens: number; total_cost_usd: number | null };
}
interface Results {
  best_reward: number;
  best_prompt: { messages: { role: string; content: string }[]; reward: number } | null;
  history: { generation: number; best_reward: number }[];
}
interface Event {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

const range = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const sessions = '/api/v1/online/sessions';

async function create(more: Record<string, unknown> = {}, gepa: Record<string, unknown> = {}): Promise<string> {
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', sessions, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: world.container.url,
      policy: { provider: 'fake', model: 'any' },
      gepa: {
        population_size: 2,
        generations: 6,
        minibatch_size: 3,
        train_seeds: range(100, 40),
        evaluation: { seeds: range(0, 12) },
        ...gepa,
      },
      ...more,
    },
  });
  return id;
}
const state = (id: string) => service.api.call<State>('GET', `${sessions}/${id}`);
const results = (id: string) => service.api.call<Results>('GET', `${sessions}/${id}/results`);
const events = async (id: string) =>
  (await service.api.call<{ events: Event[] }>('GET', `${sessions}/${id}/events?since_seq=0&limit=1000`)).events;
const ended = (id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const seen = await state(id);
      return ['completed', 'failed', 'cancelled'].includes(seen.status) && seen;
    },
    60,
  );

describe('a GEPA session', () => {
  test('finds the prompt with all rules, and everything it says about itself adds up', async () => {
    const id = await create();
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: 'completed', error: null, stopped_by: 'solved', best_reward: 1 });
    const { best_prompt: best, history } = await results(id);
    for (let rule = 0; rule < world.rules; rule += 1) expect(best!.messages[0]!.content).toContain(`rule-${rule}.`);
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
    const mine = world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
    expect(seen.progress.rollouts_completed).toBe(mine.length);
    expect(new Set(mine.map((entry) => entry.rolloutId)).size).toBe(mine.length);
    expect(Math.max(...mine.map((entry) => entry.concurrency))).toBeLessThanOrEqual(5);
  });

  test('its events are 1..N, one for each decision, and end with job_complete', async () => {
    const id = await create();
    const seen = await ended(id);
    const all = await events(id);
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
    const run = async (rngSeed: number, behave?: () => void) => {
      behave?.();
      const id = await create({ rng_seed: rngSeed, max_concurrent: 1 + (rngSeed % 3) * 4 });
      const { candidates } = await ended(id);
      const shape = candidates.map(({ lever_version, generation, status, reward, parent_ids }) => ({
        lever_version,
        generation,
        status,
        reward,
        parents: parent_ids.map((parent) => parent.split('_').at(-1)),
      }));
      const prompts = await service.db.org('default', (tx) =>
        tx.query('select lever_version, messages from candidates where job_id = $1 order by lever_version', [id]),
      );
      return { shape, prompts, history: (await results(id)).history };
    };
    const first = await run(0);
    // The second time every answer takes its own time; the path must not depend on it.
    world.container.behave((call) =>
      answers.after(
        (call.seed * 7) % 13,
        answers.reward(
          world.score(call.body.policy.config.prompt_template?.sections[0]?.content ?? '', call.seed),
          `needs rule-${call.seed % world.rules}.`,
        ),
      ),
    );
    expect(await run(0)).toEqual(first);
    expect(await run(5)).not.toEqual(first);
  });

  test.each([40, 55, 71])('never goes over budget.max_rollouts = %i', async (maxRollouts) => {
    // There is always something left to learn.
    world.container.behave((call) => {
      const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
      return answers.reward(0.9 * world.score(prompt, call.seed), `needs rule-${call.seed % world.rules}.`);
    });
    const id = await create({ budget: { max_rollouts: maxRollouts } }, { generations: 40 });
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: 'completed', stopped_by: 'max_rollouts' });
    const mine = world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
    expect(mine.length).toBeLessThanOrEqual(maxRollouts);
    // A proposal takes six, and what is reserved for the evaluation of a winner is spent only where there is one.
    expect(mine.length).toBeGreaterThan(maxRollouts - 6 - 12);
  });

  test('takes the baseline from initial_prompt, before the container’s own', async () => {
    const id = await create(
      { initial_prompt: { messages: [{ role: 'system', content: 'Mine. rule-0.' }] } },
      { generations: 1 },
    );
    const seen = await ended(id);
    expect(seen.candidates[0]!.reward).toBe(0.25);
    const prompt = await service.api.call<{ messages: { content: string }[] }>(
      'GET',
      `${sessions}/${id}/prompt?correlation_id=rol_${id.slice(4)}_0`,
    );
    expect(prompt.messages).toEqual([{ role: 'system', content: 'Mine. rule-0.' }]);
  });

  test('or from the system message that the baseline’s calls carry; fails when they differ', async () => {
    let system: (seed: number) => string = () => 'From the container’s own code.';
    const box = await startFakeContainer({
      behave: (call) =>
        answers.askModel(
          () => ({ system: system(call.seed), user: 'hello' }),
          () => ({ reward: 0.5, feedback: 'meh' }),
        ),
    });
    world.model.reply((request) => ({
      text: JSON.stringify(request.body.messages).includes('```') ? propose(request) : 'hi',
    }));
    const first = await create({ container_url: box.url }, { generations: 1, evaluation: { seeds: [0, 1, 2] } });
    expect(await ended(first)).toMatchObject({ status: 'completed' });
    const [row] = await service.db.org('default', (tx) =>
      tx.query('select messages from candidates where job_id = $1 and lever_version = 0', [first]),
    );
    expect(row).toEqual({ messages: [{ role: 'system', content: 'From the container’s own code.' }] });

    system = (seed) => `Another for each seed: ${seed}`;
    const second = await create({ container_url: box.url }, { generations: 1, evaluation: { seeds: [0, 1, 2] } });
    const seen = await ended(second);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'initial_prompt_needed' } });
    expect(seen.error).toContain('initial_prompt');
    await box.close();
  });

  test('rollouts get their candidate’s system message through the proxy; other calls get the best so far', async () => {
    const seenSystems = new Map<string, string>();
    const box = await startFakeContainer({
      prompt: [{ role: 'system', content: baseline }],
      behave: () =>
        answers.askModel(
          () => ({ system: 'whatever the container has', user: 'hello' }),
          (text, call) => {
            seenSystems.set(call.rolloutId, text);
            return { reward: world.score(text, call.seed), feedback: `needs rule-${call.seed % world.rules}.` };
          },
        ),
    });
    // The model says back which system message it was given.
    world.model.reply((request) => ({
      text: request.body.messages[0]!.role === 'system' ? request.body.messages[0]!.content : propose(request),
    }));
    const id = await create({ container_url: box.url });
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const rows = await service.db.org('default', (tx) =>
      tx.query<{ id: string; system: string }>(
        `select r.id, c.messages->0->>'content' as system from rollouts r join candidates c on c.id = r.candidate_id where r.job_id = $1`,
        [id],
      ),
    );
    for (const row of rows) expect(seenSystems.get(row.id)).toBe(row.system);

    const best = (await results(id)).best_prompt!.messages[0]!.content;
    const ask = (path: string) =>
      fetch(`${service.url}/api/gepa/v1/${id}${path}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
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
    const after = await state(id);
    expect(after.usage.total_tokens).toBeGreaterThan(seen.usage.total_tokens);
    expect(after.progress.rollouts_completed).toBe(seen.progress.rollouts_completed);

    const trace = await service.api.call<{ calls: unknown[] }>('GET', `${sessions}/${id}/traces/rol_${id.slice(4)}_0`);
    expect(JSON.stringify(trace)).toContain('hello');
    await box.close();
  });

  test('a proposer that never works fails the session with the reason; the baseline is kept', async () => {
    world.model.reply(() => ({ text: 'I would rather not.' }));
    const id = await create();
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'proposer_failed' }, best_reward: 0 });
    expect((await results(id)).best_prompt!.messages).toEqual([{ role: 'system', content: baseline }]);
    expect((await events(id)).slice(-2).map((event) => event.type)).toEqual(['error', 'job_failed']);
  });

  test('what is read of each candidate is what its rollouts say: paused within a batch, and at the end', async () => {
    const id = await create({ max_concurrent: 2 });
    await until('some have ended', async () => (await state(id)).candidates.some((one) => one.rollout_count > 3));
    await service.api.call('POST', `${sessions}/${id}/pause`);
    const truth = () =>
      service.db.org('default', (tx) =>
        tx.query(
          `select c.id as candidate_id, count(r.id) as rollout_count, avg(r.reward) as avg_reward
             from candidates c left join rollouts r on r.candidate_id = c.id and r.status in ('succeeded', 'failed')
            where c.job_id = $1 group by c.id, c.lever_version order by c.lever_version`,
          [id],
        ),
      );
    const seen = async () =>
      (await state(id)).candidates.map(({ candidate_id, rollout_count, avg_reward }) => {
        return { candidate_id, rollout_count, avg_reward };
      });
    await until('it rests', async () => {
      const { raw } = await service.temporal.workflow.getHandle(`session-${id}`).describe();
      return (raw.pendingActivities ?? []).length === 0;
    });
    expect(await seen()).toEqual(await truth());
    await service.api.call('POST', `${sessions}/${id}/resume`);
    await ended(id);
    expect(await seen()).toEqual(await truth());
    const [left] = await service.db.org('default', (tx) =>
      tx.query(
        `select count(*) as n from rollouts r join jobs j on j.id = r.job_id where j.id = $1 and r.ordinal >= j.rollouts_counted`,
        [id],
      ),
    );
    expect(left).toEqual({ n: 0 });
  });

  test('why a proposal failed is told in one short line, whatever the provider said', async () => {
    world.model.reply(() => ({ status: 400, raw: 'no\n\u0007'.repeat(5_000) }));
    const id = await create();
    await ended(id);
    const failures = (await events(id)).filter((event) => event.type === 'proposal_failed');
    expect(failures.length).toBeGreaterThan(0);
    for (const { data } of failures) {
      const { reason } = data as { reason: string };
      expect(reason).toMatch(/answered the proposer with 400: no no /);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(gepaLimits.reasonBytes);
    }
  });

  test('a proposer that answers at the second try is asked twice, and both answers are recorded', async () => {
    const before = world.model.requests.length;
    world.model.reply((request) => ({
      text: world.model.requests.length - before === 1 ? '```\nnot closed' : propose(request),
    }));
    const id = await create({}, { generations: 1, population_size: 1 });
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(world.model.requests.length - before).toBe(2);
    const calls = await service.db.org('default', (tx) =>
      tx.query(`select occurrence from model_calls where job_id = $1 and purpose = 'proposer' order by occurrence`, [
        id,
      ]),
    );
    expect(calls).toEqual([{ occurrence: 0 }, { occurrence: 1 }]);
  });

  test('a failed rollout counts as reward 0; one that was the infrastructure’s fault is asked for again, at most twice', async () => {
    const broken = new Map<number, number>();
    const box = await startFakeContainer({
      prompt: [{ role: 'system', content: baseline }],
      behave: (call) => {
        if (call.seed === 1) return answers.raw('{}');
        if (call.seed !== 2) return answers.reward(1);
        broken.set(call.seed, (broken.get(call.seed) ?? 0) + 1);
        return answers.reset();
      },
    });
    const id = await create(
      { container_url: box.url, max_failure_rate: 1 },
      { generations: 1, evaluation: { seeds: [0, 1, 2, 3] }, train_seeds: [0] },
    );
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 0.5 });
    const asked = new Set(box.ledger.filter((entry) => entry.seed === 2).map((entry) => entry.rolloutId));
    expect(asked.size).toBe(3);
    expect(new Set(box.ledger.filter((entry) => entry.seed === 1).map((entry) => entry.rolloutId)).size).toBe(1);
    await box.close();
  });

  test('stop: true with a reward completes it with the best so far', async () => {
    world.container.behave(() => answers.hang());
    const id = await create();
    await until('it runs', () => world.container.ledger.some((entry) => entry.rolloutId.includes(id.slice(4))));
    await service.api.call('POST', `${sessions}/${id}/reward`, { reward_info: { score: 1 }, stop: true });
    expect(await ended(id)).toMatchObject({ status: 'completed', stopped_by: 'reward_stop' });
  });

  test('a graceful restart in the middle loses nothing and runs nothing twice', async () => {
    world.container.behave((call) =>
      answers.after(
        20,
        answers.reward(
          world.score(call.body.policy.config.prompt_template?.sections[0]?.content ?? '', call.seed),
          `needs rule-${call.seed % world.rules}.`,
        ),
      ),
    );
    const id = await create();
    await until('some are recorded', async () => (await state(id)).progress.rollouts_completed > 15);
    await service.restart();
    expect(await ended(id)).toMatchObject({ status: 'completed', best_reward: 1 });
    const mine = world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
    expect(new Set(mine.map((entry) => entry.rolloutId)).size).toBe(mine.length);
  });
});
