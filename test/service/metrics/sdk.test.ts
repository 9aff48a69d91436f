import { expect, test } from '@jest/globals';
import type { BufferedMetricUpdate } from '@temporalio/worker';
import { collectSdkMetrics } from '../../../src/service/metrics/sdk.js';
import { mergeMetrics } from '../../../src/service/metrics/merge.js';
import { createMetrics } from '../../../src/service/metrics.js';

// What the SDK buffers is shown beside our own metrics, with bounded labels.

const updates: BufferedMetricUpdate[] = [];
collectSdkMetrics({ retrieveUpdates: () => updates.splice(0).values() });

const update = (
  kind: BufferedMetricUpdate['metric']['kind'],
  name: string,
  value: number,
  attributes: BufferedMetricUpdate['attributes'] = {},
  unit?: string,
) =>
  updates.push({
    metric: { kind, name, valueType: 'int', unit, description: `About ${name}.` },
    value,
    attributes: { service_name: 'temporal-core-sdk', namespace: 'default', task_queue: 'q', ...attributes },
  } as BufferedMetricUpdate);

const textOf = (count = 1) => {
  const processes = Array.from({ length: count }, createMetrics);
  return mergeMetrics(processes.map(({ values }) => values));
};

test('counters, histograms and gauges are named and labelled as Prometheus wants', async () => {
  update('counter', 'temporal_request_failure', 1, { operation: 'PollWorkflowTaskQueue', status_code: 'UNAVAILABLE' });
  update('counter', 'temporal_request_failure', 2, { operation: 'PollWorkflowTaskQueue', status_code: 'UNAVAILABLE' });
  update('histogram', 'temporal_request_latency', 0.3, { operation: 'RespondWorkflowTaskCompleted' }, 's');
  update('gauge', 'temporal_worker_task_slots_available', 7, { worker_type: 'ActivityWorker' });
  update('gauge', 'temporal_worker_task_slots_available', 3, { worker_type: 'ActivityWorker' });
  update('up-down-counter', 'temporal_open', 2);
  update('up-down-counter', 'temporal_open', -1);
  const text = await textOf();
  expect(text).toContain('# TYPE temporal_request_failure_total counter');
  expect(text).toContain(
    'temporal_request_failure_total{operation="PollWorkflowTaskQueue",status_code="UNAVAILABLE"} 3',
  );
  expect(text).toContain(
    'temporal_request_latency_seconds_bucket{le="0.5",operation="RespondWorkflowTaskCompleted"} 1',
  );
  expect(text).toContain('temporal_worker_task_slots_available{worker_type="ActivityWorker"} 3');
  expect(text).toMatch(/^temporal_open 1$/m);
});

test('the SDK collects for a process, and the values of workers add up', async () => {
  update('gauge', 'temporal_sticky_cache_size', 5);
  expect(await textOf()).toMatch(/^temporal_sticky_cache_size 5$/m);
  // As those of two workers: both read the set of this process.
  expect(await textOf(2)).toMatch(/^temporal_sticky_cache_size 10$/m);
});

test('each name is there once, whatever anybody starts', async () => {
  for (let n = 0; n < 300; n += 1) update('counter', 'temporal_workflow_failed', 1, { workflow_type: `w${n}` });
  const text = await textOf();
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  expect(new Set(names).size).toBe(names.length);
  expect(text.match(/^temporal_workflow_failed_total\{/gm)).toHaveLength(101);
  expect(text).toContain('temporal_workflow_failed_total{workflow_type="other"} 200');
});
