import { describe, expect, test } from '@jest/globals';
import { driveGraph, type ModelReply } from '../../../src/core/graphs/run/drive.js';
import type { Graph, LlmStep } from '../../../src/core/graphs/graph.js';
import { outcomeOf, stepValues } from '../../../src/core/graphs/run/run.js';

// driveGraph makes every pending call, a few at a time, until its answer is usable, and leaves no
// call in flight.

const step = (id: string, more: Partial<LlmStep> = {}): LlmStep => ({
  id,
  type: 'llm',
  inputs: { text: 'input.text' },
  messages: [{ role: 'user', content: '{{text}}' }],
  output: { field: 'said' },
  ...more,
});
const graphOf = (steps: Graph['steps'], output: string): Graph => ({ inputs: ['text'], steps, output });
const input = { text: 't' };
const reply = (text: string): ModelReply => ({ ok: true, text });
const answer = async (text: string) => Promise.resolve(reply(text));

describe('driveGraph', () => {
  test('makes a call once its dependencies have values', async () => {
    const called: string[] = [];
    const second = step('b', { inputs: { text: 'a.said' } });
    const { run, fault } = await driveGraph(graphOf([step('a'), second], 'b.said'), input, (call) => {
      called.push(`${call.key}: ${call.messages[0]!.content}`);
      return answer(`${call.key}!`);
    });
    expect(called).toEqual(['a: t', 'b: a!']);
    expect([outcomeOf(run), fault]).toEqual([{ status: 'done', value: 'b!' }, null]);
    expect(stepValues(run)).toEqual({ a: { said: 'a!' }, b: { said: 'b!' } });
  });

  test('has at most eight calls in flight', async () => {
    let underWay = 0;
    let most = 0;
    const graph = graphOf([step('a', { samples: 20 })], 'a');
    const { run } = await driveGraph(graph, input, async (call) => {
      most = Math.max(most, (underWay += 1));
      await new Promise((later) => setImmediate(later));
      underWay -= 1;
      return reply(call.key);
    });
    expect(outcomeOf(run)).toMatchObject({ status: 'done' });
    expect(most).toBe(8);
  });

  test('repeats a call with an unusable answer, then fails without an infrastructure fault', async () => {
    const graph = graphOf([step('a', { tries: 3, output: { schema: { type: 'number' } } })], 'a');
    const tries: number[] = [];
    const ask = (texts: string[]) =>
      driveGraph(graph, input, (_call, n) => {
        tries.push(n);
        return answer(texts[n]!);
      });
    expect(outcomeOf((await ask(['x', '7'])).run)).toEqual({ status: 'done', value: 7 });
    const { run, fault } = await ask(['x', 'y', 'z']);
    expect(outcomeOf(run)).toEqual({
      status: 'failed',
      step: 'a',
      reason: expect.stringContaining('None of 3 answers is usable'),
    });
    expect(fault).toEqual({ code: 'step_answer_unusable', infrastructure: false });
    expect(tries).toEqual([0, 1, 0, 1, 2]);
  });

  test('reports a single unusable answer', async () => {
    const graph = graphOf([step('a', { tries: 1, output: { schema: { type: 'number' } } })], 'a');
    const { run } = await driveGraph(graph, input, () => answer('x'));
    expect(outcomeOf(run)).toMatchObject({ reason: expect.stringMatching(/^The answer is not usable: /) as unknown });
  });

  test.each([true, false])('fails if a model call fails, and reports infrastructure: %s', async (infrastructure) => {
    const ask = (): Promise<ModelReply> =>
      Promise.resolve({ ok: false, code: 'step_refused', message: 'no', infrastructure });
    const { run, fault } = await driveGraph(graphOf([step('a')], 'a.said'), input, ask);
    expect(outcomeOf(run)).toEqual({ status: 'failed', step: 'a', reason: 'no' });
    expect(fault).toEqual({ code: 'step_refused', infrastructure });
  });

  describe('with failed branches', () => {
    const numbers = { schema: { type: 'number' } } as const;
    const graph = graphOf(
      [
        step('a', { tries: 1, output: numbers }),
        step('b', { tries: 1, output: numbers }),
        step('c'),
        { id: 'all', type: 'transform', op: 'list', inputs: { c: 'c', b: 'b', a: 'a' } },
      ],
      'all',
    );
    /** Drives the graph with these answers in this order. */
    async function inOrder(answers: Record<string, ModelReply>, order: readonly string[]) {
      const called: string[] = [];
      const comes = new Map<string, () => void>();
      const driven = driveGraph(graph, input, async ({ key }) => {
        called.push(key);
        await new Promise<void>((come) => comes.set(key, come));
        return answers[key]!;
      });
      for (const key of order) {
        comes.get(key)!();
        await new Promise((later) => setImmediate(later));
      }
      const { run, fault } = await driven;
      return { outcome: outcomeOf(run), fault, called };
    }

    test('finishes the other branches and reports the first failed step of the graph', async () => {
      const answers = { a: reply('x'), b: reply('y'), c: reply('z') };
      const first = await inOrder(answers, ['a', 'b', 'c']);
      expect(first).toMatchObject({ outcome: { status: 'failed', step: 'a' }, called: ['a', 'b', 'c'] });
      expect(await inOrder(answers, ['c', 'b', 'a'])).toEqual(first);
      expect(await inOrder(answers, ['b', 'a', 'c'])).toEqual(first);
    });

    test('reports an infrastructure failure first', async () => {
      const refused: ModelReply = { ok: false, code: 'step_refused', message: '503', infrastructure: true };
      const answers = { a: reply('x'), b: refused, c: reply('z') };
      for (const order of [
        ['a', 'b', 'c'],
        ['b', 'a', 'c'],
      ]) {
        const { outcome, fault } = await inOrder(answers, order);
        expect([outcome, fault]).toMatchObject([{ step: 'b' }, { infrastructure: true }]);
      }
    });
  });

  test('rejects once no call is in flight, and starts no other call', async () => {
    let ended = 0;
    let started = 0;
    const graph = graphOf([step('a', { samples: 20 })], 'a');
    const driven = driveGraph(graph, input, async (call) => {
      started += 1;
      if (call.key === 'a') throw new Error('stop');
      await new Promise((later) => setImmediate(later));
      ended += 1;
      return reply('x');
    });
    await expect(driven).rejects.toThrow('stop');
    expect([started, ended]).toEqual([8, 7]);
  });
});
