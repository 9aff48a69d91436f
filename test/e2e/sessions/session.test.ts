import { describe, expect, test } from '@jest/globals';
import { eventsOfType } from '../../support/events.js';
import type { EventType } from '../../../src/contracts/events/schema.js';
import { answers } from '../../support/fakes/container.js';
import { command, ended, eventsOf, pathOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { baseline, propose } from '../../support/worlds/rules.js';
import { rulesServiceOfFile } from './rules-service.js';
import { until } from '../../support/until.js';

const { on, create, container, read } = rulesServiceOfFile();

describe('a GEPA session', () => {
  test('finds the prompt with all rules, and its own report is consistent', async () => {
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

  test('has events 1..N, one for each decision, with job_complete last', async () => {
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    const all = await eventsOf(on.service, id);
    expect(all.map((event) => event.seq)).toEqual(range(1, all.length));
    const of = <Type extends EventType>(type: Type) => eventsOfType(all, type);
    expect(all[0]!.type).toBe('session_started');
    expect(all.at(-1)).toMatchObject({ type: 'job_complete', data: { best_reward: seen.best_reward } });
    expect(of('rollout_completed')).toHaveLength(seen.progress.rollouts_completed);
    expect(of('candidate_proposed')).toHaveLength(seen.candidates.length - 1);
    expect(of('generation_complete').map((event) => event.data.generation)).toEqual(
      range(0, of('generation_complete').length),
    );
    const evaluated = seen.candidates
      .filter((candidate) => candidate.status === 'evaluated')
      .map((candidate) => candidate.candidate_id);
    expect(
      of('evaluation_complete')
        .map((event) => event.data.candidate_id)
        .sort(),
    ).toEqual([...evaluated].sort());
    expect(of('evaluation_complete')[0]!.data).toMatchObject({ generation: 0, reward: 0, seeds_evaluated: 12 });

    // A decision comes before its consequences.
    for (const [at, { type, data }] of all.entries()) {
      if (type !== 'rollout_completed') continue;
      const before = all.slice(0, at);
      const { generation, candidate_id: candidate, stage } = data;
      if (generation > 0) {
        const complete = eventsOfType(before, 'generation_complete').map((event) => event.data.generation);
        expect(complete).toContain(generation - 1);
      }
      if (stage === 'gate') {
        const proposed = eventsOfType(before, 'candidate_proposed').map((event) => event.data.candidate_id);
        expect(proposed).toContain(candidate);
      }
    }
  });

  test('prefers initial_prompt over the container’s own prompt', async () => {
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

  test('gives rollouts their candidate’s system message through the proxy, and other calls the best', async () => {
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
    // The model answers with its system message.
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
    expect(after.usage.total_tokens).toBeGreaterThan(seen.usage.total_tokens!);
    expect(after.progress.rollouts_completed).toBe(seen.progress.rollouts_completed);

    const trace = await on.service.api.call<{ calls: unknown[] }>('GET', `${pathOf(id)}/traces/rol_${id.slice(4)}_0`);
    expect(JSON.stringify(trace)).toContain('hello');
  });

  test('fails with the reason when the proposer never works, and keeps the baseline', async () => {
    on.world.model.reply(() => ({ text: 'I would rather not.' }));
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'failed', error_details: { code: 'proposer_failed' }, best_reward: 0 });
    expect((await resultsOf(on.service, id)).best_prompt!.messages).toEqual([{ role: 'system', content: baseline }]);
    expect((await eventsOf(on.service, id)).slice(-2).map((event) => event.type)).toEqual(['error', 'job_failed']);
  });

  test('completes with its best after a reward with stop: true', async () => {
    on.world.container.behave(() => answers.hang());
    const id = await create();
    await until('it runs', () => on.world.container.callsOf(id).length > 0);
    await command(on.service, id, 'reward', { reward_info: { score: 1 }, stop: true });
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', stopped_by: 'reward_stop' });
  });

  test('loses nothing and repeats nothing over a graceful restart', async () => {
    on.world.container.behave((call) => answers.after(20, on.world.answer(call)));
    const id = await create();
    await until('some are recorded', async () => (await read(id)).progress.rollouts_completed > 15);
    await on.service.restart();
    expect(await ended(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
    const mine = on.world.container.callsOf(id);
    expect(new Set(mine.map((entry) => entry.rolloutId)).size).toBe(mine.length);
  });
});
