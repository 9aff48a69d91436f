import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { answers, startFakeContainer } from '../support/fakes/container.js';
import { gate } from '../support/gate.js';
import { createEvaluation, ended, pathOf } from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let port: number;
beforeAll(async () => {
  port = await firstFree();
  service = await startTestService({ RATCHET_METRICS_PORT: String(port) });
}, 60_000);
afterAll(() => service.stop(), 60_000);

test('serves metrics on a port of their own, by route and by outcome', async () => {
  const isFollowed = gate();
  const box = await startFakeContainer({
    behave: ({ seed }) => answers.held(isFollowed.opened, seed === 0 ? answers.raw('{}') : answers.reward(1)),
  });
  const policy = { provider: 'local', model: 'local' };
  const id = await createEvaluation(service, { container_url: box.url, seeds: [0, 1, 2], policy });
  const authorization = `Bearer ${service.apiKey}`;
  const stream = await fetch(`${service.url}${pathOf(id)}/events`, {
    headers: { authorization, accept: 'text/event-stream' },
  });
  isFollowed.open();
  await stream.text();
  expect(await ended(service, id)).toMatchObject({ status: 'completed' });
  await box.close();
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(text).toMatch(/\n$/);
  expect(text).toContain('ratchet_rollouts_total{outcome="succeeded"} 2');
  expect(text).toContain('ratchet_rollouts_total{outcome="failed"} 1');
  expect(text).toMatch(
    /ratchet_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/offline\/jobs",status="201"\} 1/,
  );
  expect(text).toContain('ratchet_rollout_errors_total{code="reward_missing"} 1');
  expect(text).toContain('ratchet_jobs_ended_total{kind="evaluation",status="completed"} 1');
  expect(text).toMatch(/ratchet_event_lag_seconds_count [1-9]/);
  expect(text).toContain('ratchet_worker_slots{type="activity",state="total"} 500');
  expect(text).toContain('ratchet_task_queue_backlog{type="activity"} 0');
  expect(text).toContain('ratchet_sample_up 1');
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toMatch(/^temporal_worker_task_slots_available\{worker_type="ActivityWorker"\} \d+$/m);
  expect(text).toMatch(/^temporal_request_total\{operation="RespondWorkflowTaskCompleted"\} [1-9]/m);
  expect(text).toMatch(/^temporal_sticky_cache_size \d/m);
  expect(text).toMatch(/^temporal_activity_schedule_to_start_latency_seconds_count [1-9]/m);
  const atAFailure = /_(failure|failed|total_forced_eviction)_total$/;
  for (const file of ['alerts.yaml', 'grafana.json']) {
    const rules = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8');
    const used = new Set([...rules.matchAll(/\btemporal_\w+/g)].map(([name]) => name));
    expect(used.size).toBeGreaterThan(2);
    expect([...used].filter((name) => !atAFailure.test(name) && !text.includes(`\n${name}`))).toEqual([]);
  }
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  // Labels with ids would create a series for each job.
  expect(text).not.toContain(id);
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
  expect((await fetch(`${service.url}/metrics`, { headers: { authorization } })).status).toBe(404);
});
