import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../src/core/jobs/ids.js';
import { project, seedCandidates, seedRollouts } from '../platform/http/seed.js';
import { createEvaluation, createGraphJob, httpOfFile } from '../platform/http/support.js';

const http = httpOfFile();
const sessions = '/api/v1/online/sessions';
const script = '<script>alert("&amp;")</script>';
const rows = Array.from({ length: 40 }, (_, n) => ({ text: `${script} ${n}`, team: n % 2 === 0 ? 'a' : "b'" }));
const done = { status: 'succeeded' as const, tokens: [1, 1] as [number, number] };

async function reportOf(path: string): Promise<string> {
  const { status, headers, body } = await http.call('GET', `${path}/report`);
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-disposition']).toBe(`attachment; filename="report-${path.split('/').at(-1)}.html"`);
  return body as string;
}

/** What a report must never hold: a script, or an address that something loads from. */
function expectInert(report: string): void {
  expect(report).toContain(`content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"`);
  expect(report).not.toMatch(/<script|<img|<link|<iframe|\son\w+=|src=|href=|url\(|@import/i);
}

describe('of a session', () => {
  let id: string;
  let heldOut: number[];
  let report: string;

  beforeAll(async () => {
    const { status, body } = await http.call('POST', sessions, {
      name: `Run ${script}`,
      policy_optimization: {
        dataset: { rows, input: 'text', expected: 'team' },
        scorer: 'exact',
        policy: { provider: 'local', model: 'local' },
        initial_prompt: { messages: [{ role: 'system', content: 'Choose.\nKeep.' }] },
        algorithm: 'gepa',
        gepa: { population_size: 2, generations: 2 },
        budget: { max_rollouts: 400 },
      },
    });
    expect(status).toBe(201);
    id = body.session_id as string;
    heldOut = body.split.heldout as number[];
    const prompt = (content: string) => ({ messages: [{ role: 'system' as const, content }] });
    await seedCandidates(http, id, [
      { status: 'evaluated', reward: 0.5, generation: 0, ...prompt('Choose.\nKeep.') },
      { status: 'evaluated', reward: 0.9, generation: 1, parents: [0], ...prompt('Choose a or b.\nKeep.') },
    ]);
    await seedRollouts(http, id, [
      { ...done, candidate: 0, seed: heldOut[0]!, reward: 1, stage: 'heldout' },
      { ...done, candidate: 1, seed: heldOut[0]!, reward: 0, stage: 'heldout', feedback: 'Wrong <b>.' },
      { ...done, candidate: 0, seed: heldOut[1]!, reward: 0, stage: 'heldout' },
      { ...done, candidate: 1, seed: heldOut[1]!, reward: 1, stage: 'heldout' },
      { candidate: 1, seed: heldOut[2]!, status: 'failed', error: 'no answer', stage: 'heldout' },
    ]);
    await http.db.org('default', (tx) =>
      tx.query('update model_calls set response = $2 where rollout_id = $1', [
        rolloutId(id, 1),
        JSON.stringify({ choices: [{ message: { content: script } }] }),
      ]),
    );
    const interval = { low: 0.1, high: 0.9 };
    await project(http, id, {
      bestCandidateId: candidateId(id, 1),
      bestReward: 0.9,
      verdict: {
        verdict: 'better',
        basis: 'heldout',
        seeds: 3,
        baseline: 0.5,
        winner: 0.75,
        baselineInterval: interval,
        winnerInterval: interval,
        difference: 0.25,
        low: -0.125,
        high: 0.625,
        rowsNeeded: null,
      },
    });
    report = await reportOf(`${sessions}/${id}`);
  });

  test('says what was measured, what changed, and how to run it again', () => {
    expect(report).toContain('<strong>0.750</strong> Reward on 3 held-out rows, 95 % 0.100 to 0.900.');
    expect(report).toContain('Baseline 0.500.');
    expect(report).toContain('aria-label="+0.250, −0.125 to +0.625"');
    expect(report).toContain('<del>Choose.</del>');
    expect(report).toContain('<ins>Choose a or b.</ins>');
    expect(report).not.toContain('Keep.</');
    expect(report).toContain(`${sessions}/${id}/clone`);
    expect(report).toContain('&quot;max_rollouts&quot;: 400');
  });

  test('shows the rows that need a look, and only those', () => {
    expect(report).toContain('broken: 1 · failed to run: 1 · fixed: 1');
    const shown = [...report.matchAll(/<tr><td>(\d+) \(held-out\)/g)].map(([, row]) => Number(row));
    expect(shown).toEqual([heldOut[0], heldOut[2]]);
    expect(report).toContain('no answer');
    expect(report).toContain('Wrong &lt;b&gt;.');
  });

  test('runs and loads nothing, whatever the texts are', () => {
    expectInert(report);
    // The title twice, the row, its answer, and the request.
    expect(report.split('&lt;script&gt;alert(').length - 1).toBeGreaterThanOrEqual(4);
    expect(report).toContain('&amp;amp;');
  });
});

test('of an evaluation and of a graph job exist before there are results', async () => {
  for (const path of [
    `/api/v1/offline/jobs/${await createEvaluation(http, { seeds: [0, 1] })}`,
    `/api/graphgen/jobs/${await createGraphJob(http)}`,
  ]) {
    const report = await reportOf(path);
    expectInert(report);
    expect(report).toContain('None has an answer.');
  }
});

test('of a job that does not exist is not found', async () => {
  expect((await http.call('GET', `${sessions}/ses_no/report`)).status).toBe(404);
});
