import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextStep, partNames, type MigrationRecord, type Part } from '../../../src/core/migrations/steps.js';
import { splitForMigration } from '../../../src/core/migrations/split.js';
import { judgeSide, leastRows } from '../../../src/core/migrations/verdict.js';
import { splitBounds } from '../../../src/core/search/split.js';
import { range } from '../../support/range.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: a migration ends; no job runs twice; a prompt is no worse iff the lower end of the
// interval is at least -maxLoss; a session runs iff it was asked for; rows that decide are never
// those of the session.

const rewards = (count: number) => fc.array(fc.constantFrom(0, 1, null), { minLength: count, maxLength: count });
const modes = fc.constantFrom('if_worse' as const, 'always' as const, 'never' as const);
const record = (more: Partial<MigrationRecord>): MigrationRecord => ({
  maxLoss: 0.1,
  optimize: 'if_worse',
  seeds: range(0, 50),
  rewards: {},
  session: null,
  ...more,
});

test('runs each job at most once, and ends with the better side', () => {
  fc.assert(
    fc.property(
      modes,
      fc.boolean(),
      fc.constantFrom(0.01, 0.2, 1),
      fc.infiniteStream(fc.constantFrom(0, 1, null)),
      (optimize, hasWinner, maxLoss, stream) => {
        const known = record({ optimize, maxLoss, seeds: range(0, 20) });
        const ran: Part[] = [];
        for (;;) {
          const { judged, next } = nextStep(known);
          if (next.kind === 'conclude') {
            const verdicts = Object.values(judged).map(({ verdict }) => verdict);
            expect(judged[next.side]!.verdict === 'no_worse').toBe(verdicts.includes('no_worse'));
            const isWanted = optimize === 'always' || judged.same_prompt!.verdict !== 'no_worse';
            expect(ran.includes('session')).toBe(optimize !== 'never' && isWanted);
            if (!hasWinner) expect(next.side).toBe('same_prompt');
            return;
          }
          expect(ran).not.toContain(next.part);
          ran.push(next.part);
          expect(ran.length).toBeLessThanOrEqual(partNames.length);
          if (next.part === 'session') known.session = { winner: hasWinner ? 'cand_1' : null };
          else known.rewards[next.part] = range(0, 20).map(() => stream.next().value ?? null);
        }
      },
    ),
    { numRuns: pureRuns(300) },
  );
});

test('asks the new model first', () => {
  expect(nextStep(record({})).next).toEqual({ kind: 'run', part: 'same_prompt' });
});

describe('the verdict', () => {
  const judged = (candidate: (number | null)[], incumbent: (number | null)[], maxLoss: number) =>
    judgeSide({ seeds: candidate.map((_, at) => at), maxLoss, candidate, incumbent });

  test('is no_worse iff the interval does not reach below the loss', () => {
    fc.assert(
      fc.property(rewards(30), rewards(30), fc.constantFrom(0.02, 0.2, 0.5), (ours, theirs, maxLoss) => {
        const { verdict, low, high, rows } = judged(ours, theirs, maxLoss);
        if (rows === 0) expect(verdict).toBe('inconclusive');
        else expect(verdict).toBe(low >= -maxLoss ? 'no_worse' : high < 0 ? 'worse' : 'inconclusive');
      }),
      { numRuns: pureRuns(500) },
    );
  });

  test.each([0.01, 0.02, 0.05, 0.2])('needs as many equal rows as leastRows says, for %d', (maxLoss) => {
    const verdictOf = (count: number) => judged(Array(count).fill(1), Array(count).fill(1), maxLoss).verdict;
    expect([verdictOf(leastRows(maxLoss) - 1), verdictOf(leastRows(maxLoss))]).toEqual(['inconclusive', 'no_worse']);
  });

  test('says how many rows would decide', () => {
    const { rowsNeeded, verdict } = judged(Array(20).fill(1), Array(20).fill(1), 0.02);
    expect([verdict, rowsNeeded]).toEqual(['inconclusive', leastRows(0.02)]);
    // Four rows lost and two won.
    const ours = [...Array(96).fill(1), ...Array(4).fill(0)];
    const mixed = judged(ours, [0, 0, ...Array(98).fill(1)], 0.05);
    expect(mixed.verdict).toBe('inconclusive');
    expect(mixed.rowsNeeded).toBeGreaterThan(200);
    expect(judged(Array(20).fill(0), Array(20).fill(1), 0.02)).toMatchObject({ verdict: 'worse', rowsNeeded: null });
  });

  test('names the rows that lose most first, failed ones as the worst reward', () => {
    const { worse, worseCount } = judged([1, 0.5, null, 1], [1, 1, 1, 0], 0.1);
    expect([worseCount, worse]).toEqual([
      2,
      [
        { seed: 2, today: 1, reward: 0 },
        { seed: 1, today: 1, reward: 0.5 },
      ],
    ]);
  });
});

describe('the split', () => {
  const rows = (count: number, unseen: number[] = []) => ({
    groups: range(0, count).map((row) => [row]),
    numRows: count,
    categories: null,
    unseen,
  });

  test('keeps rows that decide from the session', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 300 }), fc.integer({ min: 0, max: 150 }), (count, seen) => {
        const split = splitForMigration(rows(count, range(0, Math.min(seen, count - 1))), splitBounds(200), 10_000)!;
        const { train, evaluation, heldout } = split.search!;
        const searched = new Set([...train, ...evaluation, ...heldout]);
        expect(split.deciding.filter((row) => searched.has(row))).toEqual([]);
        expect(split.deciding.length).toBeGreaterThan(0);
        expect(train.length).toBeGreaterThan(0);
      }),
      { numRuns: pureRuns(300) },
    );
  });

  test('lets unseen rows decide if others are left, else half of all rows', () => {
    expect(splitForMigration(rows(40, range(0, 12)), splitBounds(200), 10_000)!.deciding).toEqual(range(0, 12));
    expect(splitForMigration(rows(40, range(0, 35)), splitBounds(200), 10_000)!.deciding).toHaveLength(20);
    expect(splitForMigration(rows(19), splitBounds(200), 10_000)).toBeNull();
    expect(splitForMigration(rows(5), null, 10_000)).toEqual({ deciding: range(0, 5), search: null });
  });
});
