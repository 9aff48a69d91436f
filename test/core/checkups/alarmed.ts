import { alarmLevel, checkRows, checkTraffic, type Checked } from '../../../src/core/checkups/verdict.js';
import { nextUint32, seedRng, type Rng } from '../../../src/core/math/random.js';
import { range } from '../../support/range.js';
import { seedOf } from '../../support/runs.js';

const versions = 1_000;
const checkups = 30;
/** Of which a difference would be the same in any case. */
const maxChange = 1e-9;

/** Right and wrong answers. */
function coins(seed: number) {
  let rng: Rng = seedRng(seed, 7);
  return (rows: number, right: number): number[] =>
    range(0, rows).map(() => {
      const [value, next] = nextUint32(rng);
      rng = next;
      return value / 2 ** 32 < right ? 1 : 0;
    });
}

export type Look = (now: number[], release: number[], level: number) => Checked;
export const looks: Record<'rows' | 'traffic', Look> = {
  rows: (now, baseline, level) => checkRows({ seeds: range(0, now.length), now, baseline, maxChange, level }),
  traffic: (now, baseline, level) => checkTraffic({ now, baseline, maxChange, level }),
};

/** The share of versions with an alarm in any of their checkups. */
export function alarmed(look: Look, rows: number, right: number, after = right): number {
  const toss = coins(seedOf(`alarms of ${rows} rows at ${right}`, 1));
  const isAlarmed = () => {
    const release = toss(rows, right);
    return range(1, checkups).some((number) => {
      const { verdict } = look(toss(rows, after), release, alarmLevel({ number, comparisons: 1 }));
      return verdict === 'better' || verdict === 'worse';
    });
  };
  return range(0, versions).filter(isAlarmed).length / versions;
}
