import Sequencer from '@jest/test-sequencer';

/**
 * Where the longest files of the quick suite are, in this order: whole services, some killed and
 * started again.
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
 * Begins with the long files, so that at the end no processor waits for the last of them. Jest does
 * so from what it has measured; in a fresh clone, as of `.ci/run`, it knows nothing and goes by the
 * size of the file.
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
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
