import { runStateSequences } from '../states/sequences.js';
import type { Kind } from './kinds.js';

/** Sequences per round: 500 in the 20 rounds of a release. */
const sequences = 25;

/** Sequences of commands against the state table; failures are shrunk and can be repeated alone. */
export const statesKind: Kind = {
  name: 'states',
  async play({ seed, worlds }) {
    const servers = (await worlds.get('split')).servers();
    try {
      // A seed for each lane.
      const report = await runStateSequences({ seed: seed * 100, sequences, servers });
      const commands = Object.values(report.commands).reduce((sum, n) => sum + n, 0);
      return { said: `${report.sequences} sequences, ${commands} commands`, violations: [] };
    } catch (error) {
      return { said: 'a sequence does not do what the table says', violations: [(error as Error).message] };
    }
  },
};
