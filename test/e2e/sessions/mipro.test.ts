import { describe, expect, test } from '@jest/globals';
import { startDemosWorld, wordOf } from '../../support/worlds/demos.js';
import { createSession, ended, eventsOf, pathOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';

const on = serviceOfFile(() => startDemosWorld({ labeled: true, topics: 12 }));

const create = (mipro: object = {}, more: object = {}) =>
  createSession(on.service, {
    ...on.world.job,
    algorithm: 'mipro',
    mipro: {
      num_candidates: 8,
      num_trials: 25,
      minibatch_size: 6,
      train_seeds: range(100, 24),
      evaluation: { seeds: range(0, 18) },
      ...mipro,
    },
    ...more,
  });

interface Pareto {
  seeds: { seed: number; best_reward: number }[];
  front: { candidate_id: string; reward: number }[];
  weighed: {
    candidate_id: string;
    reward: number;
    tokens: number | null;
    calls: number;
    latency_ms: number | null;
    prompt_tokens: number;
  }[];
}

const read = <T>(path: string) => on.service.api.call<T>('GET', path);

describe('a MIPRO session', () => {
  test('finds demonstrations and instructions, and its own report is consistent', async () => {
    const id = await create();
    const seen = await ended<Session>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', error: null, algorithm: 'mipro' });
    const { best_prompt: best, history, verdict } = await resultsOf(on.service, id);
    expect(history[0]).toMatchObject({ generation: 0, best_reward: 0.5 });
    expect(best!.reward).toBeGreaterThan(0.9);
    expect(verdict).toBe('better');
    expect(history.map((entry) => entry.best_reward)).toEqual([...history.map((entry) => entry.best_reward)].sort());
    expect(seen.progress.rollouts_completed).toBe(on.world.container.callsOf(id).length);

    // Demonstrations are complete pairs of question and answer, after the instruction.
    const [system, ...demos] = best!.messages;
    expect(system!.role).toBe('system');
    expect(demos.length).toBeGreaterThan(0);
    for (const [index, { role, content }] of demos.entries()) {
      expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant');
      const topic = Number(/topic-(\d+)/.exec(demos[index - (index % 2)]!.content)![1]);
      if (role === 'assistant') expect(content).toBe(wordOf(topic));
    }

    const { seeds, front, weighed } = await read<Pareto>(`${pathOf(id)}/pareto`);
    expect(seeds.map(({ seed }) => seed)).toEqual(range(0, 18));
    const evaluated = new Map(seen.candidates.map(({ candidate_id: candidate, reward }) => [candidate, reward]));
    for (const { candidate_id: candidate, reward } of front) expect(reward).toBe(evaluated.get(candidate));
    expect(front.map(({ reward }) => reward)).toContain(best!.reward);
    expect(weighed[0]!.reward).toBe(best!.reward);
    for (const each of weighed) {
      expect(each.reward).toBe(evaluated.get(each.candidate_id));
      expect(Math.min(each.latency_ms!, each.prompt_tokens, each.calls, each.tokens!)).toBeGreaterThan(0);
    }
    const highest = seeds.reduce((sum, seed) => sum + seed.best_reward, 0) / seeds.length;
    expect(highest).toBeGreaterThanOrEqual(best!.reward!);

    const events = await eventsOf(on.service, id);
    expect(events.map((event) => event.seq)).toEqual(range(1, events.length));
    expect(events.at(-1)!.type).toBe('job_complete');
    const proposed = events.filter((event) => event.type === 'candidate_proposed');
    expect(proposed).toHaveLength(seen.candidates.length - 1);
  });

  test('has a lever for its demonstrations, and every version of every lever is readable', async () => {
    const id = await create({ num_trials: 5 });
    const seen = await ended<Session>(on.service, id);
    const { lever_summary: summary, lever_versions: versions } = seen;
    const path = `${pathOf(id)}/levers`;
    const { data } = await read<{ data: { lever_id: string; component: string | null; latest_version: number }[] }>(
      path,
    );
    expect(data.map(({ component }) => component)).toEqual([null, '_demos', 'system']);
    expect(Object.keys(versions).sort()).toEqual(data.map(({ lever_id: lever }) => lever).sort());
    expect(summary.lever_count).toBe(3);
    expect(summary.mutation_count).toBe(seen.candidates.length - 1);
    const known = new Set(seen.candidates.map(({ candidate_id: candidate }) => candidate));
    expect(new Set(Object.keys(summary.candidate_lever_versions))).toEqual(known);
    for (const { lever_id: lever, latest_version: latest } of data) {
      const held: string[] = [];
      for (let version = 0; version <= latest; version += 1) {
        const listed = await read<{ candidate_ids: string[] }>(`${path}/${lever}/versions/${version}`).catch(
          () => null,
        );
        // A failed proposal leaves a gap in the prompt's versions.
        if (listed === null) expect(lever).toBe(summary.prompt_lever_id);
        else held.push(...listed.candidate_ids);
      }
      expect(new Set(held)).toEqual(known);
    }
  });
});
