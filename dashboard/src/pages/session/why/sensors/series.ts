/** Sensor frames as columns of charts; x is the number of the frame, from 1. */
import type { SensorFrame } from '../../../../data/session/types.js';

type Column = (number | null)[];

/** The columns of each chart. */
export interface Series {
  frames: number[];
  success: Column;
  reward: Column;
  p50: Column;
  p95: Column;
  concurrency: Column;
  /** Per rollout. */
  promptTokens: Column;
  completionTokens: Column;
  /** Of the frame. */
  cost: Column;
}

export function seriesOf(frames: readonly Pick<SensorFrame, 'sensors'>[]): Series {
  const column = (read: (sensors: SensorFrame['sensors']) => number | null | undefined): Column =>
    frames.map(({ sensors }) => read(sensors) ?? null);
  const each = (name: 'prompt_tokens' | 'completion_tokens') =>
    column(({ rollout, resource }) => {
      const tokens = resource?.[name];
      return tokens === null || tokens === undefined || !rollout?.count ? null : tokens / rollout.count;
    });
  return {
    frames: frames.map((_, n) => n + 1),
    success: column(({ rollout }) => (rollout?.count ? rollout.succeeded / rollout.count : null)),
    reward: column(({ reward }) => reward?.mean),
    p50: column(({ resource }) => resource?.latency_ms_p50),
    p95: column(({ resource }) => resource?.latency_ms_p95),
    concurrency: column(({ resource }) => resource?.concurrency),
    promptTokens: each('prompt_tokens'),
    completionTokens: each('completion_tokens'),
    cost: column(({ resource }) => resource?.cost_usd),
  };
}

/** The version of a lever in each frame. */
export const versionsOf = (frames: readonly Pick<SensorFrame, 'lever_versions'>[], leverId: string): Column =>
  frames.map(({ lever_versions: versions }) => versions[leverId] ?? null);
