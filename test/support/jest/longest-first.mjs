import Sequencer from '@jest/test-sequencer';

/**
 * Folders of the longest files of the quick suite, longest first: whole services, some killed and
 * restarted.
 */
const folders = [
  'kill',
  'e2e',
  'chaos',
  'states',
  'replay',
  'http/graphs/export',
  'core/algorithms',
  'temporal',
  'scripts',
];

/**
 * Starts long files first, so that no processor idles at the end. Jest does so by its measurements;
 * a fresh clone, as in `.ci/run`, has none and would go by file size.
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
