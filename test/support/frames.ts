import { expect } from '@jest/globals';
import type { z } from 'zod';
import type { Api } from './api.js';
import type { sensorFrameSchema } from '../../src/kinds/session/contract/sensors.js';
import type { traceSchema } from '../../src/rollouts/contract/trace.js';
import { pathOf, type Session, type SessionResults } from './jobs-over-http.js';

export type Frame = z.output<typeof sensorFrameSchema>;
type Trace = z.output<typeof traceSchema>;

interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  has_more: boolean;
}

async function allOf<Item>(api: Api, path: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor = ''; ;) {
    const page = await api.call<Page<Item>>('GET', `${path}?limit=50${cursor}`);
    found.push(...page.data);
    if (!page.has_more) return found;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const sum = <Item>(items: readonly Item[], value: (item: Item) => number | null) =>
  items.reduce((total, item) => total + (value(item) ?? 0), 0);

/**
 * Checks the frames of an ended session over HTTP: each finished rollout is in exactly one frame,
 * and each frame agrees with its traces. `live`: calls after the reward are in the trace only.
 */
export async function judgeFrames(api: Api, id: string, { live = false } = {}): Promise<Frame[]> {
  const session = await api.call<Session>('GET', pathOf(id));
  const frames = await allOf<Frame>(api, `${pathOf(id)}/sensor-frames`);
  expect(session.sensor_frame_count).toBe(frames.length);
  expect(session.sensor_frames).toEqual(frames.slice(-50));
  const results = `${pathOf(id)}/results?include=sensor_frames`;
  expect((await api.call<SessionResults>('GET', results)).sensor_frames).toEqual(frames.slice(-50));
  expect(new Set(frames.map(({ frame_id }) => frame_id)).size).toBe(frames.length);
  const times = frames.map(({ created_at }) => created_at);
  expect(times).toEqual([...times].sort());

  const rollouts = new Map<string, { status: string; candidate: string }>();
  for (const { candidate_id: candidate } of session.candidates) {
    const path = `${pathOf(id)}/candidates/${candidate}/seed-evals`;
    for (const { rollout_id: rollout, status } of await allOf<{ rollout_id: string; status: string }>(api, path))
      if (status === 'succeeded' || status === 'failed') rollouts.set(rollout, { status, candidate });
  }
  const named = frames.flatMap(({ trace_ids }) => trace_ids);
  expect(named.filter((trace) => !rollouts.has(trace))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
  expect(sum(frames, ({ sensors }) => sensors.rollout!.count)).toBe(rollouts.size);

  for (const frame of frames) {
    const { candidate_id: candidate, stage, generation, trace_ids: ids, sensors, lever_versions: versions } = frame;
    expect(ids).toHaveLength(Math.min(100, sensors.rollout!.count));
    const { lever_summary: summary } = session;
    expect(versions[summary.prompt_lever_id]).toBe(summary.candidate_lever_versions[candidate]);
    expect(Object.keys(versions)).toHaveLength(summary.lever_count);
    if (ids.length < sensors.rollout!.count) continue;
    const traces = await Promise.all(ids.map((trace) => api.call<Trace>('GET', `${pathOf(id)}/traces/${trace}`)));
    for (const trace of traces) expect(trace).toMatchObject({ candidate_id: candidate, stage, generation });
    checkFrame(frame, traces, live);
  }
  return frames;
}

function checkFrame(
  { sensors, sensor_kinds: kinds, sensor_count: count }: Frame,
  traces: Trace[],
  live: boolean,
): void {
  const { rollout, reward, resource } = sensors;
  expect(kinds).toEqual((['rollout', 'reward', 'resource'] as const).filter((kind) => sensors[kind] !== null));
  expect(count).toBe(kinds.length);
  const succeeded = traces.filter(({ status }) => status === 'succeeded');
  expect(rollout).toEqual({
    count: traces.length,
    succeeded: succeeded.length,
    failed: traces.length - succeeded.length,
    resent: sum(traces, ({ resent }) => resent),
  });
  const rewards = succeeded.map((trace) => trace.reward!);
  expect(reward?.count ?? 0).toBe(rewards.length);
  if (reward) {
    expect(reward.mean).toBeCloseTo(sum(rewards, (value) => value) / rewards.length, 9);
    expect([reward.min, reward.max]).toEqual([Math.min(...rewards), Math.max(...rewards)]);
  }
  if (live) return;
  const latencies = traces.map(({ latency_ms }) => latency_ms);
  expect(resource?.latency_ms_max ?? null).toBe(
    latencies.every((latency) => latency === null) ? null : Math.max(...latencies.map((latency) => latency ?? 0)),
  );
  expect(resource?.prompt_tokens ?? 0).toBe(sum(traces, ({ usage }) => usage.prompt_tokens));
  expect(resource?.completion_tokens ?? 0).toBe(sum(traces, ({ usage }) => usage.completion_tokens));
  const withCalls = traces.filter(({ calls }) => calls.length > 0);
  if (withCalls.length === 0 || withCalls.some(({ usage }) => usage.total_cost_usd === null)) {
    expect(resource?.cost_usd ?? null).toBeNull();
  } else {
    expect(resource!.cost_usd).toBeCloseTo(
      sum(withCalls, ({ usage }) => usage.total_cost_usd),
      9,
    );
  }
}

/** Totals over all frames of a session: rollouts, tokens and dollars. */
export function totalsOf(frames: readonly Frame[]) {
  return {
    count: sum(frames, ({ sensors }) => sensors.rollout?.count ?? 0),
    promptTokens: sum(frames, ({ sensors }) => sensors.resource?.prompt_tokens ?? 0),
    completionTokens: sum(frames, ({ sensors }) => sensors.resource?.completion_tokens ?? 0),
    costUsd: sum(frames, ({ sensors }) => sensors.resource?.cost_usd ?? 0),
  };
}
