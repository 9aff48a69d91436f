import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startIntents } from '../../../examples/intents/container.js';
import { createEvaluation, createSession, ended, type Evaluation, type Session } from '../../support/jobs-over-http.js';
import { listen, type Listening } from '../../support/loopback.js';
import { range } from '../../support/range.js';
import { startTestService, type TestService } from '../../support/service.js';

// The winner's prompt is clearly better on unseen seeds, by about as much on a data set with other
// labels and words, which the test serves over HTTP.

const bank = join(import.meta.dirname, '../../../examples/intents');
const clinic = join(import.meta.dirname, '../../local-model');
const served: Record<string, string> = {
  '/bank.jsonl': join(bank, 'data.jsonl'),
  '/bank-labels.json': join(bank, 'labels.json'),
  '/clinic.jsonl': join(clinic, 'clinic.jsonl'),
  '/clinic-labels.json': join(clinic, 'clinic-labels.json'),
};

let service: TestService;
let files: Listening;
beforeAll(async () => {
  service = await startTestService();
  files = await listen(createServer((request, response) => response.end(readFileSync(served[request.url ?? '']!))));
}, 60_000);
afterAll(async () => {
  await files.close();
  await service.stop();
}, 60_000);

async function measure(name: 'bank' | 'clinic'): Promise<{ baseline: number; winner: number }> {
  const container = await startIntents({
    port: 0,
    data: `${files.url}/${name}.jsonl`,
    labels: `${files.url}/${name}-labels.json`,
  });
  try {
    const common = {
      container_url: container.url,
      policy: { provider: 'local', model: 'local' },
      max_concurrent: 8,
    };
    const id = await createSession(service, {
      ...common,
      gepa: {
        population_size: 3,
        generations: 8,
        minibatch_size: 12,
        train_seeds: range(0, 100),
        evaluation: { seeds: range(100, 30) },
      },
      budget: { max_rollouts: 1_000 },
    });
    const session = await ended<Session>(service, id, 120);
    expect(session.status).toBe('completed');
    const unseen = async (candidate: object) => {
      const spec = { ...common, seeds: range(130, 70), candidate: { session_id: id, ...candidate } };
      const evaluation = await ended<Evaluation>(service, await createEvaluation(service, spec));
      return evaluation.results!.mean_reward!;
    };
    const { candidate_id } = session.candidates.find((candidate) => candidate.is_baseline)!;
    return { baseline: await unseen({ candidate_id }), winner: await unseen({}) };
  } finally {
    await container.close();
  }
}

test('the winner clearly beats the baseline on unseen seeds, by about as much on both data sets', async () => {
  const sample = await measure('bank');
  const other = await measure('clinic');
  expect(sample.baseline).toBeLessThan(0.3);
  expect(sample.winner - sample.baseline).toBeGreaterThan(0.3);
  expect(other.winner - other.baseline).toBeGreaterThan(0.75 * (sample.winner - sample.baseline));
}, 300_000);
