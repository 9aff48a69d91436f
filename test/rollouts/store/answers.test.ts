import { expect, test } from '@jest/globals';
import { rolloutId } from '../../../src/core/jobs/ids.js';
import { answerId, answerStep, readAnswers, recordAnswer } from '../../../src/rollouts/store/answers.js';
import { insertJob } from '../../support/job.js';
import { databaseOfFile } from '../../support/database-of-file.js';

const db = databaseOfFile(2);

test('uses the recorded answer; the first of two stays', async () => {
  const job = await insertJob(db);
  const of = { rolloutId: rolloutId(job.jobId, 0), key: 'solve', tries: 0 };
  const record = (text: string, finishReason: string | null, presence: number) =>
    db.org('default', (tx) => {
      const ref = { ...job, ...of, candidateId: null, attempt: presence, presence };
      const usage = { promptTokens: 1, completionTokens: 1, costUsd: null, costSource: 'unknown', latencyMs: 1 };
      const beside = { thoughts: 'hm', refusal: 'no' };
      const policy = { provider: 'local', model: 'm', params: {} };
      const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] };
      return recordAnswer(
        tx,
        { ref, purpose: 'rollout', policy, request },
        { text, finishReason, ...beside, ...usage },
      );
    });
  const first = { text: 'one\ufffd \ufffd', thoughts: 'hm', refusal: 'no', finishReason: 'st\ufffdp' };
  expect(await record('<think>x</think>one\0 \ud83d', 'st\0p', 1)).toEqual(first);
  expect(await record('another', null, 2)).toEqual(first);
  const kept = await db.org('default', (tx) => readAnswers(tx, job.jobId, of.rolloutId));
  expect([...kept]).toEqual([[answerId(of), first]]);
});

test.each([
  ['solve', 'solve'],
  ['solve#12', 'solve'],
  ['a_1_2#3', 'a_1_2'],
  ['@judge', null],
])('the id of an answer identifies its step: %s', (key, step) => {
  const of = rolloutId('grf_0_1', 23);
  for (const tries of [0, 12]) expect(answerStep(answerId({ rolloutId: of, key, tries }), of)).toBe(step);
});
