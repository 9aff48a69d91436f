/** States of a model that stands still: it saves and loads its tokens. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepStates, type KeptStates, type Reader } from '../real-text/model/kept-states.js';

class Sequence implements Reader {
  contextTokens: number[] = [];
  evaluated = 0;
  async adaptStateToTokens(tokens: number[]) {
    this.contextTokens = this.contextTokens.slice(0, tokens.length);
  }
  async clearHistory() {
    this.contextTokens = [];
  }
  async evaluateWithoutGeneratingNewTokens(tokens: number[]) {
    this.evaluated += tokens.length;
    await new Promise((resolve) => setImmediate(resolve));
    this.contextTokens.push(...tokens);
  }
  saveStateToFile = (file: string) => writeFile(file, JSON.stringify(this.contextTokens));
  async loadStateFromFile(file: string) {
    this.contextTokens = JSON.parse(await readFile(file, 'utf8')) as number[];
  }
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-states-'));
});
afterAll(() => rm(folder, { recursive: true }));

const tokensOf = (prompt: number) => Array.from({ length: 300 }, (_, at) => 1_000 * prompt + at);
const read = (states: KeptStates, sequence: Sequence, prompt: number) =>
  states.read(sequence, `${prompt}`, tokensOf(prompt));

test('a beginning is read once, whichever sequence is free and whatever came between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ prompt: fc.nat(3), row: fc.nat(), at: fc.nat(1) }), { maxLength: 40 }),
      async (calls) => {
        const states = await keepStates(folder, 4);
        const sequences = [new Sequence(), new Sequence()];
        for (const { prompt, row, at } of calls) {
          await read(states, sequences[at]!, prompt);
          expect(sequences[at]!.contextTokens).toEqual(tokensOf(prompt));
          sequences[at]!.contextTokens.push(row);
        }
        const prompts = new Set(calls.map(({ prompt }) => prompt)).size;
        expect(sequences[0]!.evaluated + sequences[1]!.evaluated).toBe(300 * prompts);
      },
    ),
    { numRuns: 30 },
  );
});

test('a call waits for the sequence that reads its beginning', async () => {
  const states = await keepStates(folder, 4);
  const [first, second] = [new Sequence(), new Sequence()];
  const reading = read(states, first, 1);
  expect(states.readElsewhere('2')).toBeNull();
  await states.readElsewhere('1');
  await reading;
  expect(states.readElsewhere('1')).toBeNull();
  await read(states, second, 1);
  expect([first.evaluated, second.evaluated]).toEqual([300, 0]);
});

test('only the states that were used last are kept', async () => {
  const states = await keepStates(folder, 2);
  const sequence = new Sequence();
  for (const prompt of [1, 2, 1, 3, 1]) await read(states, sequence, prompt);
  expect(sequence.evaluated).toBe(3 * 300);
  expect(await readdir(folder)).toHaveLength(2);
  await read(states, sequence, 2);
  expect(sequence.evaluated).toBe(4 * 300);
});
