/** How often a rollout decides, and after how many requests: npm run bench -- rollouts */
import { normal, shares, usual, yes, type Version } from '../../test/support/canary-traffic.js';
import { markdownTable } from '../table.js';

export const name = 'rollouts';

const runs = 1_000;
const most = 10_000;

const versions: readonly (readonly [what: string, live: Version, next: Version])[] = [
  ['equal: right or wrong, 70 % right', usual, usual],
  ['equal: right or wrong, 5 % right', { ...usual, reward: yes(0.05) }, { ...usual, reward: yes(0.05) }],
  ['equal: normal rewards', { ...usual, reward: normal }, { ...usual, reward: normal }],
  ['equal: 20 % of the requests fail', { ...usual, errors: 0.2 }, { ...usual, errors: 0.2 }],
  ['better: 80 % right for 70 %', usual, { ...usual, reward: yes(0.8) }],
  ['better: 75 % right for 70 %', usual, { ...usual, reward: yes(0.75) }],
  ['worse: 60 % right for 70 %', usual, { ...usual, reward: yes(0.6) }],
  ['every request fails', usual, { ...usual, errors: 1 }],
  ['20 % fail for 2 %', usual, { ...usual, errors: 0.2 }],
  ['twice as slow', usual, { ...usual, slow: 2 }],
  ['twice as dear', usual, { ...usual, dear: 2 }],
];

/** The table of decisions by how the new version differs. */
export function run(): Promise<string> {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const lines = versions.map(([what, live, next]) => {
    const { promoted, rolledBack, medianRequests } = shares(live, next, { runs, most });
    process.stderr.write(`  ${what}\n`);
    return [what, percent(promoted), percent(rolledBack), medianRequests === null ? '' : String(medianRequests)];
  });
  return Promise.resolve(
    markdownTable(['new version', 'promoted', 'rolled back', 'requests until then, median'], lines),
  );
}
