/** States of a model that stands still: it saves and loads its tokens. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepStates, type Reader } from '../real-text/model/kept-states.js';

class Sequence implements Reader {
  contextTokens: number[] = [];
  evaluated = 0;
  async adaptStateToTokens(tokens: number[]) {
    this.contextTokens = this.contextTokens.slice(0, tokens.length);
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

const piece = (number: number) => {
  return { text: `${number} `, tokens: Array.from({ length: 150 }, (_, at) => 1_000 * number + at) };
};
const chat = (...numbers: number[]) => numbers.map(piece);

test('a piece is read once after the same beginning, whichever sequence is free', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ chat: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }), row: fc.nat(), at: fc.nat(1) }), {
        maxLength: 40,
      }),
      async (calls) => {
        const states = await keepStates(folder, 60_000);
        const sequences = [new Sequence(), new Sequence()];
        const beginnings = new Set<string>();
        for (const { chat: numbers, row, at } of calls) {
          await states.read(sequences[at]!, chat(...numbers));
          expect(sequences[at]!.contextTokens).toEqual(chat(...numbers).flatMap(({ tokens }) => tokens));
          sequences[at]!.contextTokens.push(row);
          numbers.forEach((_, end) => beginnings.add(numbers.slice(0, end + 1).join()));
        }
        expect(sequences[0]!.evaluated + sequences[1]!.evaluated).toBe(150 * beginnings.size);
      },
    ),
    { numRuns: 30 },
  );
});

test('a call waits for the sequence that reads its next piece, and no longer', async () => {
  const states = await keepStates(folder, 9_000);
  const [first, second] = [new Sequence(), new Sequence()];
  let isRead = false;
  const reading = states.read(first, chat(1, 2, 4)).then(() => (isRead = true));
  expect(states.readElsewhere(chat(2, 1))).toBeNull();
  await states.readElsewhere(chat(1, 3));
  expect(states.readElsewhere(chat(1, 3))).toBeNull();
  expect(isRead).toBe(false);
  await Promise.all([reading, states.read(second, chat(1, 3))]);
  expect([first.evaluated, second.evaluated]).toEqual([450, 150]);
});

test('a call that fails lets those that wait for it try', async () => {
  const states = await keepStates(folder, 9_000);
  const broken = new Sequence();
  broken.saveStateToFile = () => Promise.reject(new Error('the disk is full'));
  const reading = states.read(broken, chat(1, 2));
  const waiting = states.readElsewhere(chat(1, 3));
  await expect(reading).rejects.toThrow('the disk is full');
  await waiting;
  expect(states.readElsewhere(chat(1, 2))).toBeNull();
});

test('beginnings that chats share outlast those of one chat', async () => {
  const states = await keepStates(folder, 1_500);
  let evaluated = 0;
  for (const row of [3, 4, 5, 6, 7, 8]) {
    const sequence = new Sequence();
    await states.read(sequence, chat(1, 2, row, 9));
    evaluated += sequence.evaluated;
  }
  expect(evaluated).toBe(150 * (2 + 6 * 2));
});

test('only the states that were used last are kept', async () => {
  const states = await keepStates(folder, 300);
  const sequence = new Sequence();
  for (const number of [1, 2, 1, 3, 1]) await states.read(sequence, chat(number));
  expect(sequence.evaluated).toBe(3 * 150);
  expect(await readdir(folder)).toHaveLength(2);
  await states.read(sequence, chat(2));
  expect(sequence.evaluated).toBe(4 * 150);
});
