import Sequencer from '@jest/test-sequencer';

/**
 * Folders of the longest files of the quick suite, longest first: whole services, some killed and
 * restarted.
 */
const folders = [
  'kill',
  'cli',
  'dashboard',
  'e2e',
  'chaos',
  'states',
  'core/algorithms',
  'platform/temporal',
  'replay',
  'scripts',
];

/**
 * Runs the long files first, so that no processor is idle at the end. Jest orders files by measured
 * durations; without them, as in a fresh clone, it orders files by size.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ path }) => {
      if (path.endsWith('.long.test.ts')) return -1;
      const index = folders.findIndex((folder) => path.includes(`/test/${folder}/`));
      return index < 0 ? folders.length : index;
    };
    return sorted.sort((left, right) => rank(left) - rank(right));
  }
}
