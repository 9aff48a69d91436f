/**
 * Prints the request of a graph job on two-step questions: `node
 * dist/examples/two-steps/generate.js --seed 1 --tasks 100 > job.json`.
 */
import { parseArgs } from 'node:util';
import { twoStepJob } from './tasks.js';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '0' }, tasks: { type: 'string', default: '100' } },
});
process.stdout.write(`${JSON.stringify(twoStepJob(Number(values.seed), Number(values.tasks)), null, 2)}\n`);
