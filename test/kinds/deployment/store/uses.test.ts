import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { readUses, writeUses, type UseCounter } from '../../../../src/kinds/deployment/store/uses.js';
import { databaseOfFile } from '../../../support/database-of-file.js';
import { runs } from '../../../support/runs.js';

// Invariant: what a process adds counts once, in the minute and the day of Postgres in which it is
// written first, whatever is repeated or arrives late.

const db = databaseOfFile(4);
const write = (...counters: UseCounter[]) => db.orgApart('default', (tx) => writeUses(tx, 'default', counters));
const read = (...subjects: string[]) => db.orgApart('default', (tx) => readUses(tx, 'default', subjects));
/** Dates stored counts later or earlier, as if the clock of Postgres had moved. */
const shift = (subject: string, minutes: number, days: number) =>
  db.org('default', (tx) =>
    tx.query(
      `update deployment_uses set minute = minute + make_interval(mins => $2), day = day + $3::int where subject = $1`,
      [subject, minutes, days],
    ),
  );

const minute = async () =>
  (await db.org('default', (tx) => tx.query('select extract(minute from clock_timestamp())::int as m')))[0]!['m'];

test('a subject without a row has used nothing', async () => {
  const [uses] = await read('nobody');
  expect(uses).toMatchObject({ subject: 'nobody', tokens: 0, usd: 0 });
  expect(uses!.minuteSecondsLeft).toBeLessThanOrEqual(60);
  expect(uses!.daySecondsLeft).toBeLessThanOrEqual(86_400);
});

type Step =
  | { kind: 'add'; process: number; tokens: number; usd: number }
  | { kind: 'write' | 'repeat'; process: number }
  | { kind: 'later'; minutes: number; days: number };
const process = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add'), process, tokens: fc.nat(1_000), usd: fc.nat(8) }),
  fc.record({ kind: fc.constantFrom('write', 'repeat'), process }),
  fc.record({ kind: fc.constant('later'), minutes: fc.integer({ min: 1, max: 3 }), days: fc.nat(1) }),
);

test('any writes of several processes, in any order, while time goes on', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const subject = randomUUID();
      const begun = await minute();
      const fresh = () => ({ subject, counterId: randomUUID(), tokens: 0, usd: 0 });
      const counters = [fresh(), fresh(), fresh()];
      const written = counters.map((counter) => [{ ...counter }]);
      const now = { tokens: 0, usd: 0 };
      for (const each of steps) {
        if (each.kind === 'later') {
          await shift(subject, -each.minutes, -each.days);
          now.tokens = 0;
          if (each.days > 0) now.usd = 0;
          continue;
        }
        const counter = counters[each.process]!;
        const states = written[each.process]!;
        if (each.kind === 'add') {
          counter.tokens += each.tokens;
          counter.usd += each.usd;
        } else if (each.kind === 'write') {
          const last = states.at(-1)!;
          now.tokens += counter.tokens - last.tokens;
          now.usd += counter.usd - last.usd;
          states.push({ ...counter });
          await write({ ...counter });
        } else await write(states[Math.floor(states.length / 2)]!);
      }
      const [uses] = await read(subject);
      expect(uses!.usd).toBe(now.usd);
      if ((await minute()) === begun) expect(uses!.tokens).toBe(now.tokens);
    }),
    { numRuns: runs(25, 200) },
  );
});

test('a clock that goes back stays in the latest minute and day, which the wait includes', async () => {
  const subject = randomUUID();
  const counter = { subject, counterId: randomUUID(), tokens: 5, usd: 1 };
  await write(counter);
  await shift(subject, 3, 1);
  await write({ ...counter, tokens: 7, usd: 2 });
  const [uses] = await read(subject);
  expect(uses).toMatchObject({ tokens: 7, usd: 2 });
  expect(uses!.minuteSecondsLeft).toBeGreaterThan(120);
  expect(uses!.daySecondsLeft).toBeGreaterThan(86_400);
});
