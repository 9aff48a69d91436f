import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { symptomOf } from '../../../src/core/diagnosis/answers.js';
import type { DiagnosisCode, SearchRecord } from '../../../src/core/diagnosis/diagnosis.js';
import { diagnoseSearch } from '../../../src/core/diagnosis/search.js';
import { compared, sampled, search } from './records.js';

const unproven = { verdict: 'inconclusive', difference: 0.1, interval: { low: -0.2, high: 0.4 } } as const;
const ofBaseline: Partial<SearchRecord> = {
  isBaselineBest: true,
  best: 0.4,
  history: [0.4, 0.4],
  comparison: compared({ ...unproven, winner: 0.4, difference: 0 }),
};

describe('each case has its code and its action', () => {
  test.each<[DiagnosisCode, string | null, Partial<SearchRecord>]>([
    ['all_wrong', 'new_run', { rewards: { low: 0, high: 0 }, rows: [sampled()] }],
    ['rollouts_failed', null, { scored: 0, failed: 20, rewards: null, best: null }],
    ['answers_empty', 'new_run', { empty: { length: 30 } }],
    [
      'no_proposal_survived',
      'new_run',
      {
        ...ofBaseline,
        proposals: { written: 1, accepted: 0, rejected: 1, refused: [{ cause: 'duplicate', count: 36, example: 'x' }] },
      },
    ],
    ['nothing_to_gain', 'deploy', { ...ofBaseline, baseline: 1, best: 1, stoppedBy: 'solved' }],
    ['too_few_rows', 'more_rows', { comparison: compared({ ...unproven, rowsNeeded: 100 }) }],
    ['overfit', 'more_rows', { best: 1, comparison: compared({ verdict: 'worse', winner: 0.3, difference: -0.1 }) }],
    ['noise', 'more_rows', { best: 0.45, noise: 0.1, comparison: compared({ ...unproven, winner: 0.45 }) }],
    ['budget_ended', 'extend', { stoppedBy: 'max_rollouts', history: [0.4, 0.4, 0.4, 0.8] }],
    ['better', 'deploy', {}],
    ['worse', null, { best: 0.42, comparison: compared({ verdict: 'worse', winner: 0.35, difference: -0.05 }) }],
    ['no_better', 'read_rows', ofBaseline],
    ['no_better', 'more_rows', { ...ofBaseline, stoppedBy: 'max_rollouts', nothingLeft: 'train_solved' }],
    ['no_better', 'extend', { ...ofBaseline, stoppedBy: 'max_rollouts' }],
    ['no_better', 'read_rows', { ...ofBaseline, stoppedBy: 'max_rollouts', extendedAt: 2 }],
    ['too_few_rows', 'more_rows', { ...ofBaseline, evaluationRows: 8 }],
  ])('%s: %s', (code, kind, fields) => {
    const found = diagnoseSearch(search(fields))!;
    expect([found.code, found.action?.kind ?? null]).toEqual([code, kind]);
  });
});

test('an extension names its limit, the new total and the price of the difference', () => {
  const { action } = diagnoseSearch(search({ stoppedBy: 'max_rollouts', history: [0.4, 0.4, 0.8] }))!;
  expect(action!.extension).toEqual({ limit: 'max_rollouts', to: 600, costUsd: expect.closeTo(0.06, 10) });
  expect(action!.label).toMatch(/\b200 answers\b.*\$0\.06/);
  const graph = diagnoseSearch(search({ stoppedBy: 'max_rollouts', history: [0.4, 0.4, 0.8], isExtendable: false }))!;
  expect(graph.action).toMatchObject({ kind: 'new_run', label: expect.stringMatching(/\b600 answers/) });
});

describe('a search whose budget ended was still improving', () => {
  const late = { stoppedBy: 'max_rollouts', history: [0.4, 0.4, 0.4, 0.8] };
  test.each<[string, DiagnosisCode, Partial<SearchRecord>]>([
    ['with a winner of the last generations', 'budget_ended', { bestGeneration: 3 }],
    ['not with an early winner that was evaluated at the end', 'better', { bestGeneration: 1 }],
    ['not if the last extension brought nothing', 'better', { bestGeneration: 3, extendedAt: 4 }],
    ['also since the last extension', 'budget_ended', { bestGeneration: 3, extendedAt: 3 }],
    ['not if nothing is left to try', 'better', { nothingLeft: 'train_solved' }],
  ])('%s', (_, code, fields) => {
    const found = diagnoseSearch(search({ ...late, ...fields }))!;
    expect([found.code, found.action!.kind]).toEqual([code, code === 'better' ? 'deploy' : 'extend']);
  });
});

test('held-out rows that did not run are named', () => {
  const { facts } = diagnoseSearch(search({ ...ofBaseline, comparison: compared({ basis: 'evaluation' }) }))!;
  expect(facts.some((fact) => /^12 held-out rows did not run/.test(fact))).toBe(true);
  expect(diagnoseSearch(search())!.facts.join()).not.toMatch(/did not run/);
});

test.each([
  [false, 'rollouts_failed'],
  [true, null],
] as const)('a fault of some answers comes first in an evaluation, not in a search', (isSearch, symptom) => {
  expect(symptomOf(search({ isSearch, scored: 80, failed: 20 }))).toBe(symptom);
});

test('rows that are missing are the needed ones without those that were compared', () => {
  const { sentence } = diagnoseSearch(search({ comparison: compared({ ...unproven, rows: 12, rowsNeeded: 102 }) }))!;
  expect(sentence).toMatch(/\b90 more\b/);
});

test('counts proposals by their causes, the commonest first', () => {
  const refused = [{ cause: 'duplicate' as const, count: 36, example: 'x' }];
  const proposals = { written: 1, accepted: 0, rejected: 1, refused };
  const { sentence } = diagnoseSearch(search({ ...ofBaseline, proposals }))!;
  expect(sentence).toMatch(/\b37 proposals.*\b36 .*\b1 /);
});

const interval = fc.record({
  low: fc.double({ min: -1, max: 1, noNaN: true }),
  high: fc.double({ min: -1, max: 1, noNaN: true }),
});
const reward = fc.double({ min: 0, max: 1, noNaN: true });
const count = fc.nat(500);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const anySearch: fc.Arbitrary<SearchRecord> = fc
  .record({
    isEnded: fc.boolean(),
    scored: count,
    failed: count,
    rewards: maybe(fc.oneof(fc.constant({ low: 0, high: 0 }), fc.constant({ low: 0, high: 1 }))),
    empty: fc.oneof(fc.constant({}), fc.record({ length: count })),
    rows: fc.array(
      fc.record({ row: count, answered: maybe(fc.string()), expected: fc.array(fc.string(), { maxLength: 2 }) }),
      { maxLength: 12 },
    ),
    labels: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 12 }),
    isLocal: fc.boolean(),
    thing: fc.constantFrom('prompt' as const, 'graph' as const),
    unit: fc.constantFrom('row' as const, 'task' as const),
    baseline: maybe(reward),
    best: maybe(reward),
    isBaselineBest: fc.boolean(),
    comparison: maybe(
      fc.record({
        verdict: fc.constantFrom('better' as const, 'worse' as const, 'inconclusive' as const),
        basis: fc.constantFrom('heldout' as const, 'evaluation' as const),
        rows: fc.integer({ min: 1, max: 500 }),
        baseline: reward,
        winner: reward,
        winnerInterval: interval,
        difference: fc.double({ min: -1, max: 1, noNaN: true }),
        interval,
        rowsNeeded: maybe(fc.nat(100_000)),
      }),
    ),
    noise: maybe(reward),
    proposals: fc.record({
      written: count,
      accepted: count,
      rejected: count,
      refused: fc.array(
        fc.record({
          cause: fc.constantFrom('duplicate' as const, 'too_long' as const, 'unusable' as const, 'failed' as const),
          count: fc.integer({ min: 1, max: 99 }),
          example: fc.string(),
        }),
        { maxLength: 4 },
      ),
    }),
    stoppedBy: maybe(fc.constantFrom('max_rollouts', 'max_cost_usd', 'max_minutes', 'generations', 'cancelled')),
    nothingLeft: maybe(fc.constantFrom('train_solved', 'solved', 'generations')),
    history: fc.array(reward, { maxLength: 9 }),
    bestGeneration: maybe(fc.nat(9)),
    extendedAt: maybe(fc.nat(9)),
    evaluationRows: maybe(fc.integer({ min: 1, max: 50 })),
    heldoutRows: maybe(fc.nat(50)),
    rollouts: count,
    limits: fc.record({
      max_rollouts: maybe(count),
      max_cost_usd: maybe(fc.double({ min: 0, max: 9, noNaN: true })),
      max_minutes: maybe(fc.double({ min: 0, max: 90, noNaN: true })),
    }),
    costUsd: maybe(fc.double({ min: 0, max: 9, noNaN: true })),
    isExtendable: fc.boolean(),
  })
  .map(({ rows, ...fields }) => search({ ...fields, rows: rows.map((row) => sampled(row)) }));

const mine = /\b(?:seed|lever|policy|sensor|rollout_|NaN|Infinity|undefined|null)/;

describe('of any search', () => {
  test('there are at most three facts and three rows, each a sentence in plain words', () => {
    fc.assert(
      fc.property(anySearch, (record) => {
        const quoted = { ...record, rows: [], labels: ['one', 'two'], proposals: { ...record.proposals, refused: [] } };
        const found = diagnoseSearch(quoted);
        if (!found) return;
        expect(found.facts.length).toBeLessThanOrEqual(3);
        for (const sentence of [found.sentence, ...found.facts]) {
          expect(sentence).toMatch(/^[A-Z0-9].*[.]$/s);
          expect(sentence).not.toMatch(mine);
        }
        expect(found.action?.label ?? 'A').toMatch(/^[A-Z]/);
      }),
    );
  });

  test('rows are of the sample, and an open search is diagnosed by its answers alone', () => {
    fc.assert(
      fc.property(anySearch, (record) => {
        const found = diagnoseSearch(record);
        const rows = new Set(record.rows.map(({ row }) => row));
        expect((found?.rows.length ?? 0) <= 3 && found?.rows.every(({ row }) => rows.has(row))).not.toBe(false);
        if (found && (!record.isEnded || record.best === null)) expect(found.code).toBe(symptomOf(record));
      }),
    );
  });

  test('all answers are wrong only where each earned 0, and that precedes what was found', () => {
    fc.assert(
      fc.property(anySearch, (record) => {
        const isZero = record.rewards?.low === 0 && record.rewards.high === 0;
        const isAll = record.isEnded && record.scored > 0 && isZero && Object.keys(record.empty).length === 0;
        const code = diagnoseSearch(record)?.code;
        if (isAll) expect(code).toBe('all_wrong');
        if (code === 'all_wrong') expect(isZero).toBe(true);
      }),
    );
  });

  test('an extension raises the limit that ended the search', () => {
    fc.assert(
      fc.property(anySearch, (record) => {
        const { action } = diagnoseSearch(record) ?? {};
        if (!action?.extension) return;
        const { limit, to } = action.extension;
        expect(limit).toBe(record.stoppedBy);
        expect(to).toBeGreaterThan(record.limits[limit]!);
        expect(record.isExtendable).toBe(true);
        expect(record.nothingLeft).toBeNull();
      }),
    );
  });
});
