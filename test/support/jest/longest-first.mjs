import Sequencer from '@jest/test-sequencer';

/** Where files wait most of their time, for jobs and processes, longest first. */
const waiting = [
  'kill/',
  'cli/commands',
  'cli/mcp',
  'e2e/',
  'dashboard/absence',
  'dashboard/keyboard',
  'chaos/',
  'states/',
  'client/',
  'replay/',
  'cli/rollout',
  'scripts/',
  'platform/embedded/',
  'platform/temporal/',
];

/** Files that compute, for one that waits: the two together keep the processors busy. */
const computingForOne = 4;

const rankOf = ({ path }) => {
  if (path.endsWith('.long.test.ts')) return 0;
  const index = waiting.findIndex((start) => path.includes(`/test/${start}`));
  return index < 0 ? Infinity : index + 1;
};

/**
 * Runs the long files first, so that no processor is idle at the end. Jest orders files by measured
 * durations; without them, as in a fresh clone, it orders files by size.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const computing = sorted.filter((test) => rankOf(test) === Infinity);
    const others = sorted.filter((test) => rankOf(test) < Infinity).sort((left, right) => rankOf(left) - rankOf(right));
    return [...others.flatMap((test) => [test, ...computing.splice(0, computingForOne)]), ...computing];
  }
}
