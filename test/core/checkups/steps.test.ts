import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextStep, partNames, verdictOf, type CheckupRecord, type Part } from '../../../src/core/checkups/steps.js';
import { checkRows, checkTraffic } from '../../../src/core/checkups/verdict.js';
import { range } from '../../support/range.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: a checkup ends; no job runs twice; a session runs iff it was asked for and wanted;
// a winner is judged on the rows of traffic.

const ones = (count: number) => Array<number>(count).fill(1);
const zeros = (count: number) => Array<number>(count).fill(0);
const record = (more: Partial<CheckupRecord>): CheckupRecord => ({
  maxChange: 0.02,
  look: { number: 1, comparisons: 1 },
  parts: { rows: { seeds: range(0, 20), baseline: ones(20) }, traffic: { seeds: range(0, 20), baseline: null } },
  improve: null,
  rewards: {},
  session: null,
  ...more,
});

test('runs each job at most once, and searches iff that is wanted', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(null, 'if_worse' as const, 'always' as const),
      fc.boolean(),
      fc.boolean(),
      fc.infiniteStream(fc.constantFrom(0, 1, null)),
      (improve, hasWinner, hasRows, stream) => {
        const { parts } = record({});
        const known = record({ improve, parts: hasRows ? parts : { ...parts, rows: null } });
        const ran: Part[] = [];
        for (;;) {
          const { judged, run } = nextStep(known);
          if (run === null) {
            const isWanted = improve === 'always' || (improve === 'if_worse' && verdictOf(judged) === 'worse');
            expect(ran.includes('session')).toBe(isWanted);
            expect(judged.improvement !== undefined).toBe(isWanted && hasWinner);
            expect(judged.rows !== undefined).toBe(hasRows);
            return;
          }
          expect(ran).not.toContain(run);
          ran.push(run);
          expect(ran.length).toBeLessThanOrEqual(partNames.length);
          if (run === 'session') known.session = { winner: hasWinner ? 'cand_1' : null };
          else known.rewards[run] = range(0, 20).map(() => stream.next().value ?? null);
        }
      },
    ),
    { numRuns: pureRuns(300) },
  );
});

describe('the verdict', () => {
  const rule = { maxChange: 0.02, level: 0.025 };
  const rows = (now: (number | null)[], baseline: (number | null)[] | null, more = rule) =>
    checkRows({ seeds: now.map((_, at) => at), now, baseline, ...more });

  test('is first without a baseline, and compares nothing', () => {
    expect(rows(ones(20), null)).toMatchObject({ verdict: 'first', reward: 1, rows: 20, compared: null });
  });

  test('is same iff the whole interval is within max_change', () => {
    expect(rows(ones(183), ones(183))).toMatchObject({ verdict: 'same', compared: { difference: 0, pValue: 1 } });
    expect(rows(ones(182), ones(182)).verdict).toBe('inconclusive');
  });

  test('is worse, with the rows that lost first, or better', () => {
    const worse = rows([...zeros(12), ...ones(8)], ones(20));
    expect(worse).toMatchObject({ verdict: 'worse', worseCount: 12 });
    expect(worse.worse[0]).toEqual({ seed: 0, today: 1, reward: 0 });
    expect(worse.compared!.high).toBeLessThan(0);
    expect(rows(ones(20), [...zeros(12), ...ones(8)]).verdict).toBe('better');
  });

  test('needs a smaller p-value than the level of its number', () => {
    const now = [...zeros(7), ...ones(13)];
    const { pValue } = rows(now, ones(20)).compared!;
    const verdictAt = (level: number) => rows(now, ones(20), { ...rule, level }).verdict;
    expect([verdictAt(pValue), verdictAt(pValue * 0.999)]).toEqual(['worse', 'inconclusive']);
  });

  test('counts failures on both sides as the worst reward', () => {
    const failing = [...Array<null>(10).fill(null), ...ones(10)];
    expect(rows(failing, failing)).toMatchObject({ reward: 0.5, compared: { difference: 0 } });
    expect(checkTraffic({ now: failing, baseline: ones(20), ...rule })).toMatchObject({
      verdict: 'worse',
      compared: { difference: -0.5 },
    });
  });

  test('of traffic whose answers are all alike says how many unseen ones may differ', () => {
    const verdictOn = (now: number[], baseline: number[]) => checkTraffic({ now, baseline, ...rule }).verdict;
    expect(verdictOn(zeros(2), ones(2))).toBe('inconclusive');
    expect(verdictOn(zeros(20), ones(20))).toBe('worse');
    expect(verdictOn(ones(20), ones(20))).toBe('inconclusive');
    expect(verdictOn(ones(400), ones(400))).toBe('same');
  });
});
