/** The task: messages of five of the sample's labels, under plain names. */
import { join } from 'node:path';
import { readIntents, type Intent } from '../../examples/intents/container.js';
import { seedRng, shuffle } from '../../src/core/math/random.js';

const names: Readonly<Record<string, string>> = {
  card_logistics: 'delivery',
  payments_repair: 'transfer',
  access_desk: 'password',
  treasury_quotes: 'currency',
  cash_ops: 'cash',
};
export const labels = Object.values(names).sort();

export const instruction = [
  'Classify the message. Answer with exactly one of the labels, and nothing else.',
  `Labels: ${labels.join(', ')}`,
].join('\n');

/** Seeds are indexes of the messages; held-out messages are never shown to an optimizer. */
export interface Split {
  messages: Intent[];
  trainSeeds: number[];
  evaluationSeeds: number[];
  heldoutSeeds: number[];
}

const sizes = { train: 60, evaluation: 40, heldout: 100 } as const;

/** The messages in an order of the run's own. */
export async function splitOf(run: number): Promise<Split> {
  const all = await readIntents(join(import.meta.dirname, '..', '..', 'examples', 'intents', 'data.jsonl'));
  const named = all.flatMap(({ text, label }) => {
    const name = names[label];
    return name === undefined ? [] : [{ text, label: name }];
  });
  const [messages] = shuffle(seedRng(run), named);
  const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
  return {
    messages,
    trainSeeds: range(0, sizes.train),
    evaluationSeeds: range(sizes.train, sizes.evaluation),
    heldoutSeeds: range(sizes.train + sizes.evaluation, sizes.heldout),
  };
}
