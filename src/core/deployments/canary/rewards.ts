/**
 * Evidence of a metric: values of the new version, each in a pair with a value of the live one that
 * was reported at about the same time. So traffic may drift, and shares may change with the steps.
 */
import { addPairs, judgeTest, openTest, type SequentialTest, type TestVerdict } from '../../math/sequential-test.js';
import { sampleOf } from '../../math/statistics.js';
import { falseDecisions } from './plan.js';

/** Values of the live version that set the unit of the test, before the first pair. */
const valuesForUnit = 20;
/** Values that wait for one of the other version. */
const mostWaiting = 100;

export interface MetricValue {
  isCanary: boolean;
  value: number;
}

/** Sums of one version. */
interface Sum {
  count: number;
  mean: number;
}

/** Plain JSON of bounded size. */
export interface RewardEvidence {
  /** Of the live version, until they set the unit. */
  before: readonly number[];
  /** null: the unit is not set yet. */
  test: SequentialTest | null;
  /** Values without a pair, of one version. */
  waiting: { isCanary: boolean; values: readonly number[] };
  live: Sum;
  canary: Sum;
}

export const noRewards: RewardEvidence = {
  before: [],
  test: null,
  waiting: { isCanary: true, values: [] },
  live: { count: 0, mean: 0 },
  canary: { count: 0, mean: 0 },
};

/** Adds values in the order in which they were reported. */
export function addRewards(evidence: RewardEvidence, values: readonly MetricValue[]): RewardEvidence {
  return values.reduce(addReward, evidence);
}

function addReward(evidence: RewardEvidence, { isCanary, value }: MetricValue): RewardEvidence {
  const side = isCanary ? 'canary' : 'live';
  const counted = { ...evidence, [side]: addTo(evidence[side], value) };
  if (evidence.test) return pair(counted, evidence.test, { isCanary, value });
  if (isCanary) return { ...counted, waiting: { isCanary, values: lastOf([...evidence.waiting.values, value]) } };
  const before = [...evidence.before, value];
  if (before.length < valuesForUnit) return { ...counted, before };
  return { ...counted, before: [], test: openTest(Math.sqrt(sampleOf(before).variance)) };
}

/** Pairs a value of the new version with the latest of the live one, or waits for the next. */
function pair(evidence: RewardEvidence, test: SequentialTest, { isCanary, value }: MetricValue): RewardEvidence {
  const { waiting } = evidence;
  if (waiting.values.length === 0 || waiting.isCanary === isCanary) {
    const values = waiting.isCanary === isCanary ? [...waiting.values, value] : [value];
    return { ...evidence, waiting: { isCanary, values: lastOf(values) } };
  }
  const [other, values] = isCanary
    ? [waiting.values.at(-1)!, waiting.values.slice(0, -1)]
    : [waiting.values[0]!, waiting.values.slice(1)];
  const both = isCanary ? ([value, other] as const) : ([other, value] as const);
  return { ...evidence, test: addPairs(test, [both]), waiting: { ...waiting, values } };
}

const lastOf = (values: readonly number[]) => values.slice(-mostWaiting);

const addTo = ({ count, mean }: Sum, value: number): Sum => ({
  count: count + 1,
  mean: mean + (value - mean) / (count + 1),
});

/** Without the values that wait: pairs are of one step. */
export function endStep(evidence: RewardEvidence): RewardEvidence {
  return { ...evidence, waiting: noRewards.waiting };
}

/** What the metric shows of the new version; null: nothing yet. */
export function judgeRewards({ test }: RewardEvidence): 'better' | 'worse' | null {
  const rates = { accept: falseDecisions.promote, reject: falseDecisions.rollBackByMetric };
  const verdict: TestVerdict = test && judgeTest(test, Infinity, rates);
  return verdict === 'not_better' ? null : verdict;
}
