import { beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuid } from 'uuid';
import { demoMessages, type Demo } from '../../../src/core/prompts/demos.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { recordCall, type CallRecord } from '../../../src/rollouts/store/call-records.js';
import { addCandidate, readOpenPrompts, readPool, setBaseline } from '../../../src/candidates/store/candidates.js';
import { type Tx } from '../../../src/platform/db/db.js';
import { buildDemos, usableDemos } from '../../../src/candidates/store/demos.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { readComponentLevers } from '../../../src/candidates/store/levers.js';
import { readExamples } from '../../../src/candidates/store/reflection-examples.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { insertJob } from '../../support/job.js';
import { databaseOfFile } from '../../support/database-of-file.js';

const db = databaseOfFile(2);
let job: JobRef;
beforeEach(async () => {
  job = await insertJob(db);
  await add(0, [system('Do.')], []);
});

const org = <T>(work: (tx: Tx) => Promise<T>) => db.org('default', work);
const system = (content: string, name?: string): Message => ({ role: 'system', content, ...(name && { name }) });
const user = (content: unknown) => ({ role: 'user', content });
const add = (leverVersion: number, messages: Message[] | null, demos?: Demo[]) =>
  org((tx) =>
    addCandidate(tx, job, {
      leverVersion,
      generation: 0,
      parents: [],
      messages,
      ...(demos !== undefined && { demos }),
    }),
  );
const says = (content: unknown, more: object = {}) => ({ choices: [{ message: { content, ...more } }] });

/** A rollout of the seed 10 + ordinal, with its calls in order. */
async function rollout(
  ordinal: number,
  calls: { messages?: unknown; answer?: unknown; status?: number; levers?: CallRecord['levers'] }[],
  { candidate = 0, details = null }: { candidate?: number; details?: unknown } = {},
) {
  const id = rolloutId(job.jobId, ordinal);
  const request = { ordinal, candidate, seed: 10 + ordinal, stage: 'evaluation' as const, generation: 0 };
  await org((tx) => planRollouts(tx, job, [request], true));
  for (const { messages, answer = says('yes'), status = 200, levers = null } of calls) {
    const call: CallRecord = {
      ...job,
      id: `call_${uuid()}`,
      purpose: 'rollout',
      rolloutId: id,
      correlationId: id,
      attempt: 1,
      presence: 1,
      candidateId: candidateId(job.jobId, candidate),
      requestHash: Buffer.from(uuid()),
      provider: 'local',
      model: 'm',
      request: { messages: messages ?? [user('q')] },
      response: answer,
      stream: false,
      httpStatus: status,
      promptTokens: 1,
      completionTokens: 1,
      costUsd: null,
      costSource: 'unknown',
      latencyMs: 1,
      levers,
    };
    await org((tx) => recordCall(tx, call));
  }
  await org((tx) =>
    tx.query(`update rollouts set status = 'succeeded', reward = 1, details = $2 where id = $1`, [
      id,
      details === null ? null : JSON.stringify(details),
    ]),
  );
}
const survey = (ordinals: number[], components: string[] | null = null) =>
  org((tx) =>
    usableDemos(tx, job.jobId, {
      components: components ?? ['system'],
      marked: components !== null,
      ordinals,
      open: [],
    }),
  );
const build = (...wanted: Parameters<typeof buildDemos>[2]) => org((tx) => buildDemos(tx, job.jobId, wanted));

test.each([
  ['<think>Hm. {"a": 0}</think>\n\nyes', 'yes'],
  [`<think>${'x'.repeat(9_000)}</think>yes`, 'yes'],
  ['Hm.\n</think>\nyes', 'yes'],
  ['<think>cut off', null],
  [`<think>x</think>${'y'.repeat(4_001)}`, null],
])('demonstrations and examples show the answer without its thoughts (%#)', async (content, answer) => {
  await rollout(1, [{ answer: says(content) }]);
  const request = { components: ['system'], marked: false, ordinals: [1], open: [] };
  const [slot] = await org((tx) => usableDemos(tx, job.jobId, request));
  expect(slot!.bootstrapped).toEqual(answer === null ? [] : [1]);
  if (answer !== null) {
    const wanted = [{ component: null, bootstrapped: [1], labeled: [] }];
    expect(await org((tx) => buildDemos(tx, job.jobId, wanted))).toMatchObject([{ output: answer }]);
  }
  const [example] = await org((tx) => readExamples(tx, job.jobId, [1]));
  expect(example!.output).toBe(answer ?? (content.startsWith('<think>x') ? 'y'.repeat(4_001) : ''));
});

describe('a rollout usable as a demonstration', () => {
  test('has one question with texts only and a text answer in its first answered call', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:,' } };
    const text = (text: string) => ({ type: 'text', text });
    const long = (length: number) => '𝒳'.repeat(length);
    const shown: Parameters<typeof rollout>[1][] = [
      [{ messages: [system('Do.'), user('q')] }],
      [{ messages: [{ role: 'developer', content: 'x' }, user([text('a'), text('b')]), system('later')] }],
      [{ messages: [user(long(8_000))], answer: says(long(4_000)) }],
      [{ status: 500, answer: { error: {} }, messages: [user('a'), user('b')] }, {}],
      [{ answer: says([text('yes')], { tool_calls: [], function_call: null }) }],
      [{}, { messages: [user('q'), { role: 'assistant', content: 'yes' }, user('more')] }],
      [{ answer: says('yes', { tool_calls: null }) }],
    ];
    const hidden: Parameters<typeof rollout>[1][] = [
      [],
      [{ status: 500 }],
      [{ messages: [user('a'), user('b')] }, {}],
      [{ messages: [user('a'), { role: 'assistant', content: 'b' }, user('c')] }],
      [{ messages: [{ role: 'assistant', content: 'a' }] }],
      [{ messages: [user([text('a'), image])] }],
      [{ messages: [user([{ type: 'text', text: { a: 1 } }])] }],
      [{ messages: [user([{ type: 'input_audio', text: 'a' }])] }],
      [{ messages: [user([])] }],
      [{ messages: [user(null)] }],
      [{ messages: [user(' \n')] }],
      [{ messages: 'hostile' }],
      [{ messages: ['hostile', 3, null] }],
      [{ messages: ['hostile', user('q')] }],
      [{ messages: [user(long(8_001))] }],
      [{ answer: says(long(4_001)) }],
      [{ answer: says('') }],
      [{ answer: says(null) }],
      [{ answer: says('calling', { tool_calls: [{ id: '1' }] }) }],
      [{ answer: says('calling', { function_call: { name: 'f' } }) }],
      [{ answer: { choices: 'hostile' } }],
    ];
    const all = [...shown, ...hidden];
    for (const [ordinal, calls] of all.entries()) await rollout(ordinal, calls);
    const order = all.map((_, ordinal) => ordinal).reverse();
    const expected = shown.map((_, ordinal) => ordinal).reverse();
    const [slot] = await survey([...order, 999]);
    expect({ ...slot, bootstrapped: slot!.bootstrapped.toSorted((left, right) => right - left) }).toEqual({
      component: null,
      bootstrapped: expected,
      labeled: [],
      sameAnswer: [],
      room: 100,
    });
    const demos = await build({ component: null, bootstrapped: [5, 1, 4], labeled: [] });
    expect(demos).toEqual([
      { component: null, seed: 15, ordinal: 5, input: 'q', output: 'yes' },
      { component: null, seed: 11, ordinal: 1, input: 'a\nb', output: 'yes' },
      { component: null, seed: 14, ordinal: 4, input: 'q', output: 'yes' },
    ]);
    await expect(build({ component: null, bootstrapped: [8], labeled: [] })).rejects.toThrow(/rollout 8 /);
  });

  test('comes first if it covers most of the open questions', async () => {
    const questions = ['red apple', 'green pear', 'red pear', 'blue plum', 'a blue plum', 'the plum is blue'];
    for (const [ordinal, question] of questions.entries()) await rollout(ordinal, [{ messages: [user(question)] }]);
    const prompt = { components: ['system'], marked: false, ordinals: [0, 1, 2, 3] };
    const first = async (open: number[]) => {
      const [slot] = await org((tx) => usableDemos(tx, job.jobId, { ...prompt, open }));
      return slot!.bootstrapped[0];
    };
    expect(await first([])).toBe(2);
    expect(await first([4, 5])).toBe(3);
  });

  test('excludes the proxy’s inserted messages from its question', async () => {
    const demo = (seed: number): Demo => ({ component: null, seed, ordinal: 0, input: `i${seed}`, output: `o${seed}` });
    const [own, other, third] = [demo(11), demo(50), { ...demo(51), seed: null }];
    await add(1, [system('Do.')], [own, other, third]);
    const asked = [system('Do.'), ...demoMessages(other), ...demoMessages(third), user('q')];
    await rollout(1, [{ messages: asked }], { candidate: 1 });
    // Of another candidate.
    await rollout(2, [{ messages: asked }]);
    // Rollout 3 lacks a demonstration; rollout 5 has other roles.
    await rollout(3, [{ messages: asked }], { candidate: 1 });
    await rollout(
      4,
      [{ messages: [...demoMessages(own), ...demoMessages(other), ...demoMessages(third), user('q')] }],
      { candidate: 1 },
    );
    const roles = asked.map((message) => (message.role === 'assistant' ? user(message.content) : message));
    await rollout(5, [{ messages: [...demoMessages(own), ...roles] }], { candidate: 1 });
    expect(await survey([1, 2, 3, 4, 5])).toEqual([
      { component: null, bootstrapped: [1, 4], labeled: [], sameAnswer: [], room: 100 },
    ]);
    expect((await build({ component: null, bootstrapped: [1], labeled: [] }))[0]).toMatchObject({ input: 'q' });
    // Reflection does not take them for the question, either.
    const [example] = await org((tx) => readExamples(tx, job.jobId, [1]));
    expect(example).toMatchObject({ input: 'q' });
  });

  test('that share a right answer are named together', async () => {
    for (const [ordinal, expected] of ['late', 'lost', 'late', 'fee', 'lost '].entries()) {
      await rollout(ordinal, [{ answer: says('') }], { details: { expected } });
    }
    const [slot] = await survey([4, 3, 2, 1, 0]);
    expect(slot!.sameAnswer.map((group) => [...group].sort())).toEqual([
      [1, 4],
      [0, 2],
    ]);
  });

  test('has the right answer from its container, as a text or as JSON', async () => {
    const given = [
      { expected: 'north' },
      { expected_output: { a: [1] } },
      { expected: 4, expected_output: 'no' },
      { expected: '', expected_output: 'south' },
      { expected: null },
      { expected: 'x'.repeat(4_001) },
      ['expected'],
      { expected: ' \n' },
    ];
    for (const [ordinal, details] of given.entries()) await rollout(ordinal, [{ answer: says('') }], { details });
    await rollout(8, [{ messages: [user('a'), user('b')] }], { details: { expected: 'no' } });
    const [slot] = await survey([3, 2, 1, 0, 4, 5, 6, 7, 8]);
    expect(slot).toEqual({ component: null, bootstrapped: [], labeled: [3, 2, 1, 0], sameAnswer: [], room: 100 });
    await rollout(9, [{}], { details: { expected: 'right' } });
    const demos = await build({ component: null, bootstrapped: [9], labeled: [2, 1, 9, 3] });
    expect(demos.map(({ ordinal, output }) => [ordinal, output])).toEqual([
      [9, 'yes'],
      [2, '4'],
      [1, '{"a": [1]}'],
      [9, 'right'],
      [3, 'south'],
    ]);
    expect(await build()).toEqual([]);
  });
});

describe('marked prompts', () => {
  const prompt = [system('PLAN', 'plan'), system('ACT', 'act'), system('', 'hint')];
  const names = ['plan', 'act', 'hint'];
  const marks = (...found: string[]) => found.map((name) => ({ name }));
  beforeEach(async () => {
    job = await insertJob(db);
    await add(0, prompt, []);
  });

  test('have an entry for the first component of each call, in the prompt’s order', async () => {
    const call = (question: string, levers: CallRecord['levers']) => ({ messages: [user(question)], levers });
    await rollout(0, [
      call('unmarked', null),
      call('1', marks('act', 'plan', 'hint')),
      call('2', [{ name: 'act', text: 'ACT' }]),
      call('3', marks('act')),
    ]);
    await rollout(1, [call('foreign', marks('other')), call('4', marks('hint', 'act'))], {
      details: { expected: 'x' },
    });
    expect(await survey([1, 0], names)).toEqual([
      { component: 'plan', bootstrapped: [0], labeled: [], sameAnswer: [], room: 0 },
      { component: 'act', bootstrapped: [1, 0], labeled: [], sameAnswer: [], room: 0 },
    ]);
    const demos = await build(
      { component: 'plan', bootstrapped: [0], labeled: [] },
      { component: 'act', bootstrapped: [0, 1], labeled: [] },
    );
    expect(demos.map(({ component, input }) => [component, input])).toEqual([
      ['plan', '1'],
      ['act', '2'],
      ['act', '4'],
    ]);
    expect(await survey([1], names)).toEqual([
      { component: 'act', bootstrapped: [1], labeled: [1], sameAnswer: [], room: 100 },
    ]);
    expect(await survey([1], ['hint'])).toEqual([
      { component: 'hint', bootstrapped: [1], labeled: [1], sameAnswer: [], room: 100 },
    ]);
    expect(await survey([], names)).toEqual([]);
  });

  test('strip only the demonstrations of that component; a question that contains the instruction has none', async () => {
    const demo = (component: string): Demo => ({
      component,
      seed: 1,
      ordinal: 0,
      input: `i ${component}`,
      output: 'o',
    });
    await add(1, prompt, [demo('plan'), demo('act')]);
    const calls = [
      { messages: [...demoMessages(demo('plan')), user('q')], levers: marks('plan') },
      { messages: [...demoMessages(demo('plan')), user('q')], levers: marks('act') },
    ];
    await rollout(0, calls, { candidate: 1 });
    await rollout(1, [{ messages: [...demoMessages(demo('act')), user('PLAN: q')], levers: marks('act') }], {
      candidate: 1,
    });
    await rollout(2, [{ messages: [...demoMessages(demo('act')), user('ACT: q')], levers: marks('act') }], {
      candidate: 1,
    });
    expect(await survey([0, 1, 2], names)).toEqual([
      { component: 'plan', bootstrapped: [0], labeled: [], sameAnswer: [], room: 0 },
      { component: 'act', bootstrapped: [1], labeled: [], sameAnswer: [], room: 0 },
    ]);
    job = await insertJob(db);
    await add(0, [system('DO'), system('ACT', 'act')], []);
    for (const [ordinal, question] of ['DO: q', 'q'].entries())
      await rollout(ordinal, [{ messages: [user(question)], levers: marks('system') }]);
    expect(await survey([0, 1], ['system', 'act'])).toEqual([
      { component: 'system', bootstrapped: [1], labeled: [], sameAnswer: [], room: 100 },
    ]);
  });
});

describe('a candidate', () => {
  const demo: Demo = { component: null, seed: 0, ordinal: 0, input: 'a\0b\ud800', output: 'o' };

  test('stores its demonstrations for every reader of its prompt', async () => {
    const kept = { ...demo, input: 'a\ufffdb\ufffd' };
    await add(1, [system('x')], [demo]);
    await add(2, [system('x')]);
    const pool = await org((tx) => readPool(tx, job.jobId));
    expect([...pool].map(([version, { demos }]) => [version, demos])).toEqual([
      [0, []],
      [1, [kept]],
      [2, []],
    ]);
    await rollout(0, [], { candidate: 1 });
    const open = await org((tx) => readOpenPrompts(tx, job.jobId));
    expect([...open]).toEqual([[1, { messages: [system('x')], demos: [kept], graph: null }]]);
  });

  test('has its demonstrations as a lever if the search uses any, also with one component and for a baseline', async () => {
    const levers = async (version: number) =>
      [...(await org((tx) => readComponentLevers(tx, job.jobId, [candidateId(job.jobId, version)]))).values()]
        .flat()
        .map(({ name, version }) => `${name} ${version}`);
    await add(1, [system('Do.')], [demo]);
    await add(2, [system('Do better.')], [{ ...demo, ordinal: 9, seed: 4 }]);
    await add(3, [system('Do.')], [{ ...demo, output: 'other' }]);
    await add(4, [system('Do.')], [{ ...demo, input: 'other' }]);
    await add(5, [system('Do.')], [{ ...demo, component: 'system' }]);
    expect(await Promise.all([0, 1, 2, 3, 4, 5].map(levers))).toEqual([
      ['_demos 0', 'system 0'],
      ['_demos 1', 'system 0'],
      ['_demos 1', 'system 1'],
      ['_demos 2', 'system 0'],
      ['_demos 3', 'system 0'],
      ['_demos 4', 'system 0'],
    ]);
    job = await insertJob(db);
    await add(0, null, []);
    await add(1, [system('other')], [demo]);
    await org((tx) => setBaseline(tx, job.jobId, [system('found')]));
    expect([await levers(0), await levers(1)]).toEqual([
      ['_demos 0', 'system 0'],
      ['_demos 1', 'system 1'],
    ]);
    job = await insertJob(db);
    await add(0, null);
    await org((tx) => setBaseline(tx, job.jobId, [system('found')]));
    expect(await levers(0)).toEqual([]);
  });
});
