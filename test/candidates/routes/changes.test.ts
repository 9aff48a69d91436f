import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import type { EvaluationSpec } from '../../../src/core/jobs/spec.js';
import { readSpec } from '../../../src/jobs/store/spec.js';
import { record, seedCandidates, seedRollouts, type SeededRollout } from '../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../platform/http/support.js';

const base = '/api/v1/online/sessions';
const http = httpOfFile();
let id: string;
const cand = (version: number) => candidateId(id, version);
const rol = (ordinal: number) => rolloutId(id, ordinal);
const changes = (version: number, query = '') =>
  http.call('GET', `${base}/${id}/candidates/${cand(version)}/changes${query}`);
const ablate = (version: number, body: object, query = '') =>
  http.call('POST', `${base}/${id}/candidates/${cand(version)}/ablations${query}`, body);

const texts = [
  'Sort the message.\n- returns: a parcel\n- records_desk: app\nBe brief.',
  'Be brief.\nSort the message.\n- returns: a parcel\n- records_desk: app, street',
  'Be brief.\nSort the message.\n- returns: a parcel\n- records_desk: app, street\nName one team.',
];

const rollout = (
  candidate: number,
  seed: number,
  reward: number,
  more: Partial<SeededRollout> = {},
): SeededRollout => ({
  status: 'succeeded',
  generation: candidate,
  candidate,
  seed,
  reward,
  ...more,
});

/**
 * Candidate 1 wins row 7 of its test, and row 0 of the evaluation, and loses row 1. Candidate 2 has
 * only the evaluation and the held-out rows.
 */
const rollouts: SeededRollout[] = [
  ...[0, 1, 0.5].map((reward, seed) => rollout(0, seed, reward, { stage: 'baseline' })),
  rollout(0, 7, 0, { stage: 'minibatch', feedback: 'expected records_desk' }),
  rollout(0, 8, 1, { stage: 'minibatch' }),
  rollout(1, 7, 1, { stage: 'gate' }),
  rollout(1, 8, 1, { stage: 'gate' }),
  ...[1, 0, 0.5].map((reward, seed) => rollout(1, seed, reward, { stage: 'evaluation' })),
  ...[1, 1, 0.5].map((reward, seed) => rollout(2, seed, reward, { stage: 'evaluation' })),
  ...[20, 21].map((seed) => rollout(2, seed, 1, { stage: 'heldout' })),
];

beforeAll(async () => {
  const evaluation = { seeds: [0, 1, 2], heldout_seeds: [20, 21, 22] };
  id = await createSession(http, {
    container_api_key: undefined,
    gepa: { population_size: 2, generations: 2, evaluation, train_seeds: [7, 8], minibatch_size: 2 },
  });
  await seedCandidates(http, id, [
    { status: 'evaluated', reward: 0.5, generation: 0, text: texts[0]! },
    { status: 'evaluated', reward: 0.5, generation: 1, parents: [0], text: texts[1]!, ordinals: [3] },
    { status: 'evaluated', reward: 0.8, generation: 2, parents: [1], text: texts[2]!, ordinals: [9] },
    { status: 'proposed', generation: 2, parents: [1], text: 'Sort the message. Say why.' },
  ]);
  await seedRollouts(http, id, rollouts);
  await record(http, id, {
    tests: [
      {
        candidate: 1,
        seeds: [
          [7, 3, 5],
          [8, 4, 6],
        ],
      },
    ],
  });
});

describe('the changes of a candidate', () => {
  test('are edits against the baseline, each with its author and the rows that it won and lost', async () => {
    const { body } = await changes(2);
    expect(body).toMatchObject({ job_id: id, candidate_id: cand(2), against_id: cand(0), total: 3, is_equal: false });
    expect(body.edits).toEqual([
      expect.objectContaining({ kind: 'moved', after: 'Be brief.', from: 3, to: 0, words: null, author_id: cand(0) }),
      {
        kind: 'changed',
        component: 'system',
        from: 2,
        to: 3,
        before: '- records_desk: app',
        after: '- records_desk: app, street',
        words: [
          { kind: 'same', text: '- records_desk: app' },
          { kind: 'added', text: ', street' },
        ],
        author_id: cand(1),
      },
      expect.objectContaining({ kind: 'added', after: 'Name one team.', from: null, to: 4, author_id: cand(2) }),
    ]);
    expect(body.authors).toEqual([
      expect.objectContaining({ candidate_id: cand(0), is_baseline: true, num_edits: 0, rows: null }),
      {
        candidate_id: cand(1),
        parent_ids: [cand(0)],
        generation: 1,
        is_baseline: false,
        is_given: false,
        feedback: [{ rollout_id: rol(3), seed: 7, feedback: 'expected records_desk' }],
        feedback_total: 1,
        num_edits: 2,
        rows: {
          compared: 5,
          won: 2,
          lost: 1,
          differing: [
            { seed: 0, before: 0, after: 1, rollout_id: rol(7) },
            { seed: 7, before: 0, after: 1, rollout_id: rol(5) },
            { seed: 1, before: 1, after: 0, rollout_id: rol(8) },
          ],
        },
      },
      expect.objectContaining({
        candidate_id: cand(2),
        rows: expect.objectContaining({ compared: 3, won: 1, lost: 0 }),
      }),
    ]);
    expect(body.ablation).toEqual({ basis: 'heldout', rows: 2 });
  });

  test('are against the parent, or another candidate, or none', async () => {
    const ofParent = (await changes(2, '?against=parent')).body;
    expect([ofParent.against_id, ofParent.total]).toEqual([cand(1), 1]);
    const ofOther = (await changes(3, `?against=${cand(1)}`)).body;
    expect(ofOther.edits.map(({ kind, author_id: author }: Record<string, string>) => [kind, author])).toEqual([
      ['removed', cand(3)],
      ['removed', cand(3)],
      ['removed', cand(3)],
      ['added', cand(3)],
    ]);
    expect(ofOther.ablation).toBeNull();
    expect((await changes(1)).body.ablation).toEqual({ basis: 'evaluation', rows: 3 });
    expect((await changes(2, `?against=${cand(2)}`)).body).toMatchObject({ edits: [], total: 0, is_equal: true });
  });

  test('are refused for what is no candidate of the job', async () => {
    expect((await changes(9)).status).toBe(404);
    expect((await changes(2, `?against=${cand(9)}`)).body).toMatchObject({ code: 'candidate_not_found' });
    expect((await changes(2, '?against=first')).status).toBe(422);
  });
});

describe('an evaluation without an edit', () => {
  test('has its price first, then the prompt without it on the held-out rows', async () => {
    const dry = await ablate(2, { component: 'system', sentence: 4 }, '?dry_run=true');
    expect([dry.status, dry.body.estimate.rollouts, dry.body.job_id]).toEqual([200, 2, undefined]);
    const { status, body } = await ablate(2, { component: 'system', sentence: 4 });
    expect(status).toBe(201);
    const spec = await http.db.org('default', (tx) => readSpec<EvaluationSpec>(tx, body.job_id));
    expect(spec).toMatchObject({
      kind: 'evaluation',
      seeds: [20, 21],
      candidate: { sessionId: id, candidateId: null },
    });
    expect(spec.candidate!.messages).toEqual([{ role: 'system', content: texts[1] }]);
    const filter = encodeURIComponent(JSON.stringify({ without_edit_of: cand(2) }));
    const { data } = (await http.call('GET', `/api/v1/offline/jobs?metadata=${filter}`)).body;
    expect(data.map(({ job_id: job, metadata }: Record<string, object>) => [job, metadata])).toEqual([
      [
        body.job_id,
        {
          without_edit_of: cand(2),
          without_edit_against: cand(0),
          without_component: 'system',
          without_sentence: 4,
        },
      ],
    ]);
  });

  test('has a changed sentence as it was', async () => {
    const { body } = await ablate(2, { component: 'system', sentence: 3 });
    const spec = await http.db.org('default', (tx) => readSpec<EvaluationSpec>(tx, body.job_id));
    expect(spec.candidate!.messages[0]!.content).toBe(texts[2]!.replace('app, street', 'app'));
  });

  test('is refused for a sentence that is no edit', async () => {
    for (const sentence of [0, 1, 99]) {
      const { status, body } = await ablate(2, { component: 'system', sentence });
      expect([sentence, status, body.errors[0].pointer]).toEqual([sentence, 422, '/sentence']);
    }
  });

  test('is refused while the container needs a key, and for a candidate that has not run', async () => {
    const unmeasured = await ablate(3, { component: 'system', sentence: 1 });
    expect([unmeasured.status, unmeasured.body.code]).toEqual([409, 'candidate_not_ready']);
    const other = await createSession(http, { container_api_key: 'secret' });
    await seedCandidates(http, other, [
      { status: 'evaluated', reward: 0.5, generation: 0, text: 'One.' },
      { status: 'evaluated', reward: 0.5, generation: 1, parents: [0], text: 'One. Two.' },
    ]);
    const path = `${base}/${other}/candidates/${candidateId(other, 1)}`;
    expect((await http.call('GET', `${path}/changes`)).body.ablation).toBeNull();
    const { status, body } = await http.call('POST', `${path}/ablations`, { component: 'system', sentence: 1 });
    expect([status, body.code]).toEqual([409, 'no_ablation']);
  });
});
