import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { scoreOutput, type ScoredRow } from '../../../activities/datasets/score.js';
import { askFor } from '../../../activities/models/judge.js';
import type { ModelRollout } from '../../../activities/models/ask-model.js';
import { createLessons } from '../../../src/models/client/quirks/lessons.js';
import { createScorerClient, type ScorerClient } from '../../../src/scorers/client/client.js';
import { scorerSchema, scorerSpec } from '../../../src/scorers/index.js';
import type { EndedAnswer } from '../../../src/core/answers/ending.js';
import { answerId } from '../../../src/rollouts/store/answers.js';
import { listen, type Listening } from '../../support/loopback.js';

const rolloutId = 'rol_1_2';
const { signal } = new AbortController();
const judged = { question: 'Capital of France?' };
const row: ScoredRow = { row: { ...judged, answer: 'Paris, on the Seine' }, expected: 'Paris', judged };
let scorers: ScorerClient;
let server: Listening;
/** Bodies that the http scorer and the provider got. */
const scored: unknown[] = [];
const asked: Record<string, unknown>[] = [];

beforeAll(async () => {
  scorers = createScorerClient({ egress: { mode: 'dev', allowlist: [] }, javascriptOrgs: ['*'], retryBaseMs: 5 });
  server = await listen(
    createServer((request, response) => {
      void Readable.from(request)
        .toArray()
        .then((chunks: Buffer[]) => {
          scored.push(JSON.parse(Buffer.concat(chunks).toString()));
          response.writeHead(request.url === '/broken' ? 502 : 200).end('{"reward": 0.5, "details": {"a": 1}}');
        });
    }),
  );
});
afterAll(() => Promise.all([scorers.close(), server.close()]));

/** A rollout whose judges have answered; every other call is refused by the provider. */
function rollout(answers: Record<string, string> = {}): ModelRollout {
  const recorded = new Map<string, EndedAnswer>(
    Object.entries(answers).map(([name, text]) => {
      const [key, tries = '0'] = name.split('#') as [string, string?];
      return [
        answerId({ rolloutId, key, tries: Number(tries) }),
        { text, thoughts: null, refusal: null, finishReason: 'stop' },
      ];
    }),
  );
  const observer = { modelCall: () => undefined, retry: () => undefined };
  const send = async (_provider: string, body: Record<string, unknown>) => {
    asked.push(body);
    return { status: 400, contentType: null, retryAfter: null, read: () => Promise.resolve(Buffer.from('no')) };
  };
  return {
    deps: {
      providers: { forPayer: () => ({ send, observer, lessonsOf: createLessons() }) },
      notifications: { presence: 1 },
    } as unknown as ActivityDeps,
    job: { orgId: 'default', jobId: 'ses_1' } as ModelRollout['job'],
    budget: null,
    answerCache: null,
    claim: { rolloutId, attempt: 1, ordinal: 0, seed: 0, candidateId: null },
    recorded,
    trace: null,
    onPushback: () => {},
  };
}
const score = (request: unknown, output: string, answers?: Record<string, string>, given = row) =>
  scoreOutput(
    { orgId: 'default', scorers, ask: askFor(rollout(answers)) },
    scorerSpec(scorerSchema.parse(request), 'openai'),
    { ...given, output, timeoutMs: 120_000 },
    signal,
  );
const verdict = (reward: number) =>
  JSON.stringify({ criteria: [{ name: 'rubric', score: reward, reason: `worth ${reward}` }] });
const rubric = { type: 'rubric', criteria: 'Is it kind?', model: 'gpt-4o' };
const verified = (verification: Record<string, unknown>) => ({
  ok: true,
  verification: expect.objectContaining(verification) as unknown,
});

test('compares', async () => {
  expect(await score('exact', 'paris')).toEqual(verified({ reward: 1 }));
  expect(await score('exact', 'Rome')).toEqual(verified({ reward: 0 }));
});

test('runs a function on output, row and expected value', async () => {
  const code = '(output, row, expected) => ({ reward: 0.5, feedback: [output, row.question, expected].join() })';
  expect(await score({ type: 'javascript', code }, 'Rome')).toEqual(
    verified({ reward: 0.5, feedback: 'Rome,Capital of France?,Paris' }),
  );
  const none = { row: {}, expected: undefined, judged: {} };
  expect(await score({ type: 'javascript', code: '(o, r, e) => (e === null ? 1 : 0)' }, '', {}, none)).toEqual(
    verified({ reward: 1 }),
  );
});

test('posts to a scorer; its feedback is optional', async () => {
  const result = await score({ type: 'http', url: `${server.url}/score` }, 'Rome');
  expect(result).toEqual(verified({ reward: 0.5, details: { a: 1 }, feedback: '' }));
  expect(scored.at(-1)).toEqual({ output: 'Rome', row: row.row, expected: 'Paris' });
});

describe('judges', () => {
  test('the reward is that of the judge', async () => {
    expect(await score(rubric, 'Rome', { '@judge': verdict(0.4) })).toEqual(verified({ reward: 0.4 }));
  });

  test('the judge sees row, output, criteria and expected value', async () => {
    expect(await score(rubric, 'Rome')).toMatchObject({ ok: false, infrastructure: false });
    const question = JSON.stringify(asked.at(-1));
    for (const text of ['Is it kind?', 'Capital of France?', 'Rome', 'Paris']) expect(question).toContain(text);
    expect(question).not.toContain('on the Seine');
    const hello = { question: 'Say hello.' };
    await score(rubric, 'Rome', {}, { row: hello, expected: undefined, judged: hello });
    expect(JSON.stringify(asked.at(-1))).not.toContain('Paris');
  });

  test('a judge that is never readable is a fault of the infrastructure', async () => {
    const answers = { '@judge#0': 'well', '@judge#1': 'hm', '@judge#2': 'good' };
    expect(await score(rubric, 'Rome', answers)).toMatchObject({
      ok: false,
      code: 'judgement_unusable',
      infrastructure: true,
    });
  });
});

describe('weighted', () => {
  test('each judge has a call of its own', async () => {
    const parts = [
      { weight: 1, scorer: rubric },
      { weight: 1, scorer: 'exact' },
      { weight: 2, scorer: rubric },
    ];
    const answers = { '@judge': verdict(1), '@judge2': verdict(0.5) };
    const result = await score({ type: 'weighted', parts }, 'Rome', answers);
    expect(result).toEqual(verified({ reward: 0.5 }));
    const { criteria } = (result as Extract<typeof result, { ok: true }>).verification;
    expect(criteria!.map(({ name, score: reward }) => [name, reward])).toEqual([
      ['rubric', 1],
      ['exact', 0],
      ['rubric_2', 0.5],
    ]);
  });

  test('a row has the parts of its fields; a negated part counts the contrary', async () => {
    const says = { type: 'regex', flags: 'i' };
    const parts = [
      { scorer: says, field: 'says' },
      { scorer: says, field: 'avoids', negate: true, weight: 3 },
      { scorer: rubric, field: 'kind' },
    ];
    const scoreOf = (expected: unknown, output: string) =>
      score({ type: 'weighted', parts }, output, { '@judge': verdict(0.5) }, { ...row, expected });
    expect(await scoreOf({ says: 'rome' }, 'Rome')).toEqual(verified({ reward: 1 }));
    expect(await scoreOf({ avoids: 'rome' }, 'Rome')).toEqual(verified({ reward: 0 }));
    expect(await scoreOf({ says: 'rome', avoids: 'paris' }, 'Paris')).toEqual(verified({ reward: 0 }));
    expect(await scoreOf({ avoids: 'paris', kind: null }, 'Rome')).toEqual(verified({ reward: 3.5 / 4 }));
  });

  test('a part that fails is the result, and later parts are not asked', async () => {
    const before = asked.length;
    const parts = [{ scorer: 'exact' }, { scorer: { type: 'http', url: `${server.url}/broken` } }, { scorer: rubric }];
    expect(await score({ type: 'weighted', parts }, 'Paris')).toMatchObject({
      ok: false,
      code: 'scorer_error',
      infrastructure: true,
    });
    expect(asked).toHaveLength(before);
  });
});

test.each([
  ['http', { type: 'http', url: 'http://x.test' }, 120_000],
  ['http with its own time', { type: 'http', url: 'http://x.test', timeout: 7 }, 7_000],
  ['javascript', { type: 'javascript', code: '() => 1' }, 120_000],
  [
    'a part of several',
    {
      type: 'weighted',
      parts: [
        { weight: 1, scorer: { type: 'http', url: 'http://x.test' } },
        { weight: 1, scorer: 'exact' },
      ],
    },
    120_000,
  ],
])('%s has the time of its rollout', async (_name, request, expected) => {
  const times: (number | undefined)[] = [];
  const answer = { ok: true, reward: 1, feedback: null, details: null };
  const before = { ...scorers };
  Object.assign(scorers, {
    askUrl: (scoring: { tryTimeoutMs: number }) => (times.push(scoring.tryTimeoutMs), Promise.resolve(answer)),
    runFunction: (_code: string, _input: unknown, _signal: AbortSignal, timeMs?: number) => {
      times.push(timeMs);
      return Promise.resolve(answer);
    },
  });
  await score(request, 'x');
  Object.assign(scorers, before);
  expect(times).toEqual([expected]);
});
