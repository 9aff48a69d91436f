import { expect, test } from '@jest/globals';
import { diagnoseAnswers } from '../../../src/core/diagnosis/answers.js';
import type { AnswersRecord, SampledRow } from '../../../src/core/diagnosis/diagnosis.js';
import { sampled, search } from './records.js';

const factOf = (row: Partial<SampledRow>, fields: Partial<AnswersRecord> = {}) =>
  diagnoseAnswers({ ...search(), isSearch: false, rewards: { low: 0, high: 0 }, rows: [sampled(row)], ...fields })!
    .facts[0]!;

test.each<[string, string | null, Partial<SampledRow>, string | null]>([
  ['contains reads a label in a sentence', 'exact', { answered: 'It is card_control.' }, 'contains'],
  ['contains does not read another spelling', 'exact', { answered: 'Card Control' }, null],
  ['numeric reads a number in a sentence', 'exact', { expected: ['18'], answered: 'So it is 18.' }, 'numeric'],
  ['numeric reads the last number', 'numeric', { expected: ['18'], answered: '18 in 3 days' }, 'last number'],
  ['no scorer is named for a container', null, { answered: 'It is card_control.' }, null],
])('%s', (_, scorer, row, named) => {
  const fact = factOf(row, { scorer });
  for (const name of ['contains', 'numeric', 'last number']) if (named === null) expect(fact).not.toContain(name);
  if (named !== null) expect(fact).toContain(named);
});
