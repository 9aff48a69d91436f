import Sequencer from '@jest/test-sequencer';

/** Where the long files are: whole services, killed and started again. */
const long = ['states', 'chaos', 'kill', 'scale', 'e2e', 'replay', 'embedded'];

/**
 * Begins with the long files, so that at the end no processor waits for the last of them. Jest does so from what it has measured; in a
 * fresh clone, as of `.ci/run`, it knows nothing and goes by the size of the file.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ path }) => {
      const place = long.findIndex((folder) => path.includes(`/test/${folder}/`));
      return place < 0 ? long.length : place;
    };
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
