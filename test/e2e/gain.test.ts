import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startIntents } from '../../examples/intents/container.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// The demo's promise through the whole service: the winner's prompt is clearly better on seeds that the session has not
// seen, and about as much on a data set with other labels and other words that is served over HTTP while the test runs.

let service: TestService;
let files: Server;
let filesUrl: string;
const bank = join(import.meta.dirname, '../../examples/intents');
const clinic = join(import.meta.dirname, '../clients/local');
const served: Record<string, string> = {
  '/bank.jsonl': join(bank, 'data.jsonl'),
  '/bank-labels.json': join(bank, 'labels.json'),
  '/clinic.jsonl': join(clinic, 'clinic.jsonl'),
  '/clinic-labels.json': join(clinic, 'clinic-labels.json'),
};

beforeAll(async () => {
  service = await startTestService();
  files = createServer((request, response) => response.end(readFileSync(served[request.url ?? '']!)));
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
}, 60_000);
afterAll(async () => {
  files.close();
  await service.stop();
}, 60_000);

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const policy = { provider: 'local', model: 'local' };

async function measure(name: 'bank' | 'clinic'): Promise<{ baseline: number; winner: number }> {
  const container = await startIntents({
    port: 0,
    data: `${filesUrl}/${name}.jsonl`,
    labels: `${filesUrl}/${name}-labels.json`,
  });
  try {
    const { session_id: id } = await service.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
      policy_optimization: {
        algorithm: 'gepa',
        container_url: container.url,
        policy,
        gepa: {
          population_size: 3,
          generations: 8,
          minibatch_size: 12,
          train_seeds: range(0, 100),
          evaluation: { seeds: range(100, 130) },
        },
        budget: { max_rollouts: 1_000 },
        max_concurrent: 8,
      },
    });
    const state = await until(
      'the session has completed',
      async () => {
        const seen = await service.api.call<{
          status: string;
          candidates: { candidate_id: string; is_baseline: boolean }[];
        }>('GET', `/api/v1/online/sessions/${id}`);
        return seen.status === 'completed' && seen;
      },
      120,
    );
    const evaluate = async (candidate: Record<string, unknown>) => {
      const { job_id: job } = await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
        container_url: container.url,
        app_id: name,
        env_name: 'unseen',
        seeds: range(130, 200),
        policy,
        max_concurrent: 8,
        candidate: { session_id: id, ...candidate },
      });
      return until('the evaluation has completed', async () => {
        const seen = await service.api.call<{ results?: { mean_reward: number } }>(
          'GET',
          `/api/v1/offline/jobs/${job}`,
        );
        // A mean of 0 is an answer too.
        return seen.results && { mean: seen.results.mean_reward };
      });
    };
    const base = state.candidates.find((candidate) => candidate.is_baseline)!;
    const [baseline, winner] = [await evaluate({ candidate_id: base.candidate_id }), await evaluate({})];
    return { baseline: baseline.mean, winner: winner.mean };
  } finally {
    await container.close();
  }
}

test('baseline clearly below winner on unseen seeds, on both data sets about as much', async () => {
  const sample = await measure('bank');
  const other = await measure('clinic');
  expect(sample.baseline).toBeLessThan(0.3);
  expect(sample.winner - sample.baseline).toBeGreaterThan(0.3);
  expect(other.winner - other.baseline).toBeGreaterThan(0.75 * (sample.winner - sample.baseline));
}, 300_000);
