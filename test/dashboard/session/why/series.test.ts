import { expect, test } from '@jest/globals';
import { seriesOf, versionsOf } from '../../../../dashboard/src/pages/session/why/sensors/series.js';

test('frames are columns; what a frame does not know is a gap', () => {
  const resource = {
    prompt_tokens: 80,
    completion_tokens: null,
    cost_usd: 0.5,
    concurrency: 3,
    latency_ms_p50: 10,
    latency_ms_p95: 20,
    latency_ms_max: 30,
  };
  const series = seriesOf([
    {
      sensors: {
        rollout: { count: 4, succeeded: 3, failed: 1, resent: 0 },
        reward: { count: 3, mean: 0.25, sd: null, min: 0, max: 1 },
        resource,
      },
    },
    { sensors: { rollout: null, reward: null, resource: null } },
    { sensors: { rollout: { count: 0, succeeded: 0, failed: 0, resent: 0 }, reward: null, resource } },
  ]);
  expect(series).toEqual({
    frames: [1, 2, 3],
    success: [0.75, null, null],
    reward: [0.25, null, null],
    p50: [10, null, 10],
    p95: [20, null, 20],
    concurrency: [3, null, 3],
    promptTokens: [20, null, null],
    completionTokens: [null, null, null],
    cost: [0.5, null, 0.5],
  });
});

test('a lever that a frame does not have is a gap, version 0 is not', () => {
  expect(versionsOf([{ lever_versions: { a: 0 } }, { lever_versions: { b: 2 } }], 'a')).toEqual([0, null]);
});
